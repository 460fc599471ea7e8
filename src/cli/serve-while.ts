import { appendFile, readFile } from 'node:fs/promises'
import type { App, AppOptions } from '../app/app.ts'
import type { VerdictOptions } from '../verdict/verdict-options.ts'
import type { Variables } from './arguments.ts'
import type { ChildCommands, CommandEnd } from './child-command.ts'
import type { CommandContext } from './command.ts'
import type { DeferredLog } from './log.ts'
import type { ReportFile } from './run-reports.ts'
import { LOOPBACK, type RunArguments } from './server-options.ts'

/** What a command, or the commands of all cases, run and are judged with. */
export interface Running {
  readonly given: RunArguments
  readonly context: CommandContext
  readonly options: VerdictOptions
  readonly files: readonly ReportFile[]
  readonly log: DeferredLog
  readonly commands: ChildCommands
}

/** Serves on a free port of loopback while `use` works. */
export async function withApp<Result>(
  options: AppOptions,
  use: (app: App, url: string) => Promise<Result>,
): Promise<Result> {
  const { createApp } = await import('../app/app.ts')
  const app = await createApp(options)
  try {
    return await use(app, (await app.listen({ host: LOOPBACK, port: 0 })).url)
  } finally {
    await app.close()
  }
}

/**
 * Serves until the command with these variables has ended. What it has caused is complete once the server is closed, with its last
 * requests. `output` is the file that takes what the command prints.
 */
export async function serveWhile(
  options: AppOptions,
  { given, log, commands }: Running,
  variables: Variables,
  output?: number,
): Promise<{ readonly end: CommandEnd; readonly services: App['services'] }> {
  return withApp(options, async (app, url) => {
    for (const notice of app.notices) log.warn(notice)
    for (const line of app.methodTable?.split('\n') ?? []) log.info(line)
    const own = await connectionVariables(app, url, variables)
    const end = await commands.run(given.command, { ...variables, ...own }, output)
    return { end, services: app.services }
  })
}

/**
 * The address, the credentials, and the certificate authorities to trust (G50), the command's own among them. TOOLMOCK_RUN tells
 * the library that this server is the one to use: TOOLMOCK_URL alone may be left in the shell of a developer.
 */
async function connectionVariables({ client, trust }: App, url: string, variables: Variables) {
  const own = {
    TOOLMOCK_URL: url,
    TOOLMOCK_CLIENT_ID: client.id,
    TOOLMOCK_CLIENT_SECRET: client.secret,
    TOOLMOCK_RUN: url,
  }
  for (const [name, file] of Object.entries(trust)) {
    const { [name]: others = '' } = variables
    // A file that cannot be read is ignored: Node.js itself only warns of it.
    const more = others === '' ? '' : await readFile(others, 'utf8').catch(() => '')
    if (more !== '') await appendFile(file, `\n${more}`)
  }
  return { ...own, ...trust }
}
