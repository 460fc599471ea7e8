import { appendFile, readFile } from 'node:fs/promises'
import type { App, AppOptions } from '../app.ts'
import type { VerdictOptions } from '../../journal/verdict/verdict-options.ts'
import type { Arguments, EnvironmentVariables } from './arguments.ts'
import type { ChildCommands } from './child-command.ts'
import type { CommandContext } from './command.ts'
import type { DeferredLog } from './log.ts'
import { openRunJournal } from './run-journal.ts'
import type { ReportFile } from './run-reports.ts'
import { type CommandLine, LOOPBACK } from './server-options.ts'

export interface Running {
  readonly given: Arguments<'run'>
  readonly command: CommandLine
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
  const { createApp } = await import('../app.ts')
  const app = await createApp(options)
  try {
    return await use(app, (await app.listen({ host: LOOPBACK, port: 0 })).url)
  } finally {
    await app.close()
  }
}

/**
 * Until the command with these variables has ended; closing completes its last requests. `journalOf` names the journal of one
 * run of several; `output` takes what the command prints.
 */
export async function serveWhile(
  options: AppOptions,
  { given, command, log, commands }: Running,
  variables: EnvironmentVariables,
  { journalOf, output }: { readonly journalOf?: (file: string) => string; readonly output?: number | undefined } = {},
) {
  const journal = await openRunJournal(given.values.journal, journalOf)
  try {
    const { end, services } = await withApp({ ...options, journalFile: journal?.file }, async (app, url) => {
      for (const notice of app.notices) log.warn(notice)
      for (const line of app.methodTable?.split('\n') ?? []) log.info(line)
      const connectionEnv = await connectionVariables(app, url, variables)
      return { end: await commands.run(command, { ...variables, ...connectionEnv }, output), services: app.services }
    })
    const reports = await services.reports()
    return {
      end,
      services,
      journal,
      reports: {
        contract: await reports.contract(),
        coverage: await reports.coverage(),
        scenarios: await reports.scenariosOfStart(),
      },
    }
  } catch (error) {
    await journal?.discard()
    throw error
  }
}

/** TOOLMOCK_RUN tells the library to use this server: TOOLMOCK_URL alone may be left in the shell of a developer. */
async function connectionVariables({ client, trust }: App, url: string, variables: EnvironmentVariables) {
  for (const [name, file] of Object.entries(trust)) {
    const { [name]: others = '' } = variables
    // A file that cannot be read is ignored: Node.js itself only warns of it.
    const more = others === '' ? '' : await readFile(others, 'utf8').catch(() => '')
    if (more !== '') await appendFile(file, `\n${more}`)
  }
  return {
    TOOLMOCK_URL: url,
    TOOLMOCK_CLIENT_ID: client.id,
    TOOLMOCK_CLIENT_SECRET: client.secret,
    TOOLMOCK_RUN: url,
    ...trust,
  }
}
