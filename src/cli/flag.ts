import { type Instant, instant } from '../domain/instant.ts'

/** One flag as data: parsing, its variable, the help text and the README's table come from it. */
export interface Flag {
  /** Without the dashes; the variable is `TOOLMOCK_` and this in capitals. */
  readonly name: string
  readonly short?: string
  readonly kind: FlagKind
  /** What stands for the value in help: `--port N`. */
  readonly placeholder?: string
  readonly default?: string | number | boolean | readonly string[]
  /** Whether it can be set by a variable too; a list is comma-separated there. */
  readonly variable: boolean
  readonly help: string
}

export type FlagKind =
  | { readonly type: 'switch' }
  | { readonly type: 'text' }
  | { readonly type: 'list' }
  | { readonly type: 'url' }
  | { readonly type: 'instant' }
  | { readonly type: 'amount' }
  | { readonly type: 'whole'; readonly min: number; readonly max: number }
  | { readonly type: 'choice'; readonly allowed: readonly string[] }

interface TypeOf {
  switch: boolean
  text: string
  list: readonly string[]
  url: string
  instant: Instant
  amount: string
  whole: number
  choice: string
}

type ValueOf<Entry extends Flag> = Entry['kind'] extends { allowed: readonly (infer Allowed)[] }
  ? Allowed
  : TypeOf[Entry['kind']['type']]

/** What a table of flags gives: a value for each that has a default (switches are off by default), else maybe undefined. */
export type FlagValues<Table extends readonly Flag[]> = {
  readonly [Entry in Table[number] as Entry['name']]: ValueOf<Entry> | Absent<Entry>
}
type Absent<Entry extends Flag> = Entry extends { default: unknown } | { kind: { type: 'switch' } } ? never : undefined

export function variableOf(flag: Flag): string | undefined {
  return flag.variable ? `TOOLMOCK_${flag.name.toUpperCase().replaceAll('-', '_')}` : undefined
}

export type Reading = { readonly value: string | number | boolean | readonly string[] } | { readonly expected: string }

/** Reads the text given for a flag, or says what would have been allowed. */
export function readValue(kind: FlagKind, text: string): Reading {
  switch (kind.type) {
    case 'switch':
      return readSwitch(text)
    case 'text':
      return text === '' ? { expected: 'a value' } : { value: text }
    case 'list':
      return text === '' ? { expected: 'a value' } : { value: [text] }
    case 'url':
      return readUrl(text)
    case 'instant':
      return readInstant(text)
    case 'amount':
      return /^(\d{1,6}|(\d|[1-9]\d|100)%)$/.test(text)
        ? { value: text }
        : { expected: 'a whole number, or a percentage from 0% to 100%' }
    case 'whole': {
      const inside = /^\d{1,9}$/.test(text) && Number(text) >= kind.min && Number(text) <= kind.max
      return inside ? { value: Number(text) } : { expected: `a whole number from ${kind.min} to ${kind.max}` }
    }
    case 'choice':
      return kind.allowed.includes(text) ? { value: text } : { expected: `one of ${kind.allowed.join(', ')}` }
  }
}

function readSwitch(text: string): Reading {
  const word = text.toLowerCase()
  if (['1', 'true', 'yes', 'on'].includes(word)) return { value: true }
  if (['0', 'false', 'no', 'off'].includes(word)) return { value: false }
  return { expected: 'true or false' }
}

/** Links and redirects are built on it, so it carries neither query nor fragment, nor a slash at its end. */
function readUrl(text: string): Reading {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url && /^https?:$/.test(url.protocol) && !/[?#\s]/.test(text) && url.username === ''
  return plain ? { value: url.href.replace(/\/+$/, '') } : { expected: 'an http or https URL without query' }
}

const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/i

/** A time without its zone would be another one on each machine. */
function readInstant(text: string): Reading {
  const at = INSTANT.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN
  const inside = at >= 0 && new Date(`${text.slice(0, 10)}T00:00Z`).getUTCDate() === Number(text.slice(8, 10))
  return inside
    ? { value: instant(at) }
    : { expected: 'an instant from 1970 on, such as 2026-01-31T09:00:00Z or 2026-01-31' }
}
