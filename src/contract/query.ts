import type { FieldViolation } from '../domain/errors.ts'
import { shorten } from '../domain/text.ts'
import type { QueryParameter, Route } from './route.ts'
import { foundValue } from './violation.ts'

/** A query string read by the types of the spec. */
export interface ReadQuery {
  /** Under the names of the spec, no others. A parameter that cannot be read is absent. */
  readonly values: Record<string, unknown>
  readonly violations: FieldViolation[]
  /** Names that the operation does not have. */
  readonly unknown: string[]
}

/** The parameters of a query string in their order, as `URLSearchParams` has them. */
export interface SentQuery {
  forEach(tell: (value: string, name: string) => void): void
}

/**
 * The parameters of a query string. What nearly everybody sends, ASCII in plain percent encoding, is taken apart here in
 * half of the time; everything else is left to the general parser, which makes something of any text.
 */
export function sentQuery(text: string): SentQuery {
  if (text === '') return NO_PARAMETERS
  return (PLAIN.test(text) ? plainQuery(text) : undefined) ?? new URLSearchParams(text)
}

/** Not with a leading question mark, which the general parser drops. */
const PLAIN = /^[!->@-~][!-~]*$/
const NO_PARAMETERS: SentQuery = { forEach: () => undefined }

class PlainQuery implements SentQuery {
  /** Names and values in turn. */
  readonly #texts: readonly string[]

  constructor(texts: readonly string[]) {
    this.#texts = texts
  }

  forEach(tell: (value: string, name: string) => void): void {
    for (let at = 0; at < this.#texts.length; at += 2) tell(this.#texts[at + 1] ?? '', this.#texts[at] ?? '')
  }
}

/** Undefined when a part is encoded in another way. */
function plainQuery(text: string): PlainQuery | undefined {
  const texts: string[] = []
  for (let from = 0; from < text.length;) {
    const next = text.indexOf('&', from)
    const end = next < 0 ? text.length : next
    const equals = text.indexOf('=', from)
    const nameEnd = equals < 0 || equals > end ? end : equals
    const name = decoded(text.slice(from, nameEnd))
    const value = decoded(text.slice(Math.min(nameEnd + 1, end), end))
    if (name === undefined || value === undefined) return undefined
    if (end > from) texts.push(name, value)
    from = end + 1
  }
  return new PlainQuery(texts)
}

/** Undefined unless every percent sign begins an ASCII character. */
function decoded(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  let plain = ''
  let from = 0
  for (let at = spaced.indexOf('%'); at >= 0; at = spaced.indexOf('%', from)) {
    const code = 16 * digit(spaced, at + 1) + digit(spaced, at + 2)
    if (!(code < 0x80)) return undefined
    plain += spaced.slice(from, at) + String.fromCharCode(code)
    from = at + 3
  }
  return from === 0 ? spaced : plain + spaced.slice(from)
}

/** The value of a hexadecimal digit; NaN for anything else. */
function digit(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NaN
}

/** Reads a query string; what is out of range is for the validator to say, on the values. */
export function readQuery(route: Route, query: SentQuery): ReadQuery {
  const read: ReadQuery = { values: {}, violations: [], unknown: [] }
  const sent = new Map<string, string | string[]>()
  query.forEach((text, name) => {
    const before = sent.get(name)
    if (typeof before === 'object') before.push(text)
    else sent.set(name, before === undefined ? text : [before, text])
  })
  sent.forEach((texts, name) => {
    const parameter = route.query.find((known) => known.name === name)
    if (parameter) readParameter(parameter, texts, read)
    else read.unknown.push(name === '' ? '""' : shorten(name, 80))
  })
  return read
}

/** `texts`: a list where the parameter was sent more than once. */
function readParameter(parameter: QueryParameter, texts: string | readonly string[], read: ReadQuery): void {
  const { name, type, repeatable } = parameter
  if (!repeatable && typeof texts !== 'string') {
    const description = `found it ${texts.length} times, expected it once`
    read.violations.push({ field: name, description, constraint: 'repeated' })
    return
  }
  const values = typeof texts === 'string' ? coerce(parameter, texts) : texts.map((text) => coerce(parameter, text))
  const wrong = Array.isArray(values) ? values.indexOf(undefined) : values === undefined ? 0 : -1
  if (wrong >= 0) {
    const text = typeof texts === 'string' ? texts : texts[wrong]
    const description = `found ${foundValue(text, [name])}, expected ${EXPECTED[type]}`
    read.violations.push({ field: name, description, constraint: 'type' })
    return
  }
  read.values[name] = repeatable ? [values].flat() : values
}

const EXPECTED = { string: 'text', integer: 'an integer', boolean: 'true or false' } as const

/** The value of a text; undefined when it is none of the type (G5). */
function coerce({ type }: QueryParameter, text: string): string | number | boolean | undefined {
  if (type === 'string') return text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  const number = /^-?\d+$/.test(text) ? Number(text) : NaN
  // `-0` is a number like any other here, and no reason for a surprise later.
  return Number.isSafeInteger(number) ? number + 0 : undefined
}
