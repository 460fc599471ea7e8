import { clearTimeout, setTimeout } from 'node:timers'
import type { components } from '../../model/contract/generated/control-types.ts'
import { charsetOf, decodeBody } from '../../platform/body-text.ts'
import { instant } from '../../model/domain/instant.ts'
import { RequestTrace, type AccountTransition } from '../../model/domain/request-trace.ts'
import type { Finding } from '../../model/domain/finding.ts'
import { type EntryEnvironment, type EntryInput, type EntryDocument, KEPT, type StoredEntry } from './entry.ts'
import { findingsOf } from './findings.ts'
import { nearMisses } from './near-miss.ts'
import { isWithin, type WantedTimes, timesRange } from '../../model/domain/times.ts'
import { isCounted, type EntryQuery, type Match, matchesEntry, selectEntries } from './query.ts'
import { withText } from './text-search.ts'
import { type TimelineDocument, timelineEntry, entryView } from './view.ts'

/** What event streams get: each event of an account, and each entry once its request is over. */
export type JournalEvent =
  | { readonly event: 'entry'; readonly entry: EntryDocument }
  | {
      readonly event: 'transition'
      readonly environment: string
      readonly entry: string
      readonly transition: AccountTransition
    }

/** How many entries match; when they are not as many as expected, the entries that come closest. */
export type MatchResult = components['schemas']['Verdict']

type Requests = components['schemas']['Requests']

export interface EntryWait {
  /** A number is that many or more, 1 when absent; entries that exist already count. */
  readonly times?: WantedTimes | undefined
  /** Real milliseconds; 3,000 when absent. */
  readonly timeoutMs?: number | undefined
  /** Ends the wait early: the client has disconnected, or the server stops. */
  readonly signal?: AbortSignal | undefined
}

export interface JournalLimits {
  readonly capacity: number
  /** Of bodies and addresses, roughly. */
  readonly maxBytes: number
}

export interface JournalsOptions extends JournalLimits {
  /** Real time in milliseconds. */
  readonly realTime: () => number
  /** Whose journal takes the requests that belong to no environment. */
  readonly defaultEnvironment: () => EntryEnvironment | undefined
}

export class Journals {
  readonly #options: JournalsOptions
  readonly #observers: ((entry: StoredEntry) => void)[] = []
  /** By environment and not by name: a new environment of an old name has its own journal. */
  readonly #of = new WeakMap<object, Journal>()
  /** Those of environments that were not removed. */
  readonly #journals = new Set<Journal>()

  constructor(options: JournalsOptions) {
    this.#options = options
  }

  add(input: EntryInput): void {
    const { realTime, defaultEnvironment } = this.#options
    const environment = input.environment ?? defaultEnvironment()
    const requestHeaders = input.requestHeaders ?? []
    const entry = storedEntry(input, { environment, realAt: realTime(), requestHeaders })
    this.of(environment ?? this).append(entry)
    for (const observe of this.#observers) observe(entry)
    entry.trace.answered()
  }

  of(environment: object): Journal {
    let journal = this.#of.get(environment)
    if (!journal) {
      this.#of.set(environment, (journal = new Journal(this.#options)))
      this.#journals.add(journal)
    }
    return journal
  }

  observe(observer: (entry: StoredEntry) => void): void {
    this.#observers.push(observer)
  }

  /** Requests that are under way can still record something: that goes when the environment does. */
  remove(environment: object): void {
    const journal = this.of(environment)
    journal.close()
    this.#journals.delete(journal)
  }

  close(): void {
    for (const journal of this.#journals) journal.close()
  }
}

interface EntryPlace extends Pick<StoredEntry, 'realAt' | 'requestHeaders'> {
  readonly environment: EntryEnvironment | undefined
}

/** Assembles an entry and makes its findings. One literal for all kinds, so that all entries have one hidden class. */
export function storedEntry(input: EntryInput, { environment, realAt, requestHeaders }: EntryPlace): StoredEntry {
  const responseBody = decodedBody(input.responseBody ?? '', input.responseHeaders)
  const entry = {
    kind: input.kind,
    id: input.id,
    environment: environment?.name ?? '',
    at: environment?.clock.now() ?? realAt,
    realAt,
    durationMs: input.startedAt === undefined ? 0 : realAt - input.startedAt,
    operation: input.operation ?? null,
    protocol: input.protocol ?? 'http',
    method: input.method ?? '',
    url: input.url,
    requestHeaders,
    requestBody: keptBody(input.requestBody ?? ''),
    isRequestShortened: isLong(input.requestBody),
    status: input.status,
    errorCode: input.errorCode ?? null,
    responseHeaders: input.responseHeaders ?? NO_HEADERS,
    responseBody: keptBody(responseBody),
    isResponseShortened: isLong(responseBody),
    client: input.client ?? null,
    mcpClient: input.mcpClient ?? null,
    trace: input.trace ?? new RequestTrace(),
    vocabulary: input.vocabulary,
    checkViolations: input.checkViolations ?? NOTHING,
    test: environment?.test,
    findings: NOTHING as readonly Finding[],
    failure: input.failure ?? null,
    webhook: input.webhook ?? null,
  }
  entry.findings = findingsOf(entry, input)
  return entry
}

const NOTHING: readonly never[] = Object.freeze([])
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({})

/** As text where the headers say how a third party has encoded it; as it is where it cannot be decoded. */
function decodedBody(
  body: Uint8Array | string,
  headers: EntryInput['responseHeaders'] = NO_HEADERS,
): Uint8Array | string {
  if (typeof body === 'string') return body
  const byName = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
  if (byName['content-encoding'] === undefined && charsetOf(byName['content-type']) === undefined) return body
  try {
    return decodeBody(Buffer.from(body), byName, MAX_DECODED)
  } catch {
    return body
  }
}

/** A short body as it is; of a long one a copy of its beginning, so that the entry does not keep all of it in memory. */
function keptBody<Body extends Uint8Array | string>(body: Body): Body | string {
  if (!isLong(body)) return body.length === 0 ? '' : body
  return Buffer.from(typeof body === 'string' ? body.slice(0, KEPT) : body.subarray(0, KEPT)).toString()
}

function isLong(body: Uint8Array | string = ''): boolean {
  return body.length > KEPT
}

/** Bytes that an encoded body may have: as many as an answer of a third party. */
const MAX_DECODED = 5 * 1024 * 1024

/** How many of the latest entries are compared in search of near misses. */
const COMPARED = 1000
const DEFAULT_TIMEOUT = 3000

interface Dropped extends Pick<Journal, 'incompleteSince'> {
  readonly entries: readonly StoredEntry[]
  readonly isShortened: boolean
}

const NONE_DROPPED: Dropped = { incompleteSince: undefined, entries: [], isShortened: false }

/** The entries of one environment, oldest first. Beyond its limits the oldest entries are dropped. */
export class Journal {
  /** Each with what is called when the journal closes. */
  readonly #subscribers = new Map<(entry: StoredEntry) => void, () => void>()
  #entries: StoredEntry[] = []
  /** When the entries of earlier requests were lost with the replica that had them. */
  incompleteSince: string | undefined
  /** Whether entries were dropped for its limits. */
  #isShortened = false
  /** Where the oldest entry is; those before it were dropped. */
  #first = 0
  #bytes = 0
  #appended = 0
  #cleared = 0
  /** What the last {@link clearUntilRestored} dropped. */
  #dropped: Dropped = NONE_DROPPED

  constructor(readonly limits: JournalLimits) {}

  /** How many entries there have been, dropped ones included. */
  get appended(): number {
    return this.#appended
  }

  get size(): number {
    return this.#entries.length - this.#first
  }

  append(entry: StoredEntry): void {
    this.#entries.push(entry)
    this.#appended++
    this.#bytes += bytesOf(entry)
    this.#dropOldest()
    if (this.#subscribers.size > 0) for (const subscriber of [...this.#subscribers.keys()]) subscriber(entry)
  }

  /** How often entries were dropped by a call, or came back by one. */
  get cleared(): number {
    return this.#cleared
  }

  /** Oldest first: at most `most` entries after the first `since`, and how many more there are. */
  timeline(since: number, most: number): { entries: TimelineDocument[]; skipped: number } {
    const fresh = Math.min(this.#appended - since, this.size)
    const count = Math.min(fresh, most)
    const entries = count <= 0 ? [] : this.#entries.slice(-count)
    const before = this.#appended - entries.length
    return {
      entries: entries.map((entry, at) => timelineEntry(entry, before + at + 1)),
      skipped: Math.max(0, fresh - count),
    }
  }

  /** As they were recorded, oldest first; they contain secrets. */
  entries(): readonly StoredEntry[] {
    return this.#entries.slice(this.#first)
  }

  /** Those that came after the first so many, as they were recorded. */
  since(appended: number): readonly StoredEntry[] {
    const fresh = Math.min(this.#appended - appended, this.size)
    return fresh === 0 ? [] : this.entries().slice(-fresh)
  }

  query(query: EntryQuery = {}): EntryDocument[] {
    return selectEntries(this.entries(), query).map(entryView)
  }

  /** Like {@link query}, by the text of the query too, and in short where it says so. `about` belongs to all entries. */
  search(query: EntryQuery, about: string): Requests {
    const entries = this.entries()
    const before = this.#appended - entries.length
    const selected = selectEntries(withText(entries, query.text ?? '', about), query)
    if (query.short !== true) return { requests: selected.map(entryView) }
    const places = new Map(entries.map((entry, at) => [entry, before + at + 1]))
    return { requests: [], entries: selected.map((entry) => timelineEntry(entry, places.get(entry) ?? 0)) }
  }

  /** The latest entry with this id: clients may send an id twice. */
  find(id: string): EntryDocument | undefined {
    const entry = this.entries().findLast((each) => each.id === id)
    return entry && entryView(entry)
  }

  count(match: Match): number {
    return this.entries().reduce((count, entry) => (isCounted(match, entry) ? count + 1 : count), 0)
  }

  verify(match: Match, times: WantedTimes = { at_least: 1 }): MatchResult {
    return this.#resultFor(match, times, this.count(match))
  }

  /** Whether there is an entry for each match, each after the one of the match before it. `matched` counts from the first match. */
  verifyOrder(order: readonly Match[]): MatchResult {
    const entries = this.entries()
    let [matched, from] = [0, 0]
    for (const match of order) {
      const place = entries.findIndex((entry, at) => at >= from && matchesEntry(match, entry))
      if (place < 0) break
      from = place + 1
      matched++
    }
    const missing = order[matched]
    const near_misses = missing ? nearMisses(missing, entries.slice(from).slice(-COMPARED)) : []
    return this.#completeResult({ ok: missing === undefined, matched, near_misses }, false)
  }

  /** Resolves once enough entries match, existing ones included, or when the time is over. */
  async wait(match: Match, { times = 1, timeoutMs = DEFAULT_TIMEOUT, signal }: EntryWait = {}): Promise<MatchResult> {
    const wanted = typeof times === 'number' ? { at_least: times } : times
    const { least } = timesRange(wanted)
    let matched = this.count(match)
    if (matched < least) {
      await this.until((entry) => isCounted(match, entry) && ++matched >= least, { timeoutMs, signal })
    }
    return this.#resultFor(match, wanted, matched)
  }

  /** Waits until `holds`, which is asked with each new entry, until the time is over, or until the signal. */
  async until(
    holds: (entry: StoredEntry) => boolean,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<void> {
    if (signal?.aborted) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', end)
        stop()
        resolve()
      }
      const stop = this.subscribe((entry) => {
        if (holds(entry)) end()
      }, end)
      const timer = setTimeout(end, timeoutMs)
      signal?.addEventListener('abort', end)
    })
  }

  /** `closed` is called when the environment is removed or the server stops. @returns a function that ends it */
  subscribe(subscriber: (entry: StoredEntry) => void, closed: () => void = () => undefined): () => void {
    this.#subscribers.set(subscriber, closed)
    return () => void this.#subscribers.delete(subscriber)
  }

  /** Drops all entries, or those before a value of `appended`; waits and subscriptions go on. */
  clear(before = this.#appended): void {
    this.#dropped = NONE_DROPPED
    const later = this.#appended - before
    this.incompleteSince = undefined
    this.#isShortened = false
    this.#replaceEntries(later === 0 ? [] : this.entries().slice(-later))
  }

  /** Drops all entries; {@link restore} can bring them back. */
  clearUntilRestored(): void {
    const { incompleteSince } = this
    const dropped = { entries: this.entries(), incompleteSince, isShortened: this.#isShortened }
    this.clear()
    this.#dropped = dropped
  }

  /** Brings back what the last clear dropped. @returns how many entries that are */
  restore(): number {
    const { entries, incompleteSince, isShortened } = this.#dropped
    if (entries.length === 0) return 0
    this.#dropped = NONE_DROPPED
    this.incompleteSince = incompleteSince
    this.#isShortened ||= isShortened
    this.#replaceEntries([...entries, ...this.entries()])
    this.#dropOldest()
    return entries.length
  }

  #replaceEntries(entries: StoredEntry[]): void {
    this.#entries = entries
    this.#first = 0
    this.#cleared++
    this.#bytes = entries.reduce((sum, entry) => sum + bytesOf(entry), 0)
  }

  close(): void {
    this.#dropped = NONE_DROPPED
    for (const closed of [...this.#subscribers.values()]) closed()
    this.#subscribers.clear()
  }

  /** What is missing can change an exact number, and not that there was a request. */
  #completeResult({ ok, ...result }: MatchResult, isExact: boolean): MatchResult {
    const oldest = this.#entries[this.#first]
    const since = this.#isShortened && oldest ? instant(oldest.realAt) : this.incompleteSince
    return since === undefined ? { ok, ...result } : { ok: ok && !isExact, ...result, incomplete_since: since }
  }

  #resultFor(match: Match, times: WantedTimes, matched: number): MatchResult {
    const range = timesRange(times)
    const near_misses = matched < range.least ? nearMisses(match, this.entries().slice(-COMPARED)) : []
    return this.#completeResult({ ok: isWithin(range, matched), matched, near_misses }, range.most < Infinity)
  }

  #dropOldest(): void {
    const { capacity, maxBytes } = this.limits
    while (this.size > capacity || (this.#bytes > maxBytes && this.size > 1)) {
      const oldest = this.#entries[this.#first]
      if (oldest) this.#bytes -= bytesOf(oldest)
      this.#first++
      this.#isShortened = true
    }
    // Dropped entries stay in memory until then. Copying only once they are an eighth keeps the cost of an entry constant.
    if (this.#first < 1024 || this.#first * 8 < this.#entries.length) return
    this.#entries = this.#entries.slice(this.#first)
    this.#first = 0
  }
}

/** The events of an entry, each one of an account and then its own. */
export function entryEvents(entry: StoredEntry): JournalEvent[] {
  const { environment, id, trace } = entry
  const transitions = [...trace.due, ...trace.transitions]
  return [
    ...transitions.map((transition) => ({ event: 'transition' as const, environment, entry: id, transition })),
    { event: 'entry', entry: entryView(entry) },
  ]
}

/** What an entry takes beside its bodies: headers, the trace, objects. */
const FIXED_BYTES = 1024

function bytesOf({ requestBody, responseBody, url }: StoredEntry): number {
  return FIXED_BYTES + requestBody.length + responseBody.length + url.length
}
