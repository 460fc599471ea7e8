/** Milliseconds of the processor that some work takes in this process: what else the machine does meanwhile does not count. */
export async function cpuTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
