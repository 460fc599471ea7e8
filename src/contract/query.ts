import type { FieldViolation } from '../domain/errors.ts'
import { shorten } from './field-path.ts'
import type { QueryParameter, Route } from './route.ts'
import { foundValue } from './violation.ts'

/** A query string read by the types of the spec. */
export interface ReadQuery {
  /** Null-prototype: names come from users. A parameter that cannot be read is absent. */
  readonly values: Record<string, unknown>
  readonly violations: FieldViolation[]
  /** Names that the operation does not have. */
  readonly unknown: string[]
}

/** Reads a query string; what is out of range is for the validator to say, on the values. */
export function readQuery(route: Route, query: URLSearchParams): ReadQuery {
  const read: ReadQuery = { values: Object.create(null) as Record<string, unknown>, violations: [], unknown: [] }
  const sent = new Map<string, string[]>()
  query.forEach((text, name) => {
    const texts = sent.get(name)
    if (texts) texts.push(text)
    else sent.set(name, [text])
  })
  for (const [name, texts] of sent) {
    const parameter = route.query.find((known) => known.name === name)
    if (parameter) readParameter(parameter, texts, read)
    else read.unknown.push(name === '' ? '""' : shorten(name, 80))
  }
  return read
}

function readParameter(parameter: QueryParameter, texts: readonly string[], read: ReadQuery): void {
  const { name, type, repeatable } = parameter
  if (!repeatable && texts.length > 1) {
    const description = `found it ${texts.length} times, expected it once`
    read.violations.push({ field: name, description, constraint: 'repeated' })
    return
  }
  const values: readonly unknown[] = type === 'string' ? texts : texts.map((text) => coerce(parameter, text))
  const wrong = values.indexOf(undefined)
  if (wrong >= 0) {
    const description = `found ${foundValue(texts[wrong], [name])}, expected ${EXPECTED[type]}`
    read.violations.push({ field: name, description, constraint: 'type' })
    return
  }
  read.values[name] = repeatable ? values : values[0]
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
