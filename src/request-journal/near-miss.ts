import type { Operation } from '../contract/shapes.ts'
import { type Instant, instant } from '../domain/instant.ts'
import type { JsonValue } from '../domain/json.ts'
import type { RecordedEntry } from './entry.ts'
import { type DocumentName, isSecretName, maskJson } from './masking.ts'
import { type Difference, differences, type Match } from './match.ts'
import { documentNameOf } from './view.ts'

/** An entry that is nearly what was asked for, and in what it is not. */
export interface NearMiss {
  readonly id: string
  readonly at: Instant
  readonly operation: Operation | null
  readonly method: string
  readonly path: string
  readonly status: number
  /** The field, what was wanted of it, and what was found. */
  readonly differences: readonly Difference[]
}

/** More than a person compares. */
const MOST = 3

/** The closest of some entries that do not match: fewest differences first, the other operations last, the latest first. */
export function nearMisses(match: Match, entries: readonly RecordedEntry[]): NearMiss[] {
  if (Object.keys(match).length === 0) return []
  const judged = entries.flatMap((entry, place) => {
    const found = differences(match, entry)
    return found.length === 0 ? [] : [{ entry, found, place, distance: distance(entry, found) }]
  })
  judged.sort((a, b) => a.distance - b.distance || b.place - a.place)
  return judged.slice(0, MOST).map(({ entry, found }) => missOf(entry, found))
}

/** Another operation is further away than another value, and what is no request of the API further than one that is. */
function distance({ kind }: RecordedEntry, found: readonly Difference[]): number {
  const beside = kind === 'request' ? 0 : 5
  return found.reduce((sum, { field }) => sum + (field === 'operation' || field === 'kind' ? 10 : 1), beside)
}

function missOf(entry: RecordedEntry, found: readonly Difference[]): NearMiss {
  return {
    id: entry.id,
    at: instant(entry.at),
    operation: entry.operation,
    method: entry.method,
    path: entry.url.split('?', 1).join(),
    status: entry.status,
    differences: found.map((difference) => shown(difference, documentNameOf(entry))),
  }
}

function shown({ field, wanted, found }: Difference, documentName: DocumentName | undefined): Difference {
  const parts = field.split('.').flatMap((part) => [part, documentName?.(part) ?? part])
  const secret = parts.some((part) => isSecretName(part) || part.includes('static_auth'))
  const show = (value: JsonValue): JsonValue => maskJson(value, secret, documentName)
  return { field, wanted: show(wanted), found: show(found) }
}
