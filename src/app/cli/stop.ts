import { constants } from 'node:os'
import { stopSignals } from '../../platform/platform.ts'
import { monotonicTime } from '../../state/model/time-and-ids.ts'

/** Twice within this time is once: `npx` passes on a Ctrl-C of the terminal, `timeout` also signals the group. */
const SAME_REQUEST_MS = 500

/** What a command does when it is asked to stop: by the first SIGINT or SIGTERM. A later one ends the process at once. */
export class StopRequest {
  readonly #asked = new AbortController()
  /** Settled when the command is to stop. */
  readonly asked = new Promise<void>((resolve) => {
    this.signal.addEventListener('abort', () => resolve())
  })
  readonly #listener = (signal: NodeJS.Signals): void => {
    const at = monotonicTime()
    const first = (this.#first ??= { signal, at })
    const isSameRequest = signal === first.signal && at - first.at <= SAME_REQUEST_MS
    if (!isSameRequest) process.exit(128 + constants.signals[signal])
    this.ask()
  }
  #first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined

  constructor() {
    for (const signal of stopSignals()) process.on(signal, this.#listener)
  }

  /** Of the process that stops. */
  exitCode = 0

  readonly ask = (exitCode = 0): void => {
    this.exitCode = exitCode
    this.#asked.abort()
  }

  /** Aborted when the command is to stop. */
  get signal(): AbortSignal {
    return this.#asked.signal
  }

  /** Leaves signals to the process again. */
  [Symbol.dispose](): void {
    for (const signal of stopSignals()) process.off(signal, this.#listener)
  }
}
