import type { components } from '../../model/contract/generated/control-types.ts'
import { instant } from '../../model/domain/instant.ts'
import type { JsonValue } from '../../model/domain/json.ts'
import type { StoredEntry } from './entry.ts'
import { isSecretText } from '../../model/domain/secret.ts'
import { type DocumentName, maskJson } from '../../model/domain/masking.ts'
import { type Difference, matchDifferences, type Match } from './query.ts'
import { documentNameOf, entryPath } from './view.ts'

/** An entry that nearly matches, and its differences from the match. */
export type NearMissDocument = components['schemas']['NearMiss']

/** As many as a person compares. */
const MAX_NEAR_MISSES = 3

/** Fewest differences first, other operations last, latest first. A control call about no account is no near miss. */
export function nearMisses(match: Match, entries: readonly StoredEntry[]): NearMissDocument[] {
  if (Object.keys(match).length === 0) return []
  const candidates = entries.flatMap((entry, index) => {
    const entryDifferences = matchDifferences(match, entry)
    const isOther = (entry.kind === 'control' || entry.kind === 'clock') && !entry.trace.account
    return entryDifferences.length === 0 || (isOther && match.kind === undefined)
      ? []
      : [{ entry, found: entryDifferences, index, distance: entryDistance(entry, entryDifferences) }]
  })
  candidates.sort((a, b) => a.distance - b.distance || b.index - a.index)
  return candidates.slice(0, MAX_NEAR_MISSES).map(({ entry, found }) => nearMissOf(entry, found))
}

/** Another operation counts more than another value; an entry that is not a request to the API counts more than one that is. */
function entryDistance({ kind }: StoredEntry, entryDifferences: readonly Difference[]): number {
  const base = kind === 'request' ? 0 : 5
  return entryDifferences.reduce((sum, { field }) => sum + (field === 'operation' || field === 'kind' ? 10 : 1), base)
}

function nearMissOf(entry: StoredEntry, entryDifferences: readonly Difference[]): NearMissDocument {
  return {
    id: entry.id,
    at: instant(entry.at),
    operation: entry.operation,
    method: entry.method,
    path: entryPath(entry),
    status: entry.status,
    differences: entryDifferences.map((difference) => maskDifference(difference, documentNameOf(entry))),
  }
}

function maskDifference({ field, wanted, found }: Difference, documentName: DocumentName | undefined): Difference {
  const parts = field.split('.').flatMap((part) => [part, documentName?.(part) ?? part])
  const secret = parts.some((part) => isSecretText(part) || part.includes('static_auth'))
  const mask = (value: JsonValue): JsonValue => maskJson(value, secret ? 'secret' : 'open', documentName)
  return { field, wanted: mask(wanted), found: mask(found) }
}
