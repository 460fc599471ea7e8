import { resolve } from 'node:path'
import type { AppOptions } from '../app.ts'
import { isDatabaseUrl, isUrl } from '../options.ts'
import { quote } from '../../model/domain/text.ts'
import { type Arguments, type Configuration, isSetByStrongerSource, readArguments } from './arguments.ts'
import { UsageError } from './failure.ts'
import { COMMAND_NAMES } from './command-table.ts'

type StartArguments = Arguments<'start'>
type RunArguments = Arguments<'run'>

export type CommandLine = readonly [program: string, ...args: string[]]

export const LOOPBACK = '127.0.0.1'

/** @throws UsageError for operands, and for flags that contradict each other */
export function checkStart(read: StartArguments): void {
  const { values, setBy, operands } = read
  if (operands.length > 0) {
    const command = COMMAND_NAMES.find((name) => name === operands[0])
    const hint =
      command === undefined
        ? 'A seed file is given as --seed PATH.'
        : `Flags come after the command: npx toolmock ${command} FLAG….`
    throw new UsageError(`start takes flags only; found ${operands.join(' ')}. ${hint}`)
  }
  const [state, inMemory] = [setBy.get('state'), setBy.get('in-memory')]
  if (values['in-memory'] && inMemory === state && state !== 'variable') {
    throw new UsageError('--in-memory keeps no file and --state names one: give one of the two.')
  }
  refuseTlsConflict(read)
  const [file, journal] = [stateFileOption(read), values.journal]
  if (file !== null && journal !== undefined && resolve(file) === resolve(journal)) {
    throw new UsageError(`--journal and --state both name ${journal}: the journal needs a file of its own.`)
  }
  refuseWithDatabase(read, file)
}

/** @throws UsageError for flags that contradict a state in a database, or mean nothing without one */
function refuseWithDatabase({ values, setBy }: StartArguments, state: string | null): void {
  checkSchema(values['state-schema'])
  if (state !== null && isUrl(state) && !isDatabaseUrl(state)) {
    throw new UsageError(
      '--state names neither a file nor a PostgreSQL database: give FILE, or postgres://USER:PASSWORD@HOST/DATABASE.',
    )
  }
  if (isDatabaseUrl(state)) {
    if (values.fresh) {
      throw new UsageError(
        '--fresh replaces the whole state, which other replicas may be serving: it cannot be used with a database. Reset an environment by toolmock reset, or give --state-schema NAME for other tables.',
      )
    }
    if (values.detach) {
      throw new UsageError('--detach keeps a server of this folder, and a replica is one of several: start it without.')
    }
    return
  }
  for (const name of ['state-schema', 'lease', 'replica-url'] as const) {
    if (setBy.get(name) === 'flag')
      throw new UsageError(`--${name} is for a state in a database: give --state postgres://… with it.`)
  }
}

/** @throws UsageError for a name that needs more than quotes in SQL */
export function checkSchema(name: string): void {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(name)) return
  throw new UsageError(
    `--state-schema ${quote(name)} is no name of a schema: 1 to 63 lower-case letters, digits and _, no digit first.`,
  )
}

/** The command of `run`. @throws UsageError also for flags that contradict each other */
export function programOf(read: RunArguments): CommandLine {
  const { values, setBy, operands, argv } = read
  const [separator = '--', program, ...args] = operands
  if (separator !== '--') {
    const meant = ['npx toolmock run', ...argv.slice(0, argv.length - operands.length), '--', ...operands]
    throw new UsageError(`run takes its command after --: ${meant.join(' ')}.`)
  }
  if (program === undefined || program === '') {
    throw new UsageError('run needs a command after --, as in npx toolmock run -- npm test.')
  }
  refuseTlsConflict(read)
  for (const name of ['parallel', 'repeat'] as const) {
    if (setBy.get(name) !== 'flag' || values.cases !== undefined) continue
    throw new UsageError(`--${name} says how cases are run: give --cases FILE with it.`)
  }
  return [program, ...args]
}

export function startOptions(read: StartArguments, log: AppOptions['log']): AppOptions {
  const { values } = read
  return {
    ...mockOptions(read),
    journalFile: values.journal,
    state: stateFileOption(read),
    stateSchema: values['state-schema'],
    lease: values.lease,
    replicaUrl: values['replica-url'],
    fresh: values.fresh,
    durability: values.durability,
    watch: values.watch,
    baseUrl: values['base-url'],
    adminToken: values['admin-token'],
    allowHosts: values['allow-host'],
    tls: tlsOption(read, () => temporaryCertificate(read)),
    log,
  }
}

/** The server that `run` starts; nothing of it outlives the command. */
export function runOptions(read: RunArguments, log: AppOptions['log']): AppOptions {
  return {
    ...mockOptions(read),
    journalFile: read.values.journal,
    state: null,
    tls: tlsOption(read, () => ({ hosts: [LOOPBACK] })),
    log,
  }
}

/** The mock that a configuration describes: not where it listens, nor what it writes. */
export function mockOfConfiguration(configuration: Configuration | undefined): AppOptions {
  return mockOptions(readArguments('run', [], { variables: {}, configuration }))
}

function mockOptions({ values, setBy, configuration }: StartArguments | RunArguments): AppOptions {
  return {
    // The notice that a seed was not applied is for a seed that was asked for, not for the default.
    seeds: setBy.has('seed') ? values.seed : undefined,
    webhooks: configuration?.webhooks ?? [],
    scenarios: values.scenario,
    extensions: values.extension,
    clock: values.clock,
    freeze: values.freeze,
    idSeed: values['id-seed'],
    strict: values.strict,
    documentedOnly: values['documented-only'],
    descriptors: values.descriptors,
    mcp: values.mcp,
    allowOutbound: values['allow-outbound'],
    journalCapacity: values['journal-size'],
    // Without the flag, bodies of the control API have a limit of their own.
    bodyLimit: setBy.has('body-limit') ? values['body-limit'] : undefined,
  }
}

/** A state file given by flag wins over TOOLMOCK_IN_MEMORY, as any flag wins over any variable. */
function stateFileOption(read: StartArguments): string | null {
  return read.values['in-memory'] && !isSetByStrongerSource(read, 'state', 'in-memory') ? null : read.values.state
}

function refuseTlsConflict({ values, setBy }: StartArguments | RunArguments): void {
  const [cert, key] = [values['tls-cert'], values['tls-key']]
  // A flag wins over the variable of the other one; two flags, or two variables, contradict each other.
  if (values.tls && cert !== undefined && setBy.get('tls') === setBy.get('tls-cert')) {
    throw new UsageError('--tls makes a certificate and --tls-cert names one: give one of the two.')
  }
  if (cert !== undefined && key === undefined) throw new UsageError('--tls-cert needs --tls-key, the file of its key.')
  if (key !== undefined && cert === undefined) {
    throw new UsageError('--tls-key needs --tls-cert, the file of its certificate.')
  }
}

function tlsOption(read: StartArguments | RunArguments, temporary: () => AppOptions['tls']): AppOptions['tls'] {
  const { values } = read
  const [cert, key] = [values['tls-cert'], values['tls-key']]
  const isOwn = cert !== undefined && key !== undefined && !isSetByStrongerSource(read, 'tls', 'tls-cert')
  if (isOwn) return { cert, key }
  return values.tls ? temporary() : undefined
}

function temporaryCertificate(read: StartArguments): AppOptions['tls'] {
  const { values } = read
  const base = values['base-url']
  const state = stateFileOption(read)
  return {
    hosts: [values.host, ...(base === undefined ? [] : [new URL(base).hostname.replaceAll(/^\[|\]$/g, '')])],
    authorityFile: state === null ? undefined : `${state.replace(/\.json$/, '')}.authority.pem`,
  }
}
