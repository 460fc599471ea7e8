import { parseArgs, type ParseArgsConfig } from 'node:util'
import { nearest } from '../domain/suggestion.ts'
import { type Flag, type FlagValues, type Reading, readValue, variableOf } from './flag.ts'
import { UsageError } from './usage-error.ts'

/** The variables of the process, as in `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>

export interface Arguments<Table extends readonly Flag[]> {
  readonly values: FlagValues<Table>
  /** Where a value came from; a flag that is absent here has its default. */
  readonly given: ReadonlyMap<string, 'flag' | 'variable'>
  /** What is no flag. */
  readonly rest: readonly string[]
}

type Value = Extract<Reading, { value: unknown }>['value']

/**
 * Reads flags and variables by a table of flags; a flag wins over its variable, which wins over the default.
 * @throws UsageError naming the flag or variable, what was found and what is allowed
 */
export function readArguments<const Table extends readonly Flag[]>(
  table: Table,
  argv: readonly string[],
  variables: Variables,
): Arguments<Table> {
  const values = new Map<string, Value | undefined>()
  const given = new Map<string, 'flag' | 'variable'>()
  for (const flag of table) {
    const value = fromVariable(flag, variables)
    if (value !== undefined) given.set(flag.name, 'variable')
    values.set(flag.name, value ?? flag.default ?? (flag.kind.type === 'switch' ? false : undefined))
  }
  const rest = readFlags(table, argv, (flag, value) => {
    const earlier = given.get(flag.name) === 'flag' ? values.get(flag.name) : undefined
    values.set(flag.name, isList(value) && isList(earlier) ? [...earlier, ...value] : value)
    given.set(flag.name, 'flag')
  })
  // The table says which type each name has; a Map cannot carry that.
  return { values: Object.fromEntries(values) as FlagValues<Table>, given, rest }
}

function isList(value: Value | undefined): value is readonly string[] {
  return Array.isArray(value)
}

function fromVariable(flag: Flag, variables: Variables): Value | undefined {
  const name = variableOf(flag)
  const text = name === undefined ? undefined : variables[name]?.trim()
  // Compose files and workflows set variables to nothing when they mean not at all.
  if (name === undefined || text === undefined || text === '') return undefined
  if (flag.kind.type === 'list') {
    const items = text.split(',').map((item) => item.trim())
    return items.filter((item) => item !== '')
  }
  return valueOf(readValue(flag.kind, text), `${name}=${text}`)
}

function readFlags(
  table: readonly Flag[],
  argv: readonly string[],
  found: (flag: Flag, value: Value) => void,
): string[] {
  const rest: string[] = []
  for (const token of tokens(table, argv)) {
    if (token.kind === 'positional') rest.push(token.value)
    if (token.kind !== 'option') continue
    const negative = token.name.startsWith('no-') ? token.name.slice('no-'.length) : undefined
    const flag = table.find(({ name }) => name === token.name || name === negative)
    if (!flag || (flag.name === negative && flag.kind.type !== 'switch')) throw unknownFlag(table, token.rawName)
    found(flag, flag.kind.type === 'switch' ? switched(flag, token, negative !== undefined) : written(flag, token))
  }
  return rest
}

/** Not strict, because the messages of `parseArgs` name neither what is allowed nor what was probably meant. */
function tokens(table: readonly Flag[], argv: readonly string[]): readonly Token[] {
  const options: NonNullable<ParseArgsConfig['options']> = {}
  for (const { name, short, kind } of table) {
    options[name] = { type: kind.type === 'switch' ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) }
  }
  return parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true }).tokens
}
type Token = ReturnType<typeof parseArgs<{ strict: false; tokens: true }>>['tokens'][number]
type OptionToken = Extract<Token, { kind: 'option' }>

function switched(flag: Flag, token: OptionToken, negative: boolean): boolean {
  if (token.value === undefined) return !negative
  if (negative) throw new UsageError(`--no-${flag.name} takes no value; found ${token.value}.`)
  return valueOf(readValue(flag.kind, token.value), `--${flag.name}=${token.value}`) === true
}

function written(flag: Flag, token: OptionToken): Value {
  const eaten = token.value?.startsWith('-') === true && token.inlineValue !== true
  if (token.value === undefined || eaten) {
    throw new UsageError(`--${flag.name} needs a value: --${flag.name} ${flag.placeholder ?? 'VALUE'} (${flag.help}).`)
  }
  return valueOf(readValue(flag.kind, token.value), `--${flag.name} ${token.value}`)
}

function valueOf(reading: Reading, where: string): Value {
  if ('value' in reading) return reading.value
  throw new UsageError(`${where}: expected ${reading.expected}.`)
}

function unknownFlag(table: readonly Flag[], written: string): UsageError {
  const meant = nearest(
    written.replace(/^-+/, ''),
    table.map(({ name }) => name),
  )
  const all = table.map(({ name }) => `--${name}`).join(', ')
  return new UsageError(
    `${written} is not known. ${meant === undefined ? `Known are ${all}.` : `Did you mean --${meant}?`}`,
  )
}

/** Variables that look like one of ours with a slip in the name, which would otherwise be passed over in silence. */
export function mistypedVariables(table: readonly Flag[], variables: Variables): string[] {
  const known = table.map(variableOf).filter((name) => name !== undefined)
  return Object.keys(variables).flatMap((name) => {
    const ours = known.includes(name) || ['TOOLMOCK_URL', 'TOOLMOCK_CLIENT_ID', 'TOOLMOCK_CLIENT_SECRET'].includes(name)
    if (ours || !name.startsWith('TOOLMOCK_')) return []
    const meant = nearest(
      name.slice('TOOLMOCK_'.length),
      known.map((other) => other.slice('TOOLMOCK_'.length)),
    )
    return meant === undefined ? [] : [`${name} is not read; did you mean TOOLMOCK_${meant}?`]
  })
}

/** Where the first operand stands; -1 when there are flags alone. */
export function firstOperand(argv: readonly string[], known: readonly Flag[]): number {
  const takesNext = (word: string | undefined): boolean =>
    known.some(({ name, kind }) => word === `--${name}` && kind.type !== 'switch')
  return argv.findIndex((word, at) => !word.startsWith('-') && !takesNext(argv[at - 1]))
}
