import { signal } from '@preact/signals'
import type { TimelineEntry } from './api.ts'

/** The most entries, which the request journal keeps by default. */
const MAX_ENTRIES = 10_000

export type Mark = TimelineEntry['marks'][number]

/** The filters of the timeline; an empty text matches every entry. */
export interface TimelineFilter {
  readonly text: string
  readonly operation: string
  /** One digit for a class of statuses (`0`: no answer), `error` for 400 and above and for no answer, or one status. */
  readonly status: string
  readonly account: string
  readonly mark: string
}

export const GROUPINGS = ['none', 'test', 'client', 'account', 'operation'] as const
export type Grouping = (typeof GROUPINGS)[number]

interface SearchableEntry {
  readonly entry: TimelineEntry
  readonly text: string
}

export type Line =
  | { readonly kind: 'entry'; readonly entry: TimelineEntry; readonly key: string }
  | {
      readonly kind: 'group'
      readonly name: string
      readonly key: string
      readonly count: number
      readonly failed: number
      readonly collapsed: boolean
    }

/** The newest entries, oldest first. They are in plain arrays; the signal `version` says that they changed. */
export class Timeline {
  /** Counts the changes of the entries and of the pause. */
  readonly version = signal(0)
  /** The number of entries that the server left out because too many arrived at once. */
  readonly skipped = signal(0)
  readonly paused = signal(false)
  #entries: SearchableEntry[] = []
  #waiting: SearchableEntry[] = []

  /** The number of entries, without those that wait for the end of a pause. */
  get size(): number {
    return this.#entries.length
  }

  get waiting(): number {
    return this.#waiting.length
  }

  replace(entries: readonly TimelineEntry[]): void {
    this.clear()
    this.add(entries, 0)
  }

  add(entries: readonly TimelineEntry[], skipped: number): void {
    const added = entries.map((entry) => ({ entry, text: searchedText(entry) }))
    if (this.paused.value) this.#waiting = [...this.#waiting, ...added].slice(-MAX_ENTRIES)
    else this.#entries = [...this.#entries, ...added].slice(-MAX_ENTRIES)
    this.skipped.value += skipped
    this.version.value++
  }

  clear(environment?: string): void {
    const remains = ({ entry }: SearchableEntry): boolean =>
      environment !== undefined && entry.environment !== environment
    this.#entries = this.#entries.filter(remains)
    this.#waiting = this.#waiting.filter(remains)
    this.skipped.value = 0
    this.version.value++
  }

  pause(): void {
    this.paused.value = true
    this.version.value++
  }

  resume(): void {
    this.#entries = [...this.#entries, ...this.#waiting].slice(-MAX_ENTRIES)
    this.#waiting = []
    this.paused.value = false
    this.version.value++
  }

  matching(filter: TimelineFilter): TimelineEntry[] {
    const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
    const found: TimelineEntry[] = []
    for (let at = this.#entries.length - 1; at >= 0; at--) {
      const candidate = this.#entries[at]
      if (candidate && matches(candidate, filter, words)) found.push(candidate.entry)
    }
    return found
  }

  operations(): string[] {
    return [...new Set(this.#entries.flatMap(({ entry }) => entry.operation ?? []))].sort()
  }
}

function matches({ entry, text }: SearchableEntry, filter: TimelineFilter, words: readonly string[]): boolean {
  return (
    (filter.operation === '' || entry.operation === filter.operation) &&
    (filter.status === '' || hasStatus(entry.status, filter.status)) &&
    (filter.account === '' || entry.account === filter.account) &&
    (filter.mark === '' || entry.marks.includes(filter.mark as Mark)) &&
    words.every((word) => text.includes(word))
  )
}

function hasStatus(status: number, wanted: string): boolean {
  if (wanted === 'error') return status === 0 || status >= 400
  if (wanted.length === 1) return Math.floor(status / 100) === Number(wanted)
  return status === Number(wanted)
}

const SEARCHED = [
  ...(['id', 'operation', 'method', 'path', 'status', 'error_code'] as const),
  ...(['client', 'account', 'connector', 'identifier', 'tool', 'environment'] as const),
]

function searchedText(entry: TimelineEntry): string {
  return SEARCHED.flatMap((name) => entry[name] ?? [])
    .join(' ')
    .toLowerCase()
}

/** The lines of the list: all entries, or groups. The group of the newest entry is first; a collapsed group hides its entries. */
export function linesOf(
  entries: readonly TimelineEntry[],
  by: Grouping,
  {
    collapsed,
    labels,
  }: { readonly collapsed: ReadonlySet<string>; readonly labels: ReadonlyMap<string, string | null> },
): Line[] {
  const line = (entry: TimelineEntry): Line => ({ kind: 'entry', entry, key: keyOf(entry) })
  if (by === 'none') return entries.map(line)
  const groups = new Map<string, TimelineEntry[]>()
  for (const entry of entries) {
    const name = groupOf(entry, by, labels)
    const members = groups.get(name)
    if (members) members.push(entry)
    else groups.set(name, [entry])
  }
  return [...groups].flatMap(([name, members]) => {
    const isCollapsed = collapsed.has(name)
    const failed = members.filter(({ status }) => hasStatus(status, 'error')).length
    const of = { name, key: `group ${name}`, count: members.length, failed, collapsed: isCollapsed }
    const head: Line = { kind: 'group', ...of }
    return isCollapsed ? [head] : [head, ...members.map(line)]
  })
}

function groupOf(
  entry: TimelineEntry,
  by: Exclude<Grouping, 'none'>,
  labels: ReadonlyMap<string, string | null>,
): string {
  switch (by) {
    // The fixture for vitest labels an environment with its test; without a label its name is shown.
    case 'test':
      return labels.get(entry.environment) ?? (entry.environment || 'no environment')
    case 'client':
      return entry.client ?? 'no client'
    case 'account':
      return entry.identifier === null ? 'no account' : `${entry.identifier} at ${entry.connector ?? ''}`
    case 'operation':
      return entry.operation ?? entry.kind
  }
}

/** A request id can be in the list twice; a sequence number is unique within its environment. */
function keyOf({ environment, sequence }: TimelineEntry): string {
  return `${environment} ${sequence}`
}
