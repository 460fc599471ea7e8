import type { RecordedEntry } from './entry.ts'
import { type Match, matches } from './match.ts'

/** How long to wait for matching entries, and for how many. */
export interface WaitOptions {
  /** 1 when absent; entries that are there already count. */
  readonly times?: number | undefined
  /** Real milliseconds; 5,000 when absent. */
  readonly timeoutMs?: number | undefined
  /** Ends the waiting before its time: whoever waits has gone. */
  readonly signal?: AbortSignal | undefined
}

interface Waiter {
  readonly match: Match
  readonly times: number
  matched: number
  readonly end: () => void
}

const DEFAULT_TIMEOUT = 5000

/** Those who wait for entries that are yet to come. */
export class Waiting {
  readonly #waiters = new Set<Waiter>()

  /** Resolves with how many there are, once there are enough or the time is over. */
  wait(match: Match, there: number, { times = 1, timeoutMs = DEFAULT_TIMEOUT, signal }: WaitOptions): Promise<number> {
    if (there >= times || signal?.aborted === true) return Promise.resolve(there)
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', end)
        this.#waiters.delete(waiter)
        resolve(waiter.matched)
      }
      const waiter: Waiter = { match, times, matched: there, end }
      const timer = setTimeout(end, timeoutMs)
      signal?.addEventListener('abort', end)
      this.#waiters.add(waiter)
    })
  }

  /** A new entry. */
  tell(entry: RecordedEntry): void {
    if (this.#waiters.size === 0) return
    for (const waiter of [...this.#waiters]) {
      if (!matches(waiter.match, entry)) continue
      waiter.matched++
      if (waiter.matched >= waiter.times) waiter.end()
    }
  }

  /** Nothing more will come. */
  end(): void {
    for (const waiter of [...this.#waiters]) waiter.end()
  }
}
