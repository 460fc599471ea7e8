import { isOperation, ROUTES } from '../contract/route.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts'
import { nearest } from '../domain/suggestion.ts'
import { matchesValue, valueAt } from '../domain/value-match.ts'
import { parsedBody } from './body-text.ts'
import type { RecordedEntry } from './entry.ts'
import { JournalQuestionError } from './journal-error.ts'
import { requestText, toolOf } from './view.ts'

/** What a request has to be to count: strings by glob, everything else by equality, the body by dotted paths. */
export type Match = Readonly<Partial<Record<MatchKey, JsonValue>>>

/** One thing in which an entry is not what was asked for; secrets are masked. */
export interface Difference {
  readonly field: string
  readonly wanted: JsonValue
  /** Null when the entry has nothing there. */
  readonly found: JsonValue
}

type Read = (entry: RecordedEntry) => JsonValue

/** What a match may name, and what it is compared with. */
const FIELDS = {
  operation: (entry) => entry.operation,
  status: (entry) => entry.status,
  account: (entry) => entry.trace.account?.id ?? null,
  connector: (entry) => entry.trace.account?.connector ?? null,
  identifier: (entry) => entry.trace.account?.identifier ?? null,
  client: (entry) => entry.client,
  tool: (entry) => toolOf(entry),
  execution: (entry) => entry.trace.execution_id ?? null,
  agent_run_id: (entry) => entry.trace.agent_run_id ?? null,
  error_code: (entry) => entry.errorCode,
  kind: (entry) => entry.kind,
  method: (entry) => entry.method,
  path: (entry) => entry.url.split('?', 1).join(),
  injected: (entry) => entry.trace.injected,
  scenario: (entry) => entry.trace.rules.map(({ scenario }) => scenario),
  rule: (entry) => entry.trace.rules.map(({ rule }) => rule),
  body: (entry) => parsedBody(requestText(entry)) ?? null,
} as const satisfies Record<string, Read>
export type MatchKey = keyof typeof FIELDS

/** Every key that a match may have. */
export const MATCH_KEYS = Object.keys(FIELDS) as readonly MatchKey[]

/**
 * Reads a match that somebody sent.
 * @throws JournalQuestionError for an unknown key, an operation that there is not, a body that is no object
 */
export function readMatch(sent: unknown): Match {
  if (sent === undefined) return {}
  if (!isJsonObject(sent)) throw new JournalQuestionError('match is no object', 'match')
  for (const [key, value] of Object.entries(sent)) {
    if (!Object.hasOwn(FIELDS, key)) throw unknownKey(key, MATCH_KEYS)
    if (key === 'operation') checkOperation(value)
    if (key === 'body' && !isJsonObject(value)) {
      throw new JournalQuestionError('match.body is no object of dotted paths and values', 'body')
    }
  }
  return sent
}

/** A name that is not among the allowed ones. */
export function unknownKey(key: string, allowed: readonly string[]): JournalQuestionError {
  const meant = nearest(key, allowed)
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  const message = `${JSON.stringify(key.slice(0, 60))} is not known here${hint} Allowed: ${allowed.join(', ')}`
  return new JournalQuestionError(message.replace('here Allowed', 'here. Allowed'), key, allowed)
}

/** A mistyped operation would never match, and a count of 0 would look like a proof. */
export function checkOperation(value: JsonValue | undefined): void {
  if (typeof value !== 'string' || value.includes('*') || isOperation(value)) return
  throw unknownKey(
    value,
    ROUTES.map(({ operation }) => operation),
  )
}

/** Whether an entry is what a match asks for. */
export function matches(match: Match, entry: RecordedEntry): boolean {
  for (const key of keysOf(match)) {
    const wanted = match[key] ?? null
    const found = FIELDS[key](entry)
    if (key === 'body' ? !bodyMatches(wanted, found) : !fits(wanted, found)) return false
  }
  return true
}

/** Everything in which an entry is not what a match asks for. */
export function differences(match: Match, entry: RecordedEntry): Difference[] {
  return keysOf(match).flatMap((key) => {
    const wanted = match[key] ?? null
    const found = FIELDS[key](entry)
    if (key === 'body') return bodyDifferences(wanted, found)
    return fits(wanted, found) ? [] : [{ field: key, wanted, found }]
  })
}

function keysOf(match: Match): MatchKey[] {
  return Object.keys(match) as MatchKey[]
}

/** A list of what is wanted means any of them; a list of what is there, that one of them is. */
function fits(wanted: JsonValue, found: JsonValue): boolean {
  if (Array.isArray(wanted)) return wanted.some((each) => fits(each, found))
  if (Array.isArray(found)) return found.some((each) => fits(wanted, each))
  if (wanted === null) return found === null
  if (typeof wanted === 'string' && typeof found === 'number') return matchesValue(wanted, String(found))
  return matchesValue(wanted, found === null ? undefined : found)
}

function bodyMatches(wanted: JsonValue, body: JsonValue): boolean {
  return isJsonObject(wanted) && Object.entries(wanted).every(([path, value]) => matchesValue(value, at(body, path)))
}

function bodyDifferences(wanted: JsonValue, body: JsonValue): Difference[] {
  return Object.entries(wanted as JsonObject).flatMap(([path, value]) => {
    const found = at(body, path)
    return matchesValue(value, found) ? [] : [{ field: `body.${path}`, wanted: value, found: found ?? null }]
  })
}

/** A key that holds the whole path wins over the path through objects. */
function at(body: JsonValue, path: string): JsonValue | undefined {
  if (isJsonObject(body) && Object.hasOwn(body, path)) return body[path]
  return valueAt(body, path)
}
