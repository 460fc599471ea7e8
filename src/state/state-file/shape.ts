import { isJsonObject } from '../../domain/json.ts'

/*
 * A check of stored rows that is fast enough for all of a large state file at every start; the complete description of
 * the file, with JSON Schema, is in `documents/state-document.ts`.
 */

/** What is wrong with a value, and where in it. */
export interface Fault {
  path: (string | number)[]
  found: string
  allowed: string
}

/** Answers what is wrong with a value, undefined when nothing is. */
export type Shape = (value: unknown) => Fault | undefined

/** A shape for every field of a row; the compiler sees to it that none is missing. */
export type Fields<T> = { readonly [Name in keyof Required<T>]: Shape }

export const string = check('a string', (value) => typeof value === 'string')
export const boolean = check('true or false', (value) => typeof value === 'boolean')
export const number = check('a number', (value) => Number.isFinite(value))
export const integer = check('an integer', (value) => Number.isSafeInteger(value))
export const jsonObject: Shape = (value) => {
  if (!isJsonObject(value)) return { path: [], found: describe(value), allowed: 'an object' }
  if (!isDeeper(value, DEEPEST)) return undefined
  return { path: [], found: `more than ${DEEPEST} levels of nesting`, allowed: 'fewer' }
}
/** Whatever JSON can say. */
export const anything: Shape = () => undefined
export const instantText = check('an instant such as 2026-01-31T12:00:00.000Z', isInstant)
export const strings = array(string)
export const textMap: Shape = (value) => {
  const fault = jsonObject(value)
  if (fault || !isJsonObject(value)) return fault
  return firstFault(Object.entries(value), string)
}

export function oneOf(values: readonly string[]): Shape {
  const allowed = new Set<unknown>(values)
  return check(`one of ${values.join(', ')}`, (value) => allowed.has(value))
}

export function nullable(shape: Shape): Shape {
  return (value) => (value === null ? undefined : shape(value))
}

export function optional(shape: Shape): Shape {
  return (value) => (value === undefined ? undefined : shape(value))
}

export function array(item: Shape): Shape {
  return (value) => {
    if (!Array.isArray(value)) return { path: [], found: describe(value), allowed: 'an array' }
    for (let at = 0; at < value.length; at++) {
      const fault = item(value[at])
      if (fault) return within(at, fault)
    }
    return undefined
  }
}

/** An object with these fields and no others. */
export function fields<T>(shapes: Fields<T>): Shape {
  const names = Object.keys(shapes)
  const each = Object.values<Shape>(shapes)
  return (value) => {
    if (!isJsonObject(value)) return { path: [], found: describe(value), allowed: 'an object' }
    let known = 0
    for (let at = 0; at < names.length; at++) {
      const name = names[at] ?? ''
      const field = Object.hasOwn(value, name) ? value[name] : undefined
      if (field !== undefined) known++
      const fault = each[at]?.(field)
      if (fault) return within(name, fault)
    }
    return Object.keys(value).length === known ? undefined : unknownField(value, names)
  }
}

/** What a value is, for messages: never the value of a secret. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? 'a string' : JSON.stringify(value)
}

export function within(step: string | number, fault: Fault): Fault {
  fault.path.unshift(step)
  return fault
}

/** A path inside the JSON: `environments.default.tables.accounts[3].status`. */
export function pathText(path: readonly (string | number)[]): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at > 0 ? `.${step}` : step)).join('')
}

function check(allowed: string, ok: (value: unknown) => boolean): Shape {
  return (value) => (ok(value) ? undefined : { path: [], found: describe(value), allowed })
}

function firstFault(entries: Iterable<readonly [string | number, unknown]>, shape: Shape): Fault | undefined {
  for (const [key, value] of entries) {
    const fault = shape(value)
    if (fault) return within(key, fault)
  }
  return undefined
}

function unknownField(value: object, names: readonly string[]): Fault {
  const unknown = Object.keys(value).find((key) => !names.includes(key)) ?? ''
  return { path: [unknown], found: 'an unknown field', allowed: `one of ${names.join(', ')}` }
}

/** Far more than a request may bring, and less than would break whoever writes the file. */
const DEEPEST = 1000

function isDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true
  return Object.values(value).some(
    (inside: unknown) => typeof inside === 'object' && inside !== null && isDeeper(inside, levels - 1),
  )
}

/** By form: `2026-01-31T12:00:00.000Z`; a day too many in a short month is one of the next. */
function isInstant(value: unknown): boolean {
  return typeof value === 'string' && value.length === 24 && INSTANT.test(value)
}

const INSTANT = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}\.\d{3}Z$/
