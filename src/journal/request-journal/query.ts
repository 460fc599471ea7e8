import { ROUTES } from '../../model/contract/route.ts'
import { PROXY_REQUEST } from '../../model/contract/shapes.ts'
import { instantOf, milliseconds } from '../../model/domain/instant.ts'
import { isJsonObject, isNumber, type JsonObject, jsonText, type JsonValue } from '../../model/domain/json.ts'
import { maskText } from '../../model/domain/masking.ts'
import { nearest } from '../../model/domain/suggestion.ts'
import { quote } from '../../model/domain/text.ts'
import { isLinearPattern, LINEAR_PATTERN } from '../../model/domain/text-pattern.ts'
import { isMatcher, matchesValue, valueAt } from '../../model/domain/value-match.ts'
import { ENTRY_KINDS, PROTOCOLS, type StoredEntry } from './entry.ts'
import { recordedBody, entryPath, requestText, executedTool } from './view.ts'

/** A query of the journal with an unknown key, or a value that cannot be read. */
export class JournalQueryError extends Error {
  override readonly name = 'JournalQueryError'

  constructor(
    message: string,
    readonly key: string,
    /** The keys or values that are allowed there, where they can be listed. */
    readonly allowed: readonly string[] = [],
    /** What has to be there. */
    readonly expected: string = allowed.join(', '),
  ) {
    super(message)
  }
}

/** The conditions on an entry: strings match by glob, matchers as they say, everything else by equality, the body by dotted paths. */
export type Match = Readonly<Partial<Record<MatchKey, JsonValue>>>

/** Every key of a match, and the value of an entry that it is compared with. */
const FIELDS = {
  operation: (entry) => entry.operation,
  status: (entry) => entry.status,
  account: (entry) => entry.trace.account?.id ?? null,
  connector: (entry) => entry.trace.account?.connector ?? null,
  identifier: (entry) => entry.trace.account?.identifier ?? null,
  client: (entry) => entry.client,
  mcp_client: (entry) => entry.mcpClient,
  tool: (entry) => executedTool(entry),
  execution: (entry) => entry.trace.execution_id ?? null,
  agent_run_id: (entry) => entry.trace.agent_run_id ?? null,
  error_code: (entry) => entry.errorCode,
  kind: (entry) => entry.kind,
  protocol: (entry) => entry.protocol,
  method: (entry) => entry.method,
  path: (entry) => entryPath(entry),
  injected: (entry) => entry.trace.injected,
  scenario: (entry) => entry.trace.rules.map(({ scenario }) => scenario),
  rule: (entry) => entry.trace.rules.map(({ rule }) => rule),
  event: (entry) => entry.webhook?.event_id ?? null,
  cause: (entry) => entry.webhook?.cause ?? null,
  body: (entry) => recordedBody(requestText(entry)) ?? null,
} as const satisfies Record<string, (entry: StoredEntry) => JsonValue>
export type MatchKey = keyof typeof FIELDS

export const MATCH_KEYS = Object.keys(FIELDS) as readonly MatchKey[]

export interface Difference {
  readonly field: string
  readonly wanted: JsonValue
  /** Null when the entry has nothing there. */
  readonly found: JsonValue
}

/** `preparePatterns` comes before. @throws JournalQueryError for an unknown key or operation, a body that is none */
export function readMatch(input: unknown, extensions: readonly string[] = []): Match {
  if (input === undefined) return {}
  if (!isJsonObject(input)) throw new JournalQueryError('match must be an object', 'match')
  for (const [key, value] of Object.entries(input)) {
    if (!Object.hasOwn(FIELDS, key)) throw unknownQueryName(key, key, MATCH_KEYS)
    checkValue(key, value, extensions)
    if (key === 'body' && !isJsonObject(value)) {
      const expected = 'an object of dotted paths and values'
      throw new JournalQueryError(`match.body must be ${expected}`, 'body', [], expected)
    }
    for (const each of key === 'body' ? Object.values(value as JsonObject) : [value])
      if (isMatcher(each) && 'matches' in each && !isLinearPattern(each.matches))
        throw wrongValue(key, `matched by a regular expression with ${LINEAR_PATTERN}`, each.matches)
  }
  return input
}

function unknownQueryName(name: string, key: string, allowed: readonly string[]): JournalQueryError {
  const meant = nearest(name, allowed)
  const hint = meant === undefined ? '.' : `; did you mean ${meant}?`
  return new JournalQueryError(
    `${name === key ? '' : `${key} `}${quote(maskText(name), 60)} is not known here${hint} Allowed: ${allowed.join(', ')}`,
    key,
    allowed,
  )
}

/** The words of the fields that have a fixed set of them. */
const WORDS: Readonly<Partial<Record<MatchKey, readonly string[]>>> = {
  operation: [...ROUTES.map(({ operation }) => operation), PROXY_REQUEST],
  kind: ENTRY_KINDS,
  protocol: PROTOCOLS,
}

/** A mistyped value would never match, and a count of 0 would look like a proof. */
function checkValue(key: string, value: JsonValue, extensions: readonly string[]): void {
  if (Array.isArray(value)) for (const item of value) checkValue(key, item, extensions)
  const allowedWords = isMatchKey(key) ? WORDS[key] : undefined
  const words = allowedWords && key === 'operation' ? [...allowedWords, ...extensions] : allowedWords
  if (words && typeof value === 'string' && !value.includes('*') && !words.includes(value)) {
    throw unknownQueryName(value, key, words)
  }
  if (key === 'injected' && typeof value !== 'boolean') throw wrongValue(key, 'true or false', value)
  if (key === 'status' && !Array.isArray(value) && !STATUSES.some((status) => fitsWanted(value, status))) {
    throw wrongValue(key, 'a status from 100 to 599, 0 for no answer, or a glob such as 4*', value)
  }
}

const STATUSES = [0, ...Array.from({ length: 500 }, (_, at) => 100 + at)]

function wrongValue(key: string, allowed: string, value: JsonValue): JournalQueryError {
  const valueText = quote(maskText(typeof value === 'string' ? value : jsonText(value)), 60)
  return new JournalQueryError(`${key} must be ${allowed}; found ${valueText}`, key, [], allowed)
}

export function matchesEntry(match: Match, entry: StoredEntry): boolean {
  return matchDifferences(match, entry).length === 0
}

/** Without conditions, what a test did by the control API does not count. */
export function isCounted(match: Match, entry: StoredEntry): boolean {
  if (Object.keys(match).length > 0) return matchesEntry(match, entry)
  return entry.kind !== 'control' && entry.kind !== 'clock'
}

export function matchDifferences(match: Match, entry: StoredEntry): Difference[] {
  return (Object.keys(match) as MatchKey[]).flatMap((key) => {
    const wanted = match[key] ?? null
    const actual = FIELDS[key](entry)
    if (key === 'body') return bodyDifferences(wanted, actual)
    return fitsWanted(wanted, actual) ? [] : [{ field: key, wanted, found: actual }]
  })
}

/** A list of wanted values means any of them; a list of found values, that one of them is wanted. */
function fitsWanted(wanted: JsonValue, actual: JsonValue): boolean {
  if (Array.isArray(wanted)) return wanted.some((each) => fitsWanted(each, actual))
  if (Array.isArray(actual)) return actual.some((each) => fitsWanted(wanted, each))
  if (wanted === null) return actual === null
  if (typeof wanted === 'string' && isNumber(actual)) return matchesValue(wanted, String(actual))
  return matchesValue(wanted, actual === null ? undefined : actual)
}

function bodyDifferences(wanted: JsonValue, body: JsonValue): Difference[] {
  return Object.entries(wanted as JsonObject).flatMap(([path, value]) => {
    // A key that is the whole path wins over the path through objects.
    const actual = isJsonObject(body) && Object.hasOwn(body, path) ? body[path] : valueAt(body, path)
    return matchesValue(value, actual) ? [] : [{ field: `body.${path}`, wanted: value, found: actual ?? null }]
  })
}

export interface EntryQuery {
  readonly match?: Match
  /** Every word of it is in the entry, or in what belongs to all entries: the label of the test. */
  readonly text?: string
  /** Whether entries are answered in short. */
  readonly short?: boolean
  /** An instant in the environment's own time: entries from then on. Or an entry's id: entries after that one. */
  readonly since?: string | undefined
  /** With `since` the first so many from there, else the last so many. */
  readonly limit?: number | undefined
}

const DEFAULT_LIMIT = 1000
const INSTANT = /^\d{4}-\d\d-\d\d(T.+)?$/

/** The parameters of `GET /_mock/requests`, except `environment`, which chooses the journal. */
export const QUERY_KEYS: readonly string[] = [
  ...MATCH_KEYS.filter((key) => key !== 'body'),
  'text',
  'short',
  'since',
  'limit',
]

/** @throws JournalQueryError for a parameter that is unknown or repeated, or whose value cannot be read */
export function readJournalQuery(parameters: URLSearchParams, extensions: readonly string[] = []): EntryQuery {
  const match: Partial<Record<MatchKey, string | boolean>> = {}
  for (const key of new Set(parameters.keys())) {
    if (key === 'environment') continue
    if (!QUERY_KEYS.includes(key)) throw unknownQueryName(key, key, [...QUERY_KEYS, 'environment'])
    const [value = '', ...more] = parameters.getAll(key)
    if (more.length > 0) throw new JournalQueryError(`${key} is sent ${more.length + 1} times; send it once`, key)
    if (!isMatchKey(key)) continue
    const wanted = key === 'injected' && /^(?:true|false)$/.test(value) ? value === 'true' : value
    checkValue(key, wanted, extensions)
    match[key] = wanted
  }
  const short = parameters.get('short') ?? 'false'
  if (short !== 'true' && short !== 'false') throw wrongValue('short', 'true or false', short)
  const [since, limit] = [sinceOf(parameters.get('since')), limitOf(parameters.get('limit'))]
  return { match, text: parameters.get('text') ?? '', short: short === 'true', since, limit }
}

function isMatchKey(key: string): key is MatchKey {
  return Object.hasOwn(FIELDS, key)
}

const SINCE = 'an ISO 8601 instant with its time zone, a day in UTC or the id of an entry'

function sinceOf(text: string | null): string | undefined {
  if (text === null || text === '') return undefined
  if (INSTANT.test(text) && instantOf(text) === undefined) {
    throw wrongValue('since', SINCE, text)
  }
  return text
}

function limitOf(text: string | null): number | undefined {
  if (text === null) return undefined
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw wrongValue('limit', 'an integer from 1 to 9999999', text)
}

/** Oldest first, as `entries` are. @throws JournalQueryError when `since` is the id of no entry */
export function selectEntries(
  entries: readonly StoredEntry[],
  { match = {}, text = '', short = false, since, limit = DEFAULT_LIMIT }: EntryQuery,
): StoredEntry[] {
  const isSearch = short || text !== ''
  const later = since === undefined ? entries : laterThan(entries, since)
  const selected = later.filter((entry) => (isSearch ? matchesEntry(match, entry) : isCounted(match, entry)))
  return since === undefined ? selected.slice(Math.max(0, selected.length - limit)) : selected.slice(0, limit)
}

function laterThan(entries: readonly StoredEntry[], since: string): readonly StoredEntry[] {
  if (INSTANT.test(since)) {
    const from = milliseconds(since)
    return entries.filter(({ at }) => at >= from)
  }
  const index = entries.findLastIndex(({ id }) => id === since)
  if (index < 0) {
    const here = 'that this journal has: it drops its oldest entries, and a reset empties it'
    throw wrongValue('since', `${SINCE} ${here}`, since)
  }
  return entries.slice(index + 1)
}
