import { type Instant, instant } from '../domain/instant.ts'
import { isJsonObject } from '../domain/json.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { type ControlErrorCode, type Fault, faulty } from './control-error.ts'

/** How one field of a body is read: undefined refuses it. */
export interface FieldForm<T> {
  readonly read: (value: unknown) => T | undefined
  /** In words, for whoever sent something else. */
  readonly allowed: string
}

export type Forms = Readonly<Record<string, FieldForm<unknown>>>

/** What a body holds by its forms; every field may be absent. */
export type Read<F extends Forms> = { readonly [Name in keyof F]?: F[Name] extends FieldForm<infer T> ? T : never }

export const aText: FieldForm<string> = form('a text that is not empty', (value) =>
  typeof value === 'string' && value !== '' ? value : undefined,
)
export const aBoolean: FieldForm<boolean> = form('true or false', (value) =>
  typeof value === 'boolean' ? value : undefined,
)
export const anObject: FieldForm<object> = form('an object', (value) => (isJsonObject(value) ? value : undefined))
export const anInstant: FieldForm<Instant> = form(
  'an ISO 8601 instant with its time zone, such as 2026-01-31T12:00:00Z',
  (value) => (typeof value === 'string' ? instantOf(value) : undefined),
)

export function anInteger(least: number, most: number): FieldForm<number> {
  return form(`a whole number from ${least} to ${most}`, (value) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
      ? (value as number)
      : undefined,
  )
}

export function oneOf<const T extends string>(values: readonly T[]): FieldForm<T> {
  return form(values.join(', '), (value) => values.find((known) => known === value))
}

export function form<T>(allowed: string, read: (value: unknown) => T | undefined): FieldForm<T> {
  return { allowed, read }
}

/** Reads an object by its forms. @throws ControlError with everything that is wrong with it */
export function readFields<F extends Forms>(
  value: unknown,
  forms: F,
  { code = 'INVALID_BODY', required = [] }: { code?: ControlErrorCode; required?: readonly (keyof F & string)[] } = {},
): Read<F> {
  const names = Object.keys(forms)
  if (!isJsonObject(value))
    throw faulty(code, [{ path: '', found: kindOf(value), allowed: `an object with ${names.join(', ')}` }])
  const read = new Map<string, unknown>()
  const faults: Fault[] = []
  for (const [name, given] of Object.entries(value)) {
    const known = Object.hasOwn(forms, name) ? forms[name] : undefined
    const field = known?.read(given)
    if (!known)
      faults.push({ path: name, found: `an unknown field${didYouMean(name, names)}`, allowed: names.join(', ') })
    else if (field === undefined) faults.push({ path: name, found: kindOf(given), allowed: known.allowed })
    else read.set(name, field)
  }
  for (const name of required) {
    if (Object.hasOwn(value, name)) continue
    faults.push({ path: name, found: 'nothing', allowed: `${forms[name]?.allowed ?? ''} (required)` })
  }
  if (faults.length > 0) throw faulty(code, faults)
  return Object.fromEntries(read) as Read<F>
}

/** The zone is needed: a time without one would be read in the zone of the machine. */
function instantOf(text: string): Instant | undefined {
  const exact = /^(?<day>\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(text)?.groups
  const at = Date.parse(text)
  if (!exact?.['day'] || Number.isNaN(at)) return undefined
  // Date.parse takes the 30th of February for the 2nd of March.
  const midnight = new Date(`${exact['day']}T00:00:00Z`)
  return midnight.toISOString().startsWith(exact['day']) ? instant(at) : undefined
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
