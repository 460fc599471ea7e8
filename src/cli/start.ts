import type { createSimulator, Simulator } from '../app/app.ts'
import { mistypedVariables } from './arguments.ts'
import type { Surroundings } from './command.ts'
import { listenFailure } from './failure.ts'
import { START_FLAGS } from './flags.ts'
import { createLog } from './log.ts'
import { type Ready, readyLines } from './ready-line.ts'
import { readStart, simulatorOptions, type StartArguments } from './start-arguments.ts'
import { stopSignal } from './stop-signal.ts'

/** Serves until it is told to stop, then closes once, which writes the state. */
export async function start(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const stop = stopSignal()
  const given = readStart(argv, surroundings.variables)
  const { createSimulator } = await import('../app/app.ts')
  const simulator = await serve(given, surroundings, createSimulator)
  await stop
  await simulator.close()
  // Whatever a client still holds open must not keep the process.
  process.exit(0)
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
    surroundings.out(readyLines(readyOf(simulator, { url: values['base-url'] ?? url, listening: url }), values.json))
  } catch (error) {
    await simulator.close()
    throw listenFailure(error, values.host, values.port)
  }
  for (const notice of simulator.notices) log.warn(notice)
  for (const notice of mistypedVariables(START_FLAGS, surroundings.variables)) log.warn(notice)
  return simulator
}

function readyOf({ client, authorityFile }: Simulator, at: Pick<Ready, 'url' | 'listening'>): Ready {
  return { ...at, client, authorityFile }
}
