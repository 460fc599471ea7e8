import { type EntryEnvironment, type EntryInput, type RecordedEntry, recordedEntry } from './entry.ts'
import { Journal, type JournalLimits } from './journal.ts'
import { SharedHeaders } from './shared-headers.ts'

export interface JournalsOptions extends JournalLimits {
  /** Real time in milliseconds. */
  readonly realTime: () => number
  /** Whose journal takes the requests that belong to no environment. */
  readonly defaultEnvironment: () => EntryEnvironment | undefined
}

/** The request journals of a server, one for each environment. */
export class Journals {
  readonly #options: JournalsOptions
  readonly #headers = new SharedHeaders()
  readonly #observers: ((entry: RecordedEntry) => void)[] = []
  readonly #journals = new Map<object, Journal>()

  constructor(options: JournalsOptions) {
    this.#options = options
  }

  /** Assembles an entry and appends it to the journal of its environment. */
  record(input: EntryInput): void {
    const { realTime, defaultEnvironment } = this.#options
    const environment = input.environment ?? defaultEnvironment()
    const requestHeaders = this.#headers.share(input.requestHeaders ?? [])
    this.of(environment ?? this).record(recordedEntry(input, { environment, realAt: realTime(), requestHeaders }))
  }

  of(environment: object): Journal {
    const known = this.#journals.get(environment)
    if (known) return known
    const journal = new Journal(this.#options, (entry) => {
      for (const observe of this.#observers) observe(entry)
    })
    this.#journals.set(environment, journal)
    return journal
  }

  /** Sees every entry of every environment as it is recorded. */
  observe(observer: (entry: RecordedEntry) => void): void {
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
