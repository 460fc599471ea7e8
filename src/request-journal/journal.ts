import type { Transition } from '../domain/request-trace.ts'
import type { JournalEntry, RecordedEntry } from './entry.ts'
import { type Match, matches } from './match.ts'
import { type NearMiss, nearMisses } from './near-miss.ts'
import { type JournalQuery, select } from './query.ts'
import { viewOf } from './view.ts'
import { Waiting, type WaitOptions } from './waiting.ts'

/** What is told to whoever watches a journal: each event of an account, and each entry once it is over. */
export type JournalEvent =
  | { readonly event: 'entry'; readonly entry: JournalEntry }
  | {
      readonly event: 'transition'
      readonly environment: string
      readonly entry: string
      readonly transition: Transition
    }

/** Whether the journal holds what was asked for; if not, the entries that come closest. */
export interface Verdict {
  readonly ok: boolean
  readonly matched: number
  readonly near_misses: readonly NearMiss[]
}

export interface JournalLimits {
  readonly capacity: number
  /** Of bodies and addresses, in bytes, roughly. */
  readonly maxBytes: number
}

/** How many of the latest entries are compared in search of near misses. */
const COMPARED = 1000

/** The requests of one environment, oldest first, within bounds: the oldest make room for the latest. */
export class Journal {
  readonly limits: JournalLimits
  readonly #waiting = new Waiting()
  readonly #watchers = new Set<(event: JournalEvent) => void>()
  readonly #recorded: ((entry: RecordedEntry) => void) | undefined
  #entries: RecordedEntry[] = []
  /** Where the oldest entry is; what lies before it has made room. */
  #first = 0
  #bytes = 0

  constructor(limits: JournalLimits, recorded?: (entry: RecordedEntry) => void) {
    this.limits = limits
    this.#recorded = recorded
  }

  get size(): number {
    return this.#entries.length - this.#first
  }

  record(entry: RecordedEntry): void {
    this.#entries.push(entry)
    this.#bytes += bytesOf(entry)
    this.#makeRoom()
    this.#waiting.tell(entry)
    this.#recorded?.(entry)
    if (this.#watchers.size > 0) this.#tell(entry)
  }

  /** As it was recorded, oldest first; secrets are in there. */
  recorded(): readonly RecordedEntry[] {
    return this.#entries.slice(this.#first)
  }

  /** Oldest first. */
  query(query: JournalQuery = {}): JournalEntry[] {
    return select(this.recorded(), query).map(viewOf)
  }

  /** The latest entry with this id: clients may send an id twice. */
  find(id: string): JournalEntry | undefined {
    const entry = this.findRecorded(id)
    return entry && viewOf(entry)
  }

  findRecorded(id: string): RecordedEntry | undefined {
    return this.recorded().findLast((entry) => entry.id === id)
  }

  count(match: Match): number {
    return this.recorded().reduce((count, entry) => (matches(match, entry) ? count + 1 : count), 0)
  }

  /** Whether exactly `times` entries match; at least one when it is not given. */
  verify(match: Match, times?: number): Verdict {
    const matched = this.count(match)
    const ok = times === undefined ? matched > 0 : matched === times
    const missing = !ok && matched < (times ?? 1)
    return { ok, matched, near_misses: missing ? this.#nearMisses(match) : [] }
  }

  /** Resolves once at least `times` entries match, those that are there already included, or when the time is over. */
  async wait(match: Match, options: WaitOptions = {}): Promise<Verdict> {
    const matched = await this.#waiting.wait(match, this.count(match), options)
    const ok = matched >= (options.times ?? 1)
    return { ok, matched, near_misses: ok ? [] : this.#nearMisses(match) }
  }

  /** @returns what ends the watching */
  subscribe(watcher: (event: JournalEvent) => void): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  /** Forgets everything; whoever waits goes on waiting. */
  clear(): void {
    this.#entries = []
    this.#first = 0
    this.#bytes = 0
  }

  /** Ends every waiting: nothing more will come. */
  close(): void {
    this.#waiting.end()
    this.#watchers.clear()
  }

  #nearMisses(match: Match): NearMiss[] {
    return nearMisses(match, this.recorded().slice(-COMPARED))
  }

  #makeRoom(): void {
    const { capacity, maxBytes } = this.limits
    while (this.size > capacity || (this.#bytes > maxBytes && this.size > 1)) {
      const oldest = this.#entries[this.#first]
      if (oldest) this.#bytes -= bytesOf(oldest)
      this.#first++
    }
    if (this.#first < 1024 || this.#first * 2 < this.#entries.length) return
    this.#entries = this.#entries.slice(this.#first)
    this.#first = 0
  }

  #tell(entry: RecordedEntry): void {
    const { environment, id, trace } = entry
    const moves = [...trace.due, ...trace.transitions]
    const events: JournalEvent[] = [
      ...moves.map((transition) => ({ event: 'transition' as const, environment, entry: id, transition })),
      { event: 'entry', entry: viewOf(entry) },
    ]
    for (const watcher of [...this.#watchers]) for (const event of events) watcher(event)
  }
}

/** What an entry holds beside its bodies: headers, the trace, objects. */
const FIXED = 1024

function bytesOf({ requestBody, responseBody, url }: RecordedEntry): number {
  return FIXED + requestBody.length + responseBody.length + url.length
}
