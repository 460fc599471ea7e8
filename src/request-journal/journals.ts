import type { Recorded } from './entry.ts'
import { Journal, type JournalLimits } from './journal.ts'
import { SharedHeaders } from './shared-headers.ts'

/** The journals of a server, one for each environment, whatever becomes of its name. */
export class Journals {
  /** What entries of all environments say alike. */
  readonly headers = new SharedHeaders()
  readonly #limits: JournalLimits
  readonly #observers: ((entry: Recorded) => void)[] = []
  readonly #journals = new Map<object, Journal>()

  constructor(limits: JournalLimits) {
    this.#limits = limits
  }

  of(environment: object): Journal {
    const known = this.#journals.get(environment)
    if (known) return known
    const journal = new Journal(this.#limits, (entry) => {
      for (const observe of this.#observers) observe(entry)
    })
    this.#journals.set(environment, journal)
    return journal
  }

  /** Sees every entry of every environment as it is recorded. */
  observe(observer: (entry: Recorded) => void): void {
    this.#observers.push(observer)
  }

  /** An environment is gone, and its journal with it. */
  remove(environment: object): void {
    this.#journals.get(environment)?.close()
    this.#journals.delete(environment)
  }

  /** Ends every waiting. */
  close(): void {
    for (const journal of this.#journals.values()) journal.close()
  }
}
