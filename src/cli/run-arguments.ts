import type { AppOptions } from '../app/app.ts'
import { type Arguments, firstOperand, readArguments, type Variables } from './arguments.ts'
import { RUN_FLAGS } from './run-flags.ts'
import { refuseTls, tlsOf } from './tls-arguments.ts'
import { UsageError } from './usage-error.ts'

/** The program and its arguments. */
export type CommandLine = readonly [program: string, ...args: string[]]

export interface RunArguments extends Arguments<typeof RUN_FLAGS> {
  readonly command: CommandLine
}

export const LOOPBACK = '127.0.0.1'

/** What comes before the first `--` is ours, and the rest is the command's. @throws UsageError */
export function readRun(argv: readonly string[], variables: Variables): RunArguments {
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  const stray = firstOperand(own, RUN_FLAGS)
  const read = readArguments(RUN_FLAGS, stray === -1 ? own : own.slice(0, stray), variables)
  if (stray !== -1) {
    const meant = ['toolmock run', ...argv.slice(0, stray), '--', ...argv.slice(stray)]
    throw new UsageError(`run takes its command after --: ${meant.join(' ')}.`)
  }
  const [program, ...args] = end === -1 ? [] : argv.slice(end + 1)
  if (program === undefined || program === '')
    throw new UsageError('run needs a command after --, as in toolmock run -- npm test.')
  refuseTls(read)
  return { ...read, command: [program, ...args] }
}

/** What the server is to be like: nothing of it outlives the command. */
export function appOptions(read: RunArguments, log: AppOptions['log']): AppOptions {
  const { values } = read
  return {
    state: null,
    seeds: values.seed,
    scenarios: values.scenario,
    clock: values.clock,
    freeze: values.freeze,
    idSeed: values['id-seed'],
    strict: values.strict,
    allowOutbound: values['allow-outbound'],
    tls: tlsOf(read, () => ({ hosts: [LOOPBACK] })),
    journalFile: values.journal,
    journalCapacity: values['journal-size'],
    bodyLimit: values['body-limit'],
    log,
  }
}
