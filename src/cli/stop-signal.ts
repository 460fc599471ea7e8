/** Resolves with the first SIGINT or SIGTERM; a second one ends the process at once, as an impatient caller expects. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let stopping = false
    for (const [signal, number] of [['SIGINT', 2] as const, ['SIGTERM', 15] as const]) {
      process.on(signal, () => {
        if (stopping) process.exit(128 + number)
        stopping = true
        resolve(signal)
      })
    }
  })
}
