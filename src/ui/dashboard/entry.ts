import { signal } from '@preact/signals'
import type { TimelineEntry } from './api.ts'
import { toneOf } from './format.ts'
import { ALL, environment, go, NO_ITEM, route } from './hash-route.ts'

/** Whether the entry is a request with an answer. Changes of the clock and other control calls are not. */
export function isAnswered({ kind }: Pick<TimelineEntry, 'kind'>): boolean {
  return kind === 'request' || kind === 'page' || kind === 'third_party' || kind === 'webhook'
}

/** What the timeline tells apart by an icon, and filters by. */
export const KINDS = ['request', 'mcp', 'grpc', 'webhook', 'page', 'control'] as const

export function kindOf({ kind, protocol }: Pick<TimelineEntry, 'kind' | 'protocol'>): (typeof KINDS)[number] {
  if (kind === 'request') return protocol === 'http' ? kind : protocol === 'mcp' ? protocol : 'grpc'
  return kind === 'third_party' ? 'page' : kind === 'clock' ? 'control' : kind
}

type Named = Pick<TimelineEntry, 'kind' | 'tool' | 'operation' | 'method' | 'path'> & { readonly event?: string | null }

export function titleOf(entry: Named): string {
  if (!isAnswered(entry)) return entry.path
  return entry.event ?? entry.tool ?? entry.operation ?? `${entry.method} ${entry.path}`
}

/** An error of the user's own receiver is none of the service. */
export function toneOfEntry({ kind, status }: Pick<TimelineEntry, 'kind' | 'status'>): string {
  const tone = toneOf(status)
  return kind === 'webhook' && tone === 'error' ? 'warning' : tone
}

export function show(entry: TimelineEntry): void {
  const { parameters } = route.value
  // When all environments are shown, the URL names the environment of the request.
  go('timeline', entry.id, {
    ...parameters,
    ...NO_ITEM,
    tab: parameters['tab'] ?? '',
    ...(environment.value === ALL ? { in: entry.environment } : {}),
  })
}

/** The entry that the next one is compared with. */
export const marked = signal<TimelineEntry | undefined>(undefined)

/** Marks an entry, takes the mark off it, or compares it with the marked one. */
export function mark(entry: TimelineEntry): void {
  const { value: other } = marked
  marked.value = other ? undefined : entry
  if (other && (other.id !== entry.id || other.environment !== entry.environment)) compare(entry, other)
}

export function compare(entry: Pick<TimelineEntry, 'id' | 'environment'>, other: TimelineEntry): void {
  const { parameters } = route.value
  go('timeline', entry.id, { ...parameters, in: entry.environment, with: other.id, within: other.environment })
}
