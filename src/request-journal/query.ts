import { milliseconds } from '../domain/instant.ts'
import type { RecordedEntry } from './entry.ts'
import { JournalQuestionError } from './journal-error.ts'
import { checkOperation, type Match, MATCH_KEYS, type MatchKey, matches, unknownKey } from './match.ts'

/** Which entries of a journal are asked for. */
export interface JournalQuery {
  readonly match?: Match
  /** From this instant on, in the environment's own time; or what came after the entry with this id. */
  readonly since?: string | undefined
  /** With `since` the first so many from there, else the last so many. */
  readonly limit?: number | undefined
}

function isMatchKey(key: string): key is MatchKey {
  return (MATCH_KEYS as readonly string[]).includes(key)
}

const DEFAULT_LIMIT = 1000
const INSTANT = /^\d{4}-\d\d-\d\d(T.+)?$/

/** The parameters of `GET /_mock/requests`, `environment` aside, which chooses the journal. */
export const QUERY_KEYS: readonly string[] = [...MATCH_KEYS.filter((key) => key !== 'body'), 'since', 'limit']

/** @throws JournalQuestionError for a parameter that is unknown or repeated, or a value that is none */
export function readJournalQuery(parameters: URLSearchParams): JournalQuery {
  const match: Partial<Record<MatchKey, string | boolean>> = {}
  for (const key of new Set(parameters.keys())) {
    if (key === 'environment') continue
    if (!QUERY_KEYS.includes(key)) throw unknownKey(key, [...QUERY_KEYS, 'environment'])
    const [value = '', ...more] = parameters.getAll(key)
    if (more.length > 0) throw new JournalQuestionError(`${key} is given more than once; give it once`, key)
    if (key === 'operation') checkOperation(value)
    if (isMatchKey(key)) match[key] = key === 'injected' ? value === 'true' : value
  }
  return { match, since: sinceOf(parameters.get('since')), limit: limitOf(parameters.get('limit')) }
}

/** Picks entries, oldest first, from a list that is oldest first. */
export function select(
  entries: readonly RecordedEntry[],
  { match = {}, since, limit = DEFAULT_LIMIT }: JournalQuery,
): RecordedEntry[] {
  const later = since === undefined ? entries : laterThan(entries, since)
  const found = later.filter((entry) => matches(match, entry))
  return since === undefined ? found.slice(Math.max(0, found.length - limit)) : found.slice(0, limit)
}

function laterThan(entries: readonly RecordedEntry[], since: string): readonly RecordedEntry[] {
  if (INSTANT.test(since)) {
    const from = milliseconds(since)
    return entries.filter(({ at }) => at >= from)
  }
  const place = entries.findLastIndex(({ id }) => id === since)
  return place < 0 ? entries : entries.slice(place + 1)
}

function sinceOf(text: string | null): string | undefined {
  if (text === null || text === '') return undefined
  if (INSTANT.test(text) && Number.isNaN(milliseconds(text))) {
    throw new JournalQuestionError(
      `since is ${JSON.stringify(text.slice(0, 60))}, which is no instant; send ISO 8601`,
      'since',
    )
  }
  return text
}

function limitOf(text: string | null): number | undefined {
  if (text === null) return undefined
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new JournalQuestionError(`limit is ${JSON.stringify(text.slice(0, 60))}; send a number from 1 on`, 'limit')
}
