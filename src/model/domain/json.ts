import { decimalOf } from './decimal.ts'

/** Values of JSON. Objects may be null-prototype; never read through their prototype. */
/** A bigint is a number that a double cannot hold ({@link parseJson}). */
export type JsonValue = string | number | bigint | boolean | null | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An own property, never one of the prototype: keys come from users. */
export function ownMember(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Sets an own property, also one that is called `__proto__`: keys come from users. */
export function setOwn(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, ...OWN })
  else object[key] = value
}
const OWN = { configurable: true, enumerable: true, writable: true }

/** A value that is a text; empty when it is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The text of this name in an object; empty where there is none. */
export function textAt(object: JsonObject, key: string): string {
  return textOf(ownMember(object, key))
}

export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = ownMember(object, key)
  return isJsonObject(value) ? value : {}
}

export function listAt(object: JsonObject, key: string): JsonValue[] {
  const value = ownMember(object, key)
  return Array.isArray(value) ? value : []
}

/** The parts of a JSON Pointer (RFC 6901). */
export function pointerParts(pointer: string): string[] {
  const parts = pointer.split('/').slice(1)
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export function jsonType(value: JsonValue | undefined): string {
  if (value === null) return 'null'
  if (typeof value === 'bigint') return 'number'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The parameters of a query, headers, or the fields of a form; a list where one was sent more than once. It has no prototype. */
export function fieldValues(
  parameters: Iterable<readonly [name: string, value: string]>,
): Record<string, string | string[]> {
  const fields = Object.create(null) as Record<string, string | string[]>
  for (const [name, value] of parameters) {
    const earlier = fields[name]
    if (earlier === undefined) fields[name] = value
    else if (typeof earlier === 'string') fields[name] = [earlier, value]
    else earlier.push(value)
  }
  return fields
}

/* A number that no double holds is a bigint, so that it keeps its value (G75). `JSON.stringify` throws for one. */

/** A number of sixteen characters or more, or with an exponent. Most texts have none, and pay only for this. */
const LONG_NUMBER = /(?:^|[[:,\s])-?\d(?:[\d.]{15}|[\d.]*e)/i
/** A text, with the colon after it where it is a key. */
export const TEXT_WITH_COLON = /"(?:[^"\\]|\\.)*"(\s*:)?/g
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*/gi

/** Of a number beyond doubles. Each more costs the time of its square. */
const MAX_DIGITS = 1000

/** @throws SyntaxError for what is no JSON, and for a number of more than 1,000 digits */
export function parseJson(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue
  if (!LONG_NUMBER.test(text)) return value
  let marks = 0
  const marked = text.replace(TEXT_OR_NUMBER, (token) => {
    const digits = token.length < 4 || token.startsWith('"') ? undefined : digitsBeyondDouble(token)
    if (digits === undefined) return token
    marks++
    return `"${digits}"`
  })
  return marks > 0 ? withBigints(value, JSON.parse(marked) as JsonValue) : value
}

/** A number of the first is a text in the second where it is beyond doubles. */
function withBigints(value: JsonValue, marked: JsonValue): JsonValue {
  if (typeof value === 'number') return typeof marked === 'string' ? BigInt(marked) : value
  if (typeof value !== 'object' || value === null) return value
  const members = value as Record<string, JsonValue>
  for (const [key, each] of Object.entries(marked as typeof members)) {
    setOwn(members, key, withBigints(members[key] as JsonValue, each))
  }
  return value
}

/** The value of a number as JSON or YAML writes it. */
export function exactNumber(text: string): number | bigint {
  const digits = NUMBER.test(text) ? digitsBeyondDouble(text) : undefined
  return digits === undefined ? Number(text) : BigInt(digits)
}

export function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** A value with doubles in place of bigints; the same where it has none. */
export function withDoubles(value: JsonValue, double = nearestDouble): JsonValue {
  if (typeof value === 'bigint') return double(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map((each) => withDoubles(each, double))
    return items.every((each, at) => each === value[at]) ? value : items
  }
  let copy: JsonObject | undefined
  for (const [key, each] of Object.entries(value)) {
    const changed = withDoubles(each, double)
    if (changed !== each) setOwn((copy ??= { ...value }), key, changed)
  }
  return copy ?? value
}

function nearestDouble(value: bigint): number {
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(value)))
}

/** The digits of an integer of JSON that no double holds; of a fraction that overflows those before the point. */
function digitsBeyondDouble(token: string): string | undefined {
  const value = Number(token)
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return undefined
  const [, sign = '', whole = '', fraction = '', power = '0'] = NUMBER.exec(token) ?? []
  let places = fraction.length
  while (fraction[places - 1] === '0') places--
  const zeros = Number(power) - places
  if (zeros < 0 && Number.isFinite(value)) return undefined
  const digits = whole + fraction.slice(0, places)
  if (digits.length + zeros > MAX_DIGITS) throw new SyntaxError(`a number has more than ${MAX_DIGITS} digits`)
  const integer = zeros < 0 ? digits.slice(0, zeros) : digits.padEnd(digits.length + zeros, '0')
  if (!Number.isFinite(value)) return sign + integer
  const double = decimalOf(value)
  const isHeld = BigInt(sign + integer) === double.digits * 10n ** BigInt(double.exponent)
  return isHeld ? undefined : sign + integer
}
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:e(.+))?$/i

/** The JSON text of a value, with `space` as `JSON.stringify` takes it. */
export function jsonText(value: unknown, space?: number): string {
  try {
    return JSON.stringify(value, null, space)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    // A letter before each text tells bigints from texts that look like one. A text before a colon is a key.
    const mark = (_key: string, each: unknown): unknown =>
      typeof each === 'bigint' ? `n${each}` : typeof each === 'string' ? `s${each}` : each
    const marked = JSON.stringify(value, mark, space)
    return marked.replace(TEXT_WITH_COLON, (token, colon?: string) => {
      if (colon !== undefined) return token
      return token.startsWith('"n') ? token.slice(2, -1) : `"${token.slice(2)}`
    })
  }
}

/** What browsers have beside `JSON.parse`: a number as its text, which `JSON.stringify` writes as it is. */
const { rawJSON, isRawJSON } = JSON as {
  readonly rawJSON?: (text: string) => JsonValue
  readonly isRawJSON?: (value: unknown) => boolean
}

export const isNumberText = (value: unknown): boolean | undefined => isRawJSON?.(value)

/** The value of a JSON text in a browser, where a number that a double would change is its text; undefined for any other text. */
export function browserJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text, (_key, value: JsonValue, context?: { readonly source: string }) =>
      typeof value === 'number' && rawJSON && context && context.source !== `${value}`
        ? rawJSON(context.source)
        : value,
    ) as JsonValue
  } catch {
    return undefined
  }
}

/** The value of a JSON text; undefined for any other text. */
export function parsedJson(text: string): JsonValue | undefined {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** Whether there is no value: what a template of a missing input comes to. */
export function isBlank(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === ''
}

/** The same object without keys that hold `undefined`. */
export function withoutUndefined<T extends object>(object: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> }
}

export interface JsonExtent {
  /** The deepest level of brackets and braces. */
  readonly depth: number
  readonly keys: number
  /** Lists and objects included; an empty one counts twice. */
  readonly values: number
}

/** Measures JSON text in one pass and without recursion, before a parser sees it. */
export function extentOf(text: string): JsonExtent {
  let [open, depth, keys, values] = [0, 0, 0, 1]
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (quoted) {
      if (char === BACKSLASH) at++
      else if (char === QUOTE) quoted = false
    } else if (char === QUOTE) quoted = true
    else if (char === COLON) keys++
    else if (char === COMMA) values++
    else if (char === BRACE || char === BRACKET) {
      values++
      depth = Math.max(depth, ++open)
    } else if (char === BRACE + 2 || char === BRACKET + 2) open--
  }
  return { depth, keys, values }
}

/** Whether JSON nests deeper than so many levels. A text that is too short to close them all is no JSON, and left to the parser. */
export function nestsDeeper(text: string, levels: number): boolean {
  return text.length > 2 * levels && extentOf(text).depth > levels
}

/** Of a document or a body of the control API. More would take seconds to read, in which the server answers nothing else. */
export const MAX_KEYS = 100_000
export const MAX_VALUES = 250_000

/** What a text has too much of; undefined for one that is small enough. */
export function excessOf({ keys, values }: Omit<JsonExtent, 'depth'>): { found: string; allowed: string } | undefined {
  if (keys > MAX_KEYS) return { found: `one with more than ${MAX_KEYS} keys`, allowed: `at most ${MAX_KEYS}` }
  return values > MAX_VALUES
    ? { found: `one with more than ${MAX_VALUES} values`, allowed: `at most ${MAX_VALUES}` }
    : undefined
}

const [QUOTE, BACKSLASH, BRACKET, BRACE, COLON, COMMA] = [0x22, 0x5c, 0x5b, 0x7b, 0x3a, 0x2c]

/** How many values there are, where one that is in several places counts each time; without end inside itself. */
export function valuesIn(value: JsonValue, countOf = new Map<object, number>()): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = countOf.get(value)
  if (count === undefined) {
    countOf.set(value, Infinity)
    count = 1
    for (const each of Object.values(value)) count += valuesIn(each, countOf)
    countOf.set(value, count)
  }
  return count
}
