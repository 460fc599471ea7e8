import { isBreach, type RecordedUse } from '../contract/contract-use.ts'
import type { Operation, ServedOperation } from '../contract/shapes.ts'
import { foundValue, valueOfField } from '../contract/violation.ts'
import { errorCodeOf, type FieldViolation, partsOf, violationsIn } from '../domain/errors.ts'
import { instant } from '../domain/instant.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts'
import type { RequestWarning } from '../domain/request-trace.ts'
import type { TestLabel } from '../domain/test-label.ts'
import { shorten } from '../domain/text.ts'
import { ownValue } from '../domain/value-match.ts'
import { maskAt, maskParameters, maskText } from '../domain/masking.ts'
import type { RecordedEntry } from '../request-journal/entry.ts'
import type { Finding, FindingOrigin, Warning } from './report-types.ts'

/** One rule that a request broke, or one field that had no effect, before it is counted. */
export type NewFinding = Omit<Finding, keyof FindingOrigin | 'basis'>
export type NewWarning = NewFinding & Pick<Warning, 'kind'>

export function violationsOf(use: RecordedUse): NewFinding[] {
  const broken = brokenRules(use)
  const misses = warningsIn(use).filter(({ kind }) => kind === 'near_miss')
  const isCausedBy = ({ field, did_you_mean: meant }: RequestWarning, { path, constraint }: NewFinding): boolean =>
    path === field || (constraint === 'required' && path === sibling(field, meant))
  return [
    ...broken.filter((finding) => !misses.some((miss) => isCausedBy(miss, finding))),
    ...misses.map((miss) => {
      const cause = broken.find((finding) => isCausedBy(miss, finding))
      return { ...findingOf(use.operation, miss), error_code: cause?.error_code ?? null }
    }),
  ]
}

function sibling(field: string, name = ''): string {
  return field.slice(0, field.lastIndexOf('.') + 1) + name
}

function warningsIn({ checked, trace }: RecordedUse): readonly RequestWarning[] {
  return [...(checked?.warnings ?? []), ...trace.warnings]
}

function findingOf(operation: ServedOperation, { field, description, kind }: RequestWarning): NewFinding {
  const { rule, found = FOUND[kind] } = partsOf(description)
  // A name and a value that nearly are known ones differ in whether there is a value.
  const ofName = kind === 'near_miss' && found === FOUND.near_miss ? 'unknown' : kind
  const constraint = kind === 'unknown' ? 'unread' : ofName
  return { operation, error_code: null, path: field, constraint, found: maskText(found), allowed: maskText(rule) }
}

function brokenRules(use: RecordedUse): NewFinding[] {
  const { error, operation, authorization } = use
  if (!isBreach(error, authorization)) return []
  const error_code = errorCodeOf(error)
  if (error_code === 'UNAUTHENTICATED') return [{ operation, error_code, ...missingBearer(authorization) }]
  const violations = violationsIn(error)
  if (violations.length > 0)
    return violations.map((violation) => ({
      operation,
      error_code,
      ...ruleAndValue(violation, { query: use.checked?.query, body: use.body }),
    }))
  const allowed = error instanceof Error ? maskText(error.message) : ''
  return [{ operation, error_code, path: 'body', constraint: 'request', found: 'another request', allowed }]
}

export function answerViolationsOf(operation: Operation, violations: readonly FieldViolation[]): NewFinding[] {
  return violations.map((violation) => ({ operation, error_code: null, ...ruleAndValue(violation, {}) }))
}

/** What a request says that breaks no rule and is still worth telling. */
export function warningsOf(use: RecordedUse): NewWarning[] {
  return warningsIn(use).flatMap((warning) => {
    const { kind } = warning
    if (kind === 'near_miss') return []
    return [{ ...findingOf(use.operation, warning), kind: kind === 'unknown' ? 'unread' : kind }]
  })
}

/** What a warning found, where its description does not say it. */
const FOUND: Readonly<Record<RequestWarning['kind'], string>> = {
  unknown: 'a name that nothing reads',
  near_miss: 'an unknown name',
  output_only: 'a field that the service only answers',
  alias: 'another name than the document’s',
  ignored: 'a value without effect',
  similar_identifier: 'another identifier',
}

function missingBearer(authorization: string | undefined): Omit<NewFinding, 'operation' | 'error_code'> {
  return {
    path: 'Authorization',
    constraint: authorization === undefined ? 'required' : 'scheme',
    found: authorization === undefined ? 'nothing' : 'another scheme, or no token',
    allowed: authorization === undefined ? 'is required' : 'must be Bearer and an access token of create_token',
  }
}

/** Rule and value of a violation; where the description does not show the value, it is looked up in the request. */
function ruleAndValue(
  { field, description, constraint }: FieldViolation,
  { query, body }: { readonly query?: unknown; readonly body?: unknown },
): Omit<NewFinding, 'operation' | 'error_code'> {
  const { rule, found } = partsOf(description)
  if (found !== undefined) return { path: field, constraint, found: maskText(found), allowed: maskText(rule) }
  const sent = valueOfField(body, field) ?? valueOfField(query, field)
  return { path: field, constraint, found: foundValue(sent, field.split(/[.[\]]+/)), allowed: rule }
}

type FindingRequest = FindingOrigin['examples'][number]

/** What a finding keeps of the request that had it. */
export interface FoundIn {
  readonly request: string
  readonly environment: string
  readonly method: string
  readonly url: string
  /** Milliseconds in the environment's own time. */
  readonly at: number
  readonly body?: unknown
  readonly test: TestLabel | undefined
}

/** What a finding keeps of an entry of the request journal. */
export function foundInEntry({ id: request, environment, method, url, at }: RecordedEntry, test?: TestLabel): FoundIn {
  return { request, environment, method, url, at, test }
}

export interface Counted<Item> {
  readonly item: Item
  count: number
  readonly requests: FindingRequest[]
  /** The tests that had it, by file and name. */
  readonly tests: Map<string, TestLabel>
}

/** How many different findings an environment keeps, and how many requests each of them names. */
const MAX_FINDINGS = 1000
const MAX_REQUESTS = 20

/** Findings of one kind with their counts: a mistake in a loop of a client is one finding. */
export class Findings<Item extends { readonly path: string }> {
  readonly #keyOf: (item: Item) => string
  readonly #byKey = new Map<string, Counted<Item>>()
  leftOut = 0

  constructor(keyOf: (item: Item) => string) {
    this.#keyOf = keyOf
  }

  addAll(items: readonly Item[], found: FoundIn): void {
    const abridged: Abridged = new Map()
    for (const item of items) this.add(item, found, abridged)
  }

  add(item: Item, found: FoundIn, abridged: Abridged = new Map()): void {
    const counted = this.#counted(item)
    if (!counted) return
    counted.count += 1
    if (counted.requests.length < MAX_REQUESTS) counted.requests.push(findingRequest(item.path, found, abridged))
    if (found.test) counted.tests.set(testKey(found.test), found.test)
  }

  merge(others: Findings<Item>): void {
    this.leftOut += others.leftOut
    for (const { item, count, requests, tests } of others.list()) {
      const counted = this.#counted(item)
      if (!counted) continue
      counted.count += count
      counted.requests.push(...requests.slice(0, MAX_REQUESTS - counted.requests.length))
      for (const [key, test] of tests) counted.tests.set(key, test)
    }
  }

  /** In the order in which they were first found. */
  list(): Iterable<Counted<Item>> {
    return this.#byKey.values()
  }

  #counted(item: Item): Counted<Item> | undefined {
    const key = this.#keyOf(item)
    const known = this.#byKey.get(key)
    if (known) return known
    if (this.#byKey.size === MAX_FINDINGS) {
      this.leftOut += 1
      return undefined
    }
    const made = { item, count: 0, requests: [], tests: new Map<string, TestLabel>() }
    this.#byKey.set(key, made)
    return made
  }
}

function testKey({ label, file = '' }: TestLabel): string {
  return `${file}\n${label}`
}

export const MAX_PATH = 200
const MAX_EXCERPT = 160

function findingRequest(place: string, found: FoundIn, abridged: Abridged): FindingRequest {
  const { request, environment, method, url, at, body } = found
  const path = shorten(url.split('?', 1).join(), MAX_PATH)
  return { id: request, environment, method, path, at: instant(at), excerpt: excerptOf(place, url, body, abridged) }
}

/** A query parameter with its value, or the object of the body that the place is in; the place itself comes first. */
function excerptOf(place: string, url: string, body: unknown, abridged: Abridged): string {
  const { [place]: value } = maskParameters(new URLSearchParams(url.split('?')[1]))
  if (value !== undefined) return shorten(`?${place}=${[value].flat().join(`&${place}=`)}`, MAX_EXCERPT)
  if (!isJsonObject(body)) return ''
  const names = place.split(/[.[\]]+/).filter((name) => name !== '')
  const last = names.pop() ?? ''
  let [around, inside]: [JsonObject, number] = [body, 0]
  let at: JsonValue | undefined = body
  for (const [index, name] of names.entries()) {
    at = ownValue(at, name)
    if (isJsonObject(at)) [around, inside] = [at, index + 1]
  }
  const shown = abridged.get(around) ?? (abridge(around) as JsonObject)
  abridged.set(around, shown)
  const first = Object.hasOwn(around, last) ? { [last]: abridge(around[last] ?? null), ...shown } : shown
  const way = names.slice(0, inside)
  const parent = way.length === 0 ? '' : `${way.join('.')}: `
  return shorten(`${parent}${JSON.stringify(maskAt(way, first))}`, MAX_EXCERPT)
}

/** By these members of an object its `value` is known to be secret. */
const NAMING: ReadonlySet<string> = new Set(['name', 'key'])

/** The objects of a request that excerpts show, each with as many members as an excerpt has characters: it can have 100,000. */
type Abridged = Map<JsonObject, JsonObject>

function abridge(value: JsonValue, left = { members: MAX_EXCERPT }): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.slice(0, left.members).map((item) => abridge(item, left))
  const isKept = (name: string): boolean => NAMING.has(name) || left.members-- > 0
  return Object.fromEntries(
    Object.keys(value).flatMap((name) => (isKept(name) ? [[name, abridge(value[name] ?? null, left)]] : [])),
  )
}

/** Equal for the same rule at the same field, for every value that was sent, and for all items of a list. */
export function findingKey({ operation, path, constraint, error_code }: NewFinding): string {
  return [operation, path.replace(/\[\d+\]/g, '[]'), constraint, error_code].join('\n')
}
