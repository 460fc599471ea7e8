import type { createSimulator, Simulator, SimulatorOptions } from '../simulator.ts'
import { type Arguments, mistypedVariables, readArguments, type Variables } from './arguments.ts'
import type { Surroundings } from './command.ts'
import { listenFailure } from './failure.ts'
import { START_FLAGS } from './flags.ts'
import { createLog } from './log.ts'
import { readyLines } from './ready-line.ts'
import { stopSignal } from './stop-signal.ts'
import { UsageError } from './usage-error.ts'

type StartArguments = Arguments<typeof START_FLAGS>

/** Serves until it is told to stop, then closes once, which writes the state. */
export async function start(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const stop = stopSignal()
  const given = readStart(argv, surroundings.variables)
  const { createSimulator } = await import('../simulator.ts')
  const simulator = await serve(given, surroundings, createSimulator)
  await stop
  await simulator.close()
  // Whatever a client still holds open must not keep the process.
  process.exit(0)
}

/** The arguments of `start`, with the contradictions among them refused. */
export function readStart(argv: readonly string[], variables: Variables): StartArguments {
  const read = readArguments(START_FLAGS, argv, variables)
  if (read.rest.length > 0) {
    throw new UsageError(`start takes flags only; found ${read.rest.join(' ')}. A seed file is given as --seed PATH.`)
  }
  if (read.values['in-memory'] && read.given.get('in-memory') === 'flag' && read.given.get('state') === 'flag') {
    throw new UsageError('--in-memory keeps no file and --state names one: give one of the two.')
  }
  return read
}

/** Builds the simulator, listens, and says so; what the start has to tell follows as log lines. */
export async function serve(
  given: StartArguments,
  surroundings: Surroundings,
  create: typeof createSimulator,
): Promise<Simulator> {
  const { values } = given
  const log = createLog(values['log-level'], values.json, surroundings.err)
  const simulator = await create(simulatorOptions(given, log))
  try {
    const { url } = await simulator.listen({ host: values.host, port: values.port })
    surroundings.out(readyLines({ url: values['base-url'] ?? url, client: simulator.client }, values.json))
  } catch (error) {
    await simulator.close()
    throw listenFailure(error, values.host, values.port)
  }
  for (const notice of simulator.notices) log.warn(notice)
  for (const notice of mistypedVariables(START_FLAGS, surroundings.variables)) log.warn(notice)
  return simulator
}

function simulatorOptions({ values, given }: StartArguments, log: SimulatorOptions['log']): SimulatorOptions {
  // A file named by a flag wins over TOOLMOCK_IN_MEMORY, as any flag over any variable.
  const inMemory = values['in-memory'] && given.get('state') !== 'flag'
  return {
    state: inMemory ? null : values.state,
    fresh: values.fresh,
    seeds: values.seed,
    strict: values.strict,
    baseUrl: values['base-url'],
    log,
  }
}
