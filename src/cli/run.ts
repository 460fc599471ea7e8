import { appendFile, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { App } from '../app/app.ts'
import { writeText } from '../disk/append.ts'
import { makeDirectory } from '../disk/make-directory.ts'
import { StartError } from '../domain/start-error.ts'
import type { VerdictOptions } from '../verdict/verdict-options.ts'
import { mistypedVariables, type Variables } from './arguments.ts'
import { ChildCommand, type CommandEnd } from './child-command.ts'
import type { CommandContext } from './command.ts'
import { fileFailure, UsageError } from './failure.ts'
import { createDeferredLog, type DeferredLog } from './log.ts'
import { addToStepSummary, type ReportFile, reportFiles, writeReports } from './run-reports.ts'
import { LOOPBACK, readRun, type RunArguments, runOptions } from './server-options.ts'

/** Exit code when the command passed and the verdict failed. */
const VERDICT_FAILED = 3

/** Exit code when a report could not be written. */
const NOT_WRITTEN = 2

/** Runs a command beside a mock of its own and judges its requests: exits with the command's code, or with one of ours. */
export async function run(argv: readonly string[], context: CommandContext): Promise<number> {
  const given = readRun(argv, context.variables)
  const options = { ...(await verdictOptions(given)), requireRequests: !given.values['allow-no-requests'] }
  const files = await reportFiles(given.values.report)
  await createJournalFile(given.values.journal)
  const log = createDeferredLog(given.values['log-level'], context.err)
  const child = new ChildCommand()
  try {
    const { end, reports } = await serveWhile(child, given, context.variables, log)
    log.flush()
    if (!end.notStarted) return await judge(end, reports, { context, options, files })
    context.err(`toolmock: ${end.failure}`)
    return end.code
  } finally {
    child.release()
  }
}

/** Serves until the command has ended. The reports are complete once the server is closed, with its last requests. */
async function serveWhile(child: ChildCommand, given: RunArguments, variables: Variables, log: DeferredLog) {
  const { createApp } = await import('../app/app.ts')
  for (const notice of mistypedVariables(variables)) log.warn(notice)
  const app = await createApp(runOptions(given, log))
  try {
    for (const notice of app.notices) log.warn(notice)
    const { url } = await app.listen({ host: LOOPBACK, port: 0 })
    const own = await connectionVariables(app, url, variables)
    return { end: await child.run(given.command, { ...variables, ...own }), reports: app.services.reports }
  } finally {
    await app.close()
  }
}

/**
 * The address, the credentials, and the certificate authorities to trust (G50), the command's own among them. TOOLMOCK_RUN tells
 * the library that this server is the one to use: TOOLMOCK_URL alone may be left in the shell of a developer.
 */
async function connectionVariables({ client, authorityFile }: App, url: string, variables: Variables) {
  const own = {
    TOOLMOCK_URL: url,
    TOOLMOCK_CLIENT_ID: client.id,
    TOOLMOCK_CLIENT_SECRET: client.secret,
    TOOLMOCK_RUN: url,
  }
  if (authorityFile === undefined) return own
  const { NODE_EXTRA_CA_CERTS: others = '' } = variables
  // A file that cannot be read is ignored: Node.js itself only warns of it.
  const more = others === '' ? '' : await readFile(others, 'utf8').catch(() => '')
  if (more !== '') await appendFile(authorityFile, `\n${more}`)
  return { ...own, NODE_EXTRA_CA_CERTS: authorityFile }
}

/** Loads the code that reads them only when there are some: the command waits for it. @throws UsageError */
async function verdictOptions({ values }: RunArguments): Promise<VerdictOptions> {
  const { 'allow-violation': allow, 'fail-on': failOn } = values
  const { 'min-operations': minOperations, 'min-statuses': minStatuses } = values
  if ([allow, failOn, minOperations, minStatuses].every((value) => value === undefined)) return {}
  const { readVerdictOptions, VerdictOptionError } = await import('../verdict/verdict-options.ts')
  try {
    return readVerdictOptions({ allow, failOn, minOperations, minStatuses })
  } catch (error) {
    if (!(error instanceof VerdictOptionError)) throw error
    throw new UsageError(`--allow-violation ${error.found}: expected ${error.expected}.`)
  }
}

/** Creates the file of the journal before the command runs, so that a run is not in vain. @throws StartError */
async function createJournalFile(file: string | undefined): Promise<void> {
  if (file === undefined) return
  try {
    await makeDirectory(dirname(file))
    await writeText(file, '', 'append', 0o600)
  } catch (error) {
    throw new StartError(`the journal file ${file} cannot be written (${fileFailure(error)})`)
  }
}

interface Judging {
  readonly context: CommandContext
  readonly options: VerdictOptions
  readonly files: readonly ReportFile[]
}

/** Writes the verdict to stderr, to the summary of the CI step and to the reports; answers the exit code. */
async function judge(
  end: CommandEnd,
  reports: App['services']['reports'],
  { context: { err, variables, columns }, options, files }: Judging,
): Promise<number> {
  const [{ verdictOf }, { verdictText }, { verdictMarkdown }] = await Promise.all([
    import('../verdict/verdict.ts'),
    import('../verdict/formats/text.ts'),
    import('../verdict/formats/markdown.ts'),
  ])
  const pair = { contract: await reports.contract(), coverage: await reports.coverage() }
  const verdict = verdictOf(pair, options)
  const code = end.code === 0 && !verdict.ok ? VERDICT_FAILED : end.code
  const reportProblems = await writeReports(files, { reports: pair, options, verdict })
  const before = end.code === 0 ? [] : [`toolmock: ${end.failure}, which is passed on; this may explain it:`]
  const after = code === end.code ? [] : [`exit code ${code}: the command passed, the verdict did not`]
  const more =
    files.length > 0
      ? `everything in ${files.map(({ file }) => file).join(', ')}`
      : 'everything with --report FILE.html; each request with --journal FILE'
  err(['', ...before, verdictText(verdict, columns), ...after, more].join('\n'))
  const markdown = (): string => [...before, verdictMarkdown(verdict), ...after].join('\n\n')
  const summaryProblems = await addToStepSummary(variables, markdown)
  for (const problem of [...reportProblems, ...summaryProblems]) err(`toolmock: ${problem}`)
  return code === 0 && reportProblems.length > 0 ? NOT_WRITTEN : code
}
