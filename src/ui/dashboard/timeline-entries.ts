import { signal } from '@preact/signals'
import type { TimelineEntry } from './api.ts'
import { isAnswered, kindOf } from './entry.ts'
import { timeOf } from './format.ts'

/** The most entries, which the request journal keeps by default. */
export const MAX_ENTRIES = 10_000

export type Mark = TimelineEntry['marks'][number]

/** The filters of the timeline; one that is absent or empty matches every entry. */
export interface TimelineFilter {
  /** Words. */
  readonly q?: string | undefined
  readonly operation?: string | undefined
  /** One digit for a class of statuses (`0`: no answer), `error` for 400 and above and for no answer, or one status. */
  readonly status?: string | undefined
  readonly account?: string | undefined
  readonly mark?: string | undefined
  /** One kind, or after a minus sign the kind that does not match. */
  readonly kind?: string | undefined
}

/** The labels of environments. */
type Labels = ReadonlyMap<string, string | null>

/** What the entries are grouped by: a text for each choice, and the name of an entry's group. */
export const GROUPINGS = {
  '': ['not grouped', () => ''],
  // The fixture for vitest labels an environment with its test; without a label its name is shown.
  test: ['by test', ({ environment }, labels) => labels.get(environment) ?? (environment || 'no environment')],
  client: ['by client', ({ client }) => client ?? 'no client'],
  account: ['by account', (entry) => subjectOf(entry) || 'no account'],
  operation: ['by operation', ({ operation, kind }) => operation ?? kind],
} as const satisfies Record<string, readonly [text: string, groupOf: (entry: TimelineEntry, labels: Labels) => string]>
export type Grouping = keyof typeof GROUPINGS

/** When a request ran within the time of its group: its beginning and its length, as parts of one. */
export type Bar = readonly [start: number, length: number]

export type Line =
  | {
      readonly kind: 'entry'
      readonly entry: TimelineEntry
      readonly key: string
      readonly isOld?: true
      readonly bar?: Bar
    }
  /** Between the requests of a server and those of the one before it, or after the oldest entry where there were earlier ones. */
  | { readonly kind: 'note'; readonly text: string; readonly key: string }
  | {
      readonly kind: 'group'
      readonly name: string
      readonly key: string
      readonly count: number
      readonly failed: number
      readonly collapsed: boolean
    }

/** What a server found by its own search, by {@link keyOf}, and the labels of environments, which are searched too. */
export interface SearchResult {
  readonly found: ReadonlyMap<string, TimelineEntry>
  readonly labels: Labels
}

/** The entries of a server that is gone. */
interface FormerEntries {
  /** When the next server was started. */
  readonly until: string
  readonly entries: readonly TimelineEntry[]
}

/** The newest entries, oldest first. They are in plain arrays; the signal `version` says that they changed. */
export class Timeline {
  /** Counts the changes of the entries and of the pause. */
  readonly version = signal(0)
  /** The number of entries that the server left out because too many arrived at once. */
  readonly skipped = signal(0)
  readonly paused = signal(false)
  #entries: TimelineEntry[] = []
  #waiting: TimelineEntry[] = []
  #arrived: ReadonlySet<TimelineEntry> = new Set()
  /** The latest first. */
  #former: readonly FormerEntries[] = []

  /** The number of entries, without those that wait for the end of a pause. */
  get size(): number {
    return this.#entries.length
  }

  /** How many there were in the environment of the newest entry, those that are gone included. */
  get total(): number {
    return Math.max(this.size, this.#entries.at(-1)?.sequence ?? 0)
  }

  /** Whether the entry is one of the latest. */
  hasArrived(entry: TimelineEntry): boolean {
    return this.#arrived.has(entry)
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Whether there are entries of a server that is gone. */
  get hasFormer(): boolean {
    return this.#former.length > 0
  }

  /** The stream begins again. While it is paused, what is shown stays, and what is new waits; an empty list shows all. */
  replace(entries: readonly TimelineEntry[]): void {
    const entryKeys = new Set(this.#entries.map(keyOf))
    const isKept = this.paused.value && (entryKeys.size > 0 || this.hasFormer)
    const waits = (entry: TimelineEntry): boolean => isKept && !entryKeys.has(keyOf(entry))
    this.#entries = entries.filter((entry) => !waits(entry))
    this.#waiting = entries.filter(waits)
    this.skipped.value = 0
    this.version.value++
  }

  /** The server was started again: what it does not know any more stays, apart from what is to come. */
  restarted(at: string): void {
    const entries = [...this.#entries, ...this.#waiting]
    if (entries.length > 0) this.#former = [{ until: at, entries }, ...this.#former].slice(0, MAX_FORMER)
    this.replace([])
  }

  add(entries: readonly TimelineEntry[], skipped: number): void {
    if (this.paused.value) this.#waiting = [...this.#waiting, ...entries].slice(-MAX_ENTRIES)
    else this.#entries = [...this.#entries, ...entries].slice(-MAX_ENTRIES)
    this.#arrived = new Set(entries)
    this.skipped.value += skipped
    this.version.value++
  }

  /** Drops the entries of an environment, or all of them. */
  clear(environment?: string): void {
    const remains = (entry: TimelineEntry): boolean => environment !== undefined && entry.environment !== environment
    this.#entries = this.#entries.filter(remains)
    this.#waiting = this.#waiting.filter(remains)
    this.#former = this.#former
      .map(({ until, entries }) => ({ until, entries: entries.filter(remains) }))
      .filter(({ entries }) => entries.length > 0)
    this.skipped.value = 0
    this.version.value++
  }

  /** New entries wait while it is paused. */
  togglePause(): void {
    this.#entries = [...this.#entries, ...this.#waiting].slice(-MAX_ENTRIES)
    this.#waiting = []
    this.paused.value = !this.paused.value
    this.version.value++
  }

  /** The newest first, then those that only the server has. */
  matching(filter: TimelineFilter, search: SearchResult = NO_SEARCH): TimelineEntry[] {
    const entries = matchesOf(this.#entries, filter, search)
    if (search.found.size === 0) return entries
    const entryKeys = new Set(this.#entries.map(keyOf))
    const beyond = [...search.found].filter(([key]) => !entryKeys.has(key)).map(([, entry]) => entry)
    return [...entries, ...matchesOf(beyond, filter, search)]
  }

  /** The lines of the servers that are gone, each after the time when the next one was started. */
  formerLines(filter: TimelineFilter, labels: SearchResult['labels']): Line[] {
    const restarted = (at: string): string => `Server restarted ${timeOf(at).slice(0, 8)} real time.`
    return this.#former.flatMap(({ until, entries }): Line[] => [
      { kind: 'note', text: `${restarted(until)} It has no request from before.`, key: until },
      ...matchesOf(entries, filter, { found: NO_SEARCH.found, labels }).map((entry): Line => {
        return { kind: 'entry', entry, key: `${until} ${keyOf(entry)}`, isOld: true }
      }),
    ])
  }

  operations(): string[] {
    return [...new Set(this.#entries.flatMap(({ operation }) => operation ?? []))].sort()
  }
}

const MAX_FORMER = 10
const NO_SEARCH: SearchResult = { found: new Map(), labels: new Map() }

function matchesOf(entries: readonly TimelineEntry[], filter: TimelineFilter, search: SearchResult): TimelineEntry[] {
  const words = (filter.q ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const isFound = (entry: TimelineEntry): boolean => {
    const text = entryText(entry)
    const label = search.labels.get(entry.environment)?.toLowerCase() ?? ''
    return words.every((word) => text.includes(word) || label.includes(word)) || search.found.has(keyOf(entry))
  }
  return entries.filter((entry) => matches(entry, filter) && (words.length === 0 || isFound(entry))).reverse()
}

function matches(entry: TimelineEntry, { operation, status, account, mark, kind }: TimelineFilter): boolean {
  return (
    (!operation || entry.operation === operation) &&
    (!status || hasStatus(entry.status, status)) &&
    (!account || entry.account === account) &&
    (!mark || entry.marks.includes(mark as Mark)) &&
    (!kind || (kind.startsWith('-') ? `-${kindOf(entry)}` !== kind : kindOf(entry) === kind))
  )
}

function hasStatus(status: number, wanted: string): boolean {
  if (wanted === 'error') return status === 0 || status >= 400
  if (wanted.length === 1) return Math.floor(status / 100) === Number(wanted)
  return status === Number(wanted)
}

const SEARCHED = [
  ...(['id', 'event', 'operation', 'method', 'path', 'status', 'error_code'] as const),
  ...(['client', 'account', 'connector', 'identifier', 'tool', 'environment'] as const),
]

/** The text of each entry that was searched, because a search reads it with each letter that is typed. */
const searchedTexts = new WeakMap<TimelineEntry, string>()

function entryText(entry: TimelineEntry): string {
  let text = searchedTexts.get(entry)
  if (text === undefined) {
    text = SEARCHED.flatMap((name) => entry[name] ?? [])
      .join(' ')
      .toLowerCase()
    searchedTexts.set(entry, text)
  }
  return text
}

/** Groups of more entries than this start collapsed. */
const MAX_EXPANDED = 50

/** Which groups the user has collapsed or expanded: all of them, and then single ones. */
export interface Collapsed {
  readonly all?: boolean
  readonly of: ReadonlyMap<string, boolean>
}

/** The lines of the list: all entries, or groups, those with errors first. A collapsed group hides its entries. */
export function linesOf(
  entries: readonly TimelineEntry[],
  by: Grouping,
  { collapsed, labels }: { readonly collapsed: Collapsed; readonly labels: Labels },
): Line[] {
  const line = (entry: TimelineEntry, barOf?: (entry: TimelineEntry) => Bar): Line => {
    return { kind: 'entry', entry, key: keyOf(entry), ...(barOf && { bar: barOf(entry) }) }
  }
  if (by === '') return entries.map((entry) => line(entry))
  const groups = new Map<string, TimelineEntry[]>()
  for (const entry of entries) {
    const name = GROUPINGS[by][1](entry, labels)
    const members = groups.get(name)
    if (members) members.push(entry)
    else groups.set(name, [entry])
  }
  const counted = [...groups].map(([name, members]) => {
    return {
      name,
      members,
      failed: members.filter((entry) => isAnswered(entry) && hasStatus(entry.status, 'error')).length,
    }
  })
  counted.sort((a, b) => Number(b.failed > 0) - Number(a.failed > 0))
  return counted.flatMap(({ name, members, failed }) => {
    const isCollapsed = collapsed.of.get(name) ?? collapsed.all ?? members.length > MAX_EXPANDED
    const barOf = by === 'test' && !isCollapsed ? waterfall(members) : undefined
    const of = { name, key: `group ${name}`, count: members.length, failed, collapsed: isCollapsed }
    const head: Line = { kind: 'group', ...of }
    return isCollapsed ? [head] : [head, ...members.map((entry) => line(entry, barOf))]
  })
}

/** Real time: the clock of the mock may stand still. An entry is written when its request ends. */
function waterfall(members: readonly TimelineEntry[]): (entry: TimelineEntry) => Bar {
  const endOf = ({ real_at }: TimelineEntry): number => Date.parse(real_at)
  const first = members.reduce((least, entry) => Math.min(least, endOf(entry) - entry.duration_ms), Infinity)
  const whole = members.reduce((most, entry) => Math.max(most, endOf(entry) - first), 1)
  return (entry) => [(endOf(entry) - entry.duration_ms - first) / whole, entry.duration_ms / whole]
}

/** The account of an entry; of one that was not found, what the request names. */
export function subjectOf({ identifier, connector }: TimelineEntry): string {
  return [identifier, connector].filter(Boolean).join(' at ')
}

/** A request id can be in the list twice; a sequence number is unique within its environment. */
export function keyOf({ environment, sequence }: TimelineEntry): string {
  return `${environment} ${sequence}`
}
