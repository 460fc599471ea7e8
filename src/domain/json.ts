/** Values of JSON. Objects may be null-prototype; never read through their prototype. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An own property, never one of the prototype: keys come from users. */
export function own(object: JsonObject, key: string): JsonValue | undefined {
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
  return textOf(own(object, key))
}

export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = own(object, key)
  return isJsonObject(value) ? value : {}
}

export function listAt(object: JsonObject, key: string): JsonValue[] {
  const value = own(object, key)
  return Array.isArray(value) ? value : []
}

/** The parts of a JSON Pointer (RFC 6901). */
export function pointerParts(pointer: string): string[] {
  const parts = pointer.split('/').slice(1)
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The type of a value in the words of JSON Schema. */
export function jsonType(value: JsonValue | undefined): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The parameters of a query, headers, or the fields of a form; a list where one was sent more than once. It has no prototype. */
export function fieldsOf(
  parameters: Iterable<readonly [name: string, value: string]>,
): Record<string, string | string[]> {
  const fields = Object.create(null) as Record<string, string | string[]>
  for (const [name, value] of parameters) {
    const known = fields[name]
    if (known === undefined) fields[name] = value
    else if (typeof known === 'string') fields[name] = [known, value]
    else known.push(value)
  }
  return fields
}

/** The value of a JSON text; undefined for any other text. */
export function parsedJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** Whether there is no value: what a template of a missing input comes to. */
export function isBlank(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === ''
}

/** The same object without keys that hold `undefined`. */
export function present<T extends object>(object: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> }
}

/** How large the value of a JSON text is. */
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
export function valuesIn(value: JsonValue, known = new Map<object, number>()): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = known.get(value)
  if (count === undefined) {
    known.set(value, Infinity)
    count = 1
    for (const each of Object.values(value)) count += valuesIn(each, known)
    known.set(value, count)
  }
  return count
}
