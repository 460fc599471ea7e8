import { resolve } from 'node:path'
import type { AppOptions } from '../app/app.ts'
import { type Arguments, readArguments, type Variables } from './arguments.ts'
import { START_FLAGS } from './flags.ts'
import { refuseTls, tlsOf } from './tls-arguments.ts'
import { UsageError } from './usage-error.ts'

export type StartArguments = Arguments<typeof START_FLAGS>

/** The arguments of `start`, with the contradictions among them refused. */
export function readStart(argv: readonly string[], variables: Variables): StartArguments {
  const read = readArguments(START_FLAGS, argv, variables)
  if (read.rest.length > 0) {
    throw new UsageError(`start takes flags only; found ${read.rest.join(' ')}. A seed file is given as --seed PATH.`)
  }
  for (const refuse of [twoStores, refuseTls, journalInState]) refuse(read)
  return read
}

function twoStores({ values, given }: StartArguments): void {
  if (values['in-memory'] && given.get('in-memory') === 'flag' && given.get('state') === 'flag') {
    throw new UsageError('--in-memory keeps no file and --state names one: give one of the two.')
  }
}

function journalInState(read: StartArguments): void {
  const [state, journal] = [stateOf(read), read.values.journal]
  if (state !== null && journal !== undefined && resolve(state) === resolve(journal)) {
    throw new UsageError(`--journal and --state both name ${journal}: the journal needs a file of its own.`)
  }
}

/** What the server is to be like. */
export function appOptions(read: StartArguments, log: AppOptions['log']): AppOptions {
  const { values, given } = read
  return {
    state: stateOf(read),
    fresh: values.fresh,
    durability: values.durability,
    // Only a seed that was asked for is missed when the state has one already.
    seeds: given.has('seed') ? values.seed : undefined,
    scenarios: values.scenario,
    clock: values.clock,
    freeze: values.freeze,
    idSeed: values['id-seed'],
    strict: values.strict,
    watch: values.watch,
    baseUrl: values['base-url'],
    adminToken: values['admin-token'],
    allowHosts: values['allow-host'],
    allowOutbound: values['allow-outbound'],
    tls: tlsOf(read, () => temporaryOf(read)),
    journalFile: values.journal,
    journalCapacity: values['journal-size'],
    bodyLimit: values['body-limit'],
    log,
  }
}

/** A file named by a flag wins over TOOLMOCK_IN_MEMORY, as any flag over any variable. */
function stateOf({ values, given }: StartArguments): string | null {
  return values['in-memory'] && given.get('state') !== 'flag' ? null : values.state
}

function temporaryOf(read: StartArguments): AppOptions['tls'] {
  const { values } = read
  const base = values['base-url']
  const state = stateOf(read)
  return {
    hosts: [values.host, ...(base === undefined ? [] : [new URL(base).hostname.replaceAll(/^\[|\]$/g, '')])],
    authorityFile: state === null ? undefined : `${state.replace(/\.json$/, '')}.authority.pem`,
  }
}
