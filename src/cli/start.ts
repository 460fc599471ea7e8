import type { createApp, App } from '../app/app.ts'
import { mistypedVariables } from './arguments.ts'
import type { Surroundings } from './command.ts'
import { listenFailure } from './failure.ts'
import { START_FLAGS } from './flags.ts'
import { createLog } from './log.ts'
import { type Ready, readyLines } from './ready-line.ts'
import { readStart, appOptions, type StartArguments } from './start-arguments.ts'
import { stopSignal } from './stop-signal.ts'

/** Serves until it is told to stop, then closes once, which writes the state. */
export async function start(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const stop = stopSignal()
  const given = readStart(argv, surroundings.variables)
  const { createApp } = await import('../app/app.ts')
  const app = await serve(given, surroundings, createApp)
  await stop
  await app.close()
  // Whatever a client still holds open must not keep the process.
  process.exit(0)
}

/** Builds the server, listens, and says so; what the start has to tell follows as log lines. */
export async function serve(given: StartArguments, surroundings: Surroundings, create: typeof createApp): Promise<App> {
  const { values } = given
  const log = createLog(values['log-level'], values.json, surroundings.err)
  const app = await create(appOptions(given, log))
  try {
    const { url } = await app.listen({ host: values.host, port: values.port })
    surroundings.out(readyLines(readyOf(app, { url: values['base-url'] ?? url, listening: url }), values.json))
  } catch (error) {
    await app.close()
    throw listenFailure(error, values.host, values.port)
  }
  for (const notice of app.notices) log.warn(notice)
  for (const notice of mistypedVariables(START_FLAGS, surroundings.variables)) log.warn(notice)
  return app
}

function readyOf({ client, authorityFile }: App, at: Pick<Ready, 'url' | 'listening'>): Ready {
  return { ...at, client, authorityFile }
}
