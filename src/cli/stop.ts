import { constants } from 'node:os'
import { stopSignals } from '../platform.ts'
import { monotonicTime } from '../state/model/time-and-ids.ts'

/** `npx` passes a Ctrl-C on that the terminal has given to this process already: two signals within this time are one. */
const SAME_KEY_MS = 500

/** What a command does when it is asked to stop: by the first SIGINT or SIGTERM. A later one ends the process at once. */
export class StopRequest {
  readonly #asked = new AbortController()
  readonly #listener = (signal: NodeJS.Signals): void => {
    const now = monotonicTime()
    const isSameKey = signal === 'SIGINT' && now - (this.#since ?? now) <= SAME_KEY_MS
    if (this.#since !== undefined && !isSameKey) process.exit(128 + constants.signals[signal])
    this.#since ??= now
    this.ask()
  }
  #since: number | undefined

  constructor() {
    for (const signal of stopSignals()) process.on(signal, this.#listener)
  }

  /** Aborted when the command is to stop. */
  get signal(): AbortSignal {
    return this.#asked.signal
  }

  readonly ask = (): void => this.#asked.abort()

  /** Settled when the command is to stop. */
  get asked(): Promise<void> {
    const { signal } = this
    return new Promise((resolve) => {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve())
    })
  }

  /** Leaves signals to the process again. */
  [Symbol.dispose](): void {
    for (const signal of stopSignals()) process.off(signal, this.#listener)
  }
}
