import { indexOfText, plural } from './text.ts'
import { isJsonObject, type JsonObject, jsonText, type JsonValue } from './json.ts'
import { hasPattern } from './text-pattern.ts'

/** The value at a dotted path (`to.0.address`), by own properties only; undefined when there is none. */
export function valueAt(value: JsonValue | undefined, dottedPath: string): JsonValue | undefined {
  // Nearly every path is one name, and splitting it takes longer than the rest.
  if (!dottedPath.includes('.')) return ownValue(value, dottedPath)
  let inner = value
  for (const part of dottedPath.split('.')) inner = ownValue(inner, part)
  return inner
}

/** The member of an object or a list; undefined where there is none of its own: keys come from users. */
export function ownValue(value: unknown, name: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, JsonValue>)[name]
}

/** Nested objects as dotted paths, as `valueAt` takes them; lists and empty objects are values. */
export function dottedPaths(object: JsonObject): Record<string, JsonValue> {
  const entries = (inner: JsonObject, prefix: string): [string, JsonValue][] =>
    Object.entries(inner).flatMap(([key, value]) =>
      isJsonObject(value) && Object.keys(value).length > 0 && !isMatcher(value)
        ? entries(value, `${prefix}${key}.`)
        : [[`${prefix}${key}`, value] as [string, JsonValue]],
    )
  return Object.fromEntries(entries(object, ''))
}

/** A glob, a text in which `*` is no glob, or a regular expression. */
export type TextMatch = string | { equals: string } | { matches: string }

/** `{ equals: VALUE }`, the value itself: no glob, no paths; or `{ matches: PATTERN }`. Each as the only key alone. */
export function isMatcher(wanted: unknown): wanted is { equals: JsonValue } | { matches: JsonValue } {
  if (!isJsonObject(wanted)) return false
  const [key, ...others] = Object.keys(wanted)
  return others.length === 0 && (key === 'equals' || key === 'matches')
}

/** Strings by glob, matchers as they say, everything else by equality; `*` is any value that is there. */
export function matchesValue(wanted: JsonValue, actual: JsonValue | undefined): boolean {
  if (actual === undefined) return false
  if (wanted === '*') return true
  if (isMatcher(wanted)) {
    if ('equals' in wanted) return equalValues(wanted.equals, actual)
    return typeof actual === 'string' && hasPattern(wanted as { matches: string }, actual)
  }
  if (typeof wanted === 'string') return typeof actual === 'string' && matchesGlob(wanted, actual)
  return equalValues(wanted, actual)
}

/** Whether a value has, at each of these dotted paths, what a match asks for. */
export function matchesAt(
  wanted: Readonly<Record<string, JsonValue>> | undefined,
  value: JsonValue | undefined,
): boolean {
  if (wanted === undefined) return true
  return Object.keys(wanted).every((path) => matchesValue(wanted[path] ?? null, valueAt(value, path)))
}

/** Whether a query parameter or header has, for each of these, a text that matches it; `valueOf` gives it by its name. */
export function matchesTexts(
  wanted: Readonly<Record<string, JsonValue>> | undefined,
  valueOf: (name: string) => JsonValue | undefined,
): boolean {
  return Object.entries(wanted ?? {}).every(([name, each]) =>
    [valueOf(name) ?? []]
      .flat()
      .some((value) => matchesValue(each, typeof value === 'string' ? value : jsonText(value))),
  )
}

interface JournalRequest {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly status: number
}

export const LATEST_REQUESTS = 3

/** What came in place of a request that was waited for. */
export function latestRequestsText(requests: readonly JournalRequest[], environment: string): string {
  if (requests.length === 0) return `no request has reached environment ${environment}`
  const texts = requests.map(({ id, method, path, status }) => `${method} ${path} ${status} (${id})`)
  return `the latest requests in environment ${environment}: ${texts.join(', ')}`
}

interface Close extends JournalRequest {
  readonly differences: readonly { readonly field: string; readonly wanted?: unknown; readonly found?: unknown }[]
}

/** How many requests match, and how many should. What the journal lacks may be among them. */
export function matchedText(
  { matched, incomplete_since: since }: { readonly matched: number; readonly incomplete_since?: string },
  match: object,
  wanted: string,
): string {
  const summary = `${plural(matched, 'request matches', 'requests match')} ${jsonText(match)}; wanted: ${wanted}`
  return since === undefined ? summary : `${summary}; the journal lacks requests before ${since}, so it cannot tell`
}

/** `close: GET /x 404 (req_1): status is 404, not 200`. An event of the control API has no method. */
export function nearMissText({ id, method, path, status, differences }: Close): string {
  const texts = differences.map(({ field, wanted, found }) => `${field} is ${jsonText(found)}, not ${jsonText(wanted)}`)
  return `close: ${[method, path, status].join(' ').trim()} (${id}): ${texts.join('; ')}`
}

/** Whether two values are the same JSON, whatever the order of keys. */
export function equalValues(a: JsonValue, b: JsonValue): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, at) => equalValues(item, b[at] ?? null))
    )
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equalValues(a[key] ?? null, b[key] ?? null))
  )
}

/** `*` is any run of characters. Looks back only to the last `*`, so that no pattern of a user takes long. */
export function matchesGlob(pattern: string, text: string): boolean {
  if (!pattern.includes('*')) return pattern === text
  const runs = pattern.split('*')
  const first = runs[0] ?? ''
  const last = runs.at(-1) ?? ''
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (const run of runs.slice(1, -1)) {
    const position = indexOfText(text, run, at)
    if (position === -1 || position + run.length > end) return false
    at = position + run.length
  }
  return true
}
