import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import type { App } from '../app.ts'
import { isLoopback, listenAddresses } from '../../model/domain/loopback.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { systemCode } from '../../model/domain/system-error.ts'
import { shellQuote } from '../../model/domain/text.ts'
import { VERSION } from '../../model/version.ts'
import { type Arguments, DETACHED, mistypedVariables } from './arguments.ts'
import type { CommandContext, Run } from './command.ts'
import { createLog } from './log.ts'
import { withProgress } from './progress.ts'
import { RequestLog } from './request-log.ts'
import { SERVER_FILE } from './running-server.ts'
import { checkStart, startOptions } from './server-options.ts'
import { StopRequest } from './stop.ts'

/** Serves until SIGINT or SIGTERM, then closes, which writes the state. */
export const start: Run<'start'> = async (args, context) => {
  checkStart(args)
  if (args.values.detach) return (await import('./detached.ts')).startDetached(args, context)
  // On one core, V8's threads that look for garbage take the processor from requests. It is set before they first run.
  if (availableParallelism() === 1) setFlagsFromString('--no-concurrent-marking')
  using stop = new StopRequest()
  const requests = requestLogOf(args, context)
  const app = await serveUntilStopped(args, context, { requests, stop })
  await stop.asked
  await app.close()
  requests?.flush()
  if (context.variables[DETACHED] !== undefined) await rm(SERVER_FILE, { force: true })
  // Connections that clients hold open must not keep the process.
  process.exit(stop.exitCode)
}

/** Undefined where no line is wanted: with `--quiet`, and where the log leaves out what is no warning. */
function requestLogOf({ values }: Arguments<'start'>, context: CommandContext): RequestLog | undefined {
  const { quiet, json, 'log-level': level } = values
  if (quiet || level === 'error' || level === 'warn') return undefined
  return new RequestLog(context, { json, withControl: level === 'debug' })
}

async function serveUntilStopped(
  args: Arguments<'start'>,
  context: CommandContext,
  { requests, stop }: { readonly requests: RequestLog | undefined; readonly stop: StopRequest },
): Promise<App> {
  const { createApp } = await import('../app.ts')
  const { values } = args
  const { host, port } = values
  const log = createLog(values['log-level'], values.json, context.err)
  const { progress } = values.json ? {} : context
  const err = (line: string): void => (values.json ? log.info(line) : context.err(line))
  const app = await withProgress({ progress, err }, 'Starting', (say) =>
    createApp({
      ...startOptions(args, log),
      progress: progress ? say : (what) => err(`Starting: ${what} …`),
      observeEntry: requests?.observe,
      observeControl: requests?.observeControl,
      shutdown: stop.ask,
      tryAddress: () => tryAddress(host, port),
    }),
  )
  try {
    const listening = app.listen({ host, port })
    // A replica reads the state in the meantime. Closing ends that.
    const bound = await Promise.race([listening, stop.asked])
    if (!bound) {
      listening.catch(() => undefined)
      return app
    }
    const { url } = bound
    const ready = readyOf(app, { url: values['base-url'] ?? url, listening: url }, values.json)
    context.out(ready.text)
    const notices = noticesOf(app, args, context)
    if (context.variables[DETACHED] !== undefined) process.send?.({ ...ready, notices })
  } catch (error) {
    await app.close()
    throw listenFailure(error, host, port)
  }
  return app
}

/** Logs what is to be said of a start, and returns the lines. */
function noticesOf(app: App, args: Arguments<'start'>, context: CommandContext): string[] {
  const { values, configuration } = args
  const lines: string[] = []
  const log = createLog(values['log-level'], values.json, (line) => lines.push(line))
  for (const notice of [...app.notices, ...openNotice(args), ...mistypedVariables(context.variables)]) log.warn(notice)
  if (configuration) log.info(`the configuration is that of ${configuration.file}`)
  for (const line of lines) context.err(line)
  return lines
}

/** @throws StartError for an address at which no server can listen now */
async function tryAddress(host: string, port: number): Promise<void> {
  try {
    const server = createServer()
    await once(server.listen({ host: listenAddresses(host)[0], port }), 'listening')
    await once(server.close(), 'close')
  } catch (error) {
    throw listenFailure(error, host, port)
  }
}

/** The image, whose variable is no flag, says it in its documentation. */
function openNotice({ values, setBy }: Arguments<'start'>): string[] {
  const { host, 'admin-token': adminToken } = values
  if (setBy.get('host') !== 'flag' || isLoopback(host) || adminToken !== undefined) return []
  return [
    `--host ${host} without --admin-token: every client that reaches this address can read and change everything, credentials too, by the control API under /_mock; --admin-token T closes it`,
  ]
}

/** As JSON all of it is one line. `url` is what programs call, `listening` where the server listens. */
function readyOf(
  { client, standsBy, authorityFile, methodTable, trust }: App,
  { url, listening }: { readonly url: string; readonly listening: string },
  json: boolean,
): { readonly url: string; readonly text: string; readonly variables: Readonly<Record<string, string>> } {
  // A replica that stands by has not read the state, which has them.
  const credentials = !standsBy && { TOOLMOCK_CLIENT_ID: client.id, TOOLMOCK_CLIENT_SECRET: client.secret }
  const variables = { TOOLMOCK_URL: url, ...credentials, ...trust }
  const dashboard = `${url}/_mock/ui`
  if (json) {
    const text = JSON.stringify({
      level: 'info',
      message: 'ready',
      version: VERSION,
      url,
      listening,
      ...(!standsBy && { client_id: client.id, client_secret: client.secret }),
      dashboard,
      ...(authorityFile === undefined ? {} : { authority_file: authorityFile }),
      ...(methodTable === undefined ? {} : { methods: methodTable.split('\n') }),
      variables,
    })
    return { url: listening, text, variables }
  }
  const where = listening === url ? url : `${url} at ${listening}`
  const lines = [
    standsBy
      ? `toolmock serves ${where} as a replica that stands by, dashboard ${dashboard}`
      : `toolmock serves ${where} (client id ${client.id}, client secret ${client.secret}), dashboard ${dashboard}`,
    ...(authorityFile === undefined ? [] : [`clients trust it by the certificate authority in ${authorityFile}`]),
    '',
    ...Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuote(value)}`),
    ...(methodTable === undefined ? [] : ['', methodTable]),
  ]
  return { url: listening, text: lines.join('\n'), variables }
}

/** The error of the operating system as a message that says what to do; other errors come back as they are. */
function listenFailure(error: unknown, host: string, port: number): unknown {
  const place = `port ${port} on ${host}`
  const noAddress = `${host} is not an address of this machine. --host takes one of its own, such as 127.0.0.1, or 0.0.0.0 for all.`
  const messages = new Map([
    [
      'EADDRINUSE',
      `${place} is in use. Stop what serves there, or choose another: --port N, where 0 takes a free one.`,
    ],
    ['EACCES', `${place} may not be served by this user. Choose one from 1024 up: --port N.`],
    ...['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'].map((code) => [code, noAddress] as const),
  ])
  const message = messages.get(systemCode(error) ?? '')
  return message === undefined ? error : new StartError(message)
}
