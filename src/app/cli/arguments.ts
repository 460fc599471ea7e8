import { ADMIN_TOKEN_RULE, isAdminToken } from '../../model/domain/secret.ts'
import { BASE_URL_RULE, isBaseUrl } from '../../model/domain/base-url.ts'
import { maskUrl } from '../../model/domain/masking.ts'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { instant, instantOf } from '../../model/domain/instant.ts'
import { nearest } from '../../model/domain/suggestion.ts'
import type { Webhook } from '../../model/domain/webhook.ts'
import { hintFor, UsageError } from './failure.ts'
import {
  type CommandName,
  type Flag,
  type FlagKind,
  flagsOf,
  type FlagValues,
  commandRow,
  settingFlags,
  variableOf,
} from './command-table.ts'

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

export interface Arguments<Command extends CommandName> {
  readonly values: FlagValues<Command>
  readonly setBy: ReadonlyMap<string, OptionSource>
  /** Of a command that wraps another, its command line, with the `--` before it. */
  readonly operands: readonly string[]
  /** All words after the name of the command. */
  readonly argv: readonly string[]
  /** Undefined where there is no file, and for commands that read none. */
  readonly configuration: Configuration | undefined
}

/** What sets a value: a flag wins over a variable, which wins over the configuration file. */
type OptionSource = 'flag' | 'variable' | 'file'
const ORIGINS: readonly (OptionSource | undefined)[] = [undefined, 'file', 'variable', 'flag']

/** Whether one flag was set by a stronger origin than another one. */
export function isSetByStrongerSource(
  { setBy }: Pick<Arguments<'start'>, 'setBy'>,
  name: string,
  rival: string,
): boolean {
  return ORIGINS.indexOf(setBy.get(name)) > ORIGINS.indexOf(setBy.get(rival))
}

export type Value = string | number | boolean | readonly string[]

/** A configuration file, as flags have it. */
export interface Configuration {
  /** Its path, as messages show it. */
  readonly file: string
  /** By the names of the flags. */
  readonly values: ReadonlyMap<string, Value>
  /** Why each allowed violation is allowed, by its text. */
  readonly reasons: ReadonlyMap<string, string>
  readonly webhooks: readonly Webhook[]
}

export interface Surroundings {
  readonly variables: EnvironmentVariables
  readonly configuration?: Configuration | undefined
}

/** @throws UsageError naming flag or variable, what was found and is allowed; for operands that it does not take */
export function readArguments<Command extends CommandName>(
  command: Command,
  argv: readonly string[],
  surroundings: Surroundings,
): Arguments<Command> {
  const flags = flagsOf(command)
  const values = new Map<string, Value | undefined>()
  const sources = new Map<string, OptionSource>()
  const words = ownWords(command, argv)
  const operands: string[] = []
  for (const token of argumentTokens(flags, words)) {
    if (token.kind === 'positional') operands.push(token.value)
    if (token.kind !== 'option') continue
    const [{ name }, value] = flagIn(token, flags)
    const earlier = values.get(name)
    values.set(name, isList(value) && isList(earlier) ? [...earlier, ...value] : value)
    sources.set(name, 'flag')
  }
  for (const flag of flags.filter(({ name }) => !sources.has(name))) {
    const { value, origin } = settingOf(flag, surroundings)
    if (origin) sources.set(flag.name, origin)
    values.set(flag.name, value)
  }
  if (operands.length > 0 && commandRow(command).operands === undefined)
    throw new UsageError(`${command} takes no ${operands.join(' ')}.`)
  return {
    // The table of flags says which type each name has; a Map cannot carry that.
    values: Object.fromEntries(values) as FlagValues<Command>,
    setBy: sources,
    operands: [...operands, ...argv.slice(words.length)],
    argv,
    configuration: surroundings.configuration,
  }
}

/** The words for toolmock itself: all, or those before the first operand or `--` of a command that wraps another. */
export function ownWords(command: CommandName, argv: readonly string[]): readonly string[] {
  if (!commandRow(command).wraps) return argv
  return argv.slice(0, argumentTokens(flagsOf(command), argv).find(({ kind }) => kind !== 'option')?.index)
}

/** The value of a flag that is not on the command line, and what set it; undefined for a default. @throws UsageError */
export function settingOf(
  flag: Flag,
  { variables, configuration }: Surroundings,
): { readonly value: Value | undefined; readonly origin: OptionSource | undefined } {
  const set = variableValue(flag, variables)
  if (set !== undefined) return { value: set, origin: 'variable' }
  const written = flag.variable ? configuration?.values.get(flag.name) : undefined
  if (written !== undefined) return { value: written, origin: 'file' }
  return { value: flag.default ?? (flag.kind.type === 'switch' ? false : undefined), origin: undefined }
}

export function namedConfiguration(
  command: CommandName,
  argv: readonly string[],
  variables: EnvironmentVariables,
): string | undefined {
  const configToken = argumentTokens(flagsOf(command), ownWords(command, argv)).findLast(
    (token) => token.kind === 'option' && token.name === 'config',
  )
  // An empty name is refused when the flags are read.
  return (
    (configToken?.kind === 'option' ? configToken.value : undefined) ||
    variables['TOOLMOCK_CONFIG']?.trim() ||
    undefined
  )
}

function isList(value: Value | undefined): value is readonly string[] {
  return Array.isArray(value)
}

function variableValue(flag: Flag, variables: EnvironmentVariables): Value | undefined {
  const name = variableOf(flag)
  const text = name === undefined ? undefined : variables[name]?.trim()
  // Compose files and workflows set variables to an empty text when they mean that they are not set.
  if (name === undefined || text === undefined || text === '') return undefined
  if (flag.kind.type === 'list') {
    const items = text.split(',').map((item) => item.trim())
    return items.filter((item) => item !== '')
  }
  return readValue(flag.kind, text, `${name}=${text}`)
}

/** @throws UsageError for a flag that is not known, and for a value that it does not take */
function flagIn(token: OptionToken, flags: readonly Flag[]): readonly [flag: Flag, value: Value | undefined] {
  const negated = token.name.startsWith('no-') ? token.name.slice('no-'.length) : undefined
  const flag = flags.find(({ name }) => name === token.name || name === negated)
  const isNegated = flag?.name === negated
  if (!flag || (isNegated && flag.kind.type !== 'switch' && flag.kind.type !== 'admin-token'))
    throw unknownFlag(flags, token.rawName)
  if (flag.kind.type === 'switch') return [flag, switchValue(flag, token, isNegated)]
  if (isNegated && token.value !== undefined) throw new UsageError(`--no-${flag.name} takes no value.`)
  return [flag, isNegated ? undefined : textValue(flag, token)]
}

/** No flag begins so: a word such as `-2h` or `-PT5M` is an operand. */
const NEGATIVE = /^-P?T?\d/

/** Not strict, because the messages of `parseArgs` name neither what is allowed nor what was probably meant. */
function argumentTokens(flags: readonly Flag[], argv: readonly string[]): readonly Token[] {
  const options: NonNullable<ParseArgsConfig['options']> = {}
  for (const { name, short, kind } of flags) {
    options[name] = { type: kind.type === 'switch' ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) }
  }
  const parsed = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true }).tokens
  // `parseArgs` takes each letter of such a word for a flag.
  return parsed.flatMap((token, at): Token[] => {
    const { index } = token
    const value = argv[index] ?? ''
    if (token.kind !== 'option' || !NEGATIVE.test(value)) return [token]
    return parsed[at - 1]?.index === index ? [] : [{ kind: 'positional', index, value }]
  })
}
type Token = ReturnType<typeof parseArgs<{ strict: false; tokens: true }>>['tokens'][number]
type OptionToken = Extract<Token, { kind: 'option' }>

function switchValue(flag: Flag, token: OptionToken, isNegated: boolean): boolean {
  if (token.value === undefined) return !isNegated
  if (isNegated) throw new UsageError(`--no-${flag.name} takes no value; found ${token.value}.`)
  return readValue(flag.kind, token.value, `--${flag.name}=${token.value}`) === true
}

function textValue(flag: Flag, token: OptionToken): Value {
  const isNextFlag = token.value?.startsWith('-') === true && token.inlineValue !== true
  if (token.value === undefined || isNextFlag) {
    throw new UsageError(`--${flag.name} needs a value: --${flag.name} ${flag.placeholder ?? 'VALUE'} (${flag.help}).`)
  }
  return readValue(flag.kind, token.value, `--${flag.name} ${token.value}`)
}

function unknownFlag(flags: readonly Flag[], written: string): UsageError {
  const shorts = flags.flatMap(({ short }) => (short === undefined ? [] : [`-${short}`]))
  if (!written.startsWith('--')) return new UsageError(`${written} is not known; short flags are ${shorts.join(', ')}.`)
  const names = flags.map(({ name }) => name)
  const all = `Known are ${names.map((name) => `--${name}`).join(', ')}.`
  return new UsageError(`${written} is not known. ${hintFor(written.replace(/^-+/, ''), names, all, '--')}`)
}

/** @throws UsageError with `where`, and with what is allowed */
function readValue(kind: FlagKind, text: string, where: string): Value {
  const read = valueIn(kind, text)
  if ('value' in read) return read.value
  // The message repeats no secret: neither the token, nor the user and password of an address.
  const valueText = kind.type === 'admin-token' ? '…' : kind.type === 'url' ? maskUrl(text) : text
  const place = text === '' ? where : `${where.slice(0, -text.length)}${valueText}`
  throw new UsageError(`${place}: expected ${read.expected}.`)
}

/** The value of a flag that a text stands for, or what is allowed where it is none. */
export function valueIn(kind: FlagKind, text: string): { readonly value: Value } | { readonly expected: string } {
  switch (kind.type) {
    case 'switch': {
      const word = text.toLowerCase()
      if (['1', 'true', 'yes', 'on'].includes(word)) return { value: true }
      return ['0', 'false', 'no', 'off'].includes(word) ? { value: false } : { expected: 'true or false' }
    }
    case 'text':
    case 'list':
      if (text === '') return { expected: 'a value' }
      return { value: kind.type === 'list' ? [text] : text }
    case 'url':
      return isBaseUrl(text) ? { value: new URL(text).href.replace(/\/+$/, '') } : { expected: BASE_URL_RULE }
    case 'admin-token':
      if (text === '') return { expected: 'a value' }
      // A header carries the token and drops its outer blanks.
      return isAdminToken(text) ? { value: text } : { expected: ADMIN_TOKEN_RULE }
    case 'instant': {
      const at = instantOf(text.toUpperCase())
      if (at !== undefined && at >= 0) return { value: instant(at) }
      return { expected: 'an instant from 1970 on, such as 2026-01-31T09:00:00Z or 2026-01-31' }
    }
    case 'whole': {
      const isWithin = /^\d{1,9}$/.test(text) && Number(text) >= kind.min && Number(text) <= kind.max
      return isWithin ? { value: Number(text) } : { expected: `a whole number from ${kind.min} to ${kind.max}` }
    }
    case 'choice':
      return kind.allowed.includes(text) ? { value: text } : { expected: `one of ${kind.allowed.join(', ')}` }
  }
}

/** Set for a server in the background, which tells the command that started it when it is ready. */
export const DETACHED = 'TOOLMOCK_DETACHED'

/** Variables that are set for others, or by `toolmock` itself. */
const OTHER_VARIABLES = [
  'TOOLMOCK_URL',
  'TOOLMOCK_CLIENT_ID',
  'TOOLMOCK_CLIENT_SECRET',
  'TOOLMOCK_RUN',
  'TOOLMOCK_CASE',
  DETACHED,
]

/** Variables whose name is nearly one that is read; they would otherwise be ignored without a word. */
export function mistypedVariables(variables: EnvironmentVariables): string[] {
  const others = Object.keys(variables).filter(
    (name) => name.startsWith('TOOLMOCK_') && !OTHER_VARIABLES.includes(name),
  )
  // As a rule: reading all the flags for nothing would cost every start 4 MB.
  if (others.length === 0) return []
  const variableNames = settingFlags().flatMap((flag) => variableOf(flag) ?? [])
  return others.flatMap((name) => {
    if (variableNames.includes(name)) return []
    const meant = nearest(
      name.slice('TOOLMOCK_'.length),
      variableNames.map((variable) => variable.slice('TOOLMOCK_'.length)),
    )
    return meant === undefined ? [] : [`${name} is not read; did you mean TOOLMOCK_${meant}?`]
  })
}
