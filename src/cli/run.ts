import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { App } from '../app/app.ts'
import { writeText } from '../disk/append.ts'
import { makeDirectory } from '../disk/make-directory.ts'
import { StartError } from '../domain/start-error.ts'
import { shellQuote } from '../domain/text.ts'
import type { Verdict } from '../verdict/report-pair.ts'
import type { VerdictOptions } from '../verdict/verdict-options.ts'
import { mistypedVariables, type Variables } from './arguments.ts'
import { ChildCommand, type CommandEnd } from './child-command.ts'
import type { CommandContext } from './command.ts'
import { fileFailure } from './failure.ts'
import { createDeferredLog, type DeferredLog } from './log.ts'
import { addToStepSummary, annotationLines, type ReportFile, reportFiles, writeReports } from './run-reports.ts'
import { LOOPBACK, readRun, type RunArguments, runOptions } from './server-options.ts'
import { verdictOptions } from './verdict-flags.ts'

const VERDICT_FAILED = 3

const NOT_WRITTEN = 2

/** Runs a command beside a mock of its own and judges its requests: exits with the command's code, or with one of ours. */
export async function run(argv: readonly string[], context: CommandContext): Promise<number> {
  const given = readRun(argv, context)
  const options = await verdictOptions(given, context.configuration?.reasons)
  const files = await reportFiles(given.values.report)
  const journal = await openRunJournal(given.values.journal)
  const log = createDeferredLog(given.values['log-level'], context.err)
  const child = new ChildCommand()
  try {
    const { end, reports } = await serveWhile(child, given, { ...context, log, journal: journal?.file })
    log.flush()
    if (!end.notStarted) return await judge(end, reports, { context, options, files, journal })
    context.err(`toolmock: ${end.failure}`)
    await journal?.discard()
    return end.code
  } finally {
    child.release()
  }
}

/** Serves until the command has ended. The reports are complete once the server is closed, with its last requests. */
async function serveWhile(
  child: ChildCommand,
  given: RunArguments,
  { variables, log, journal }: Pick<CommandContext, 'variables'> & { log: DeferredLog; journal: string | undefined },
) {
  const { createApp } = await import('../app/app.ts')
  for (const notice of mistypedVariables(variables)) log.warn(notice)
  const app = await createApp({ ...runOptions(given, log), journalFile: journal })
  try {
    for (const notice of app.notices) log.warn(notice)
    for (const line of app.methodTable?.split('\n') ?? []) log.info(line)
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

/** The file with the request journal of a run, by which its requests are explained once the server is gone. */
interface RunJournal {
  readonly file: string
  readonly discard: () => Promise<void>
  readonly isAskedFor: boolean
}

/** Creates the file before the command runs, so that a run is not in vain; a temporary one when none is named. @throws StartError */
async function openRunJournal(file: string | undefined): Promise<RunJournal | undefined> {
  if (file === undefined) {
    const folder = await mkdtemp(join(tmpdir(), 'toolmock-run-')).catch(() => undefined)
    if (folder === undefined) return undefined
    const discard = (): Promise<void> => rm(folder, { recursive: true, force: true })
    return { file: join(folder, 'journal.jsonl'), discard, isAskedFor: false }
  }
  try {
    await makeDirectory(dirname(file))
    await writeText(file, '', 'append', 0o600)
  } catch (error) {
    throw new StartError(`the journal file ${file} cannot be written (${fileFailure(error)})`)
  }
  return { file, discard: () => Promise.resolve(), isAskedFor: true }
}

interface Judging {
  readonly context: CommandContext
  readonly options: VerdictOptions
  readonly files: readonly ReportFile[]
  readonly journal: RunJournal | undefined
}

/** Writes the verdict to stderr, to the summary of the CI step and to the reports; answers the exit code. */
async function judge(
  end: CommandEnd,
  reports: App['services']['reports'],
  { context: { err, variables, columns }, options, files, journal }: Judging,
): Promise<number> {
  const [{ verdictOf }, { verdictText }, { verdictMarkdown }] = await Promise.all([
    import('../verdict/verdict.ts'),
    import('../verdict/formats/text.ts'),
    import('../verdict/formats/markdown.ts'),
  ])
  const pair = { contract: await reports.contract(), coverage: await reports.coverage() }
  const verdict = verdictOf(pair, options)
  const judged = { reports: pair, options, verdict }
  const code = end.code === 0 && !verdict.ok ? VERDICT_FAILED : end.code
  const reportProblems = await writeReports(files, judged)
  const before = end.code === 0 ? [] : [`toolmock: ${end.failure}, which is passed on; this may explain it:`]
  const after = code === end.code ? [] : [`exit code ${code}: the command passed, the verdict did not`]
  const more =
    files.length > 0
      ? `everything in ${files.map(({ file }) => file).join(', ')}`
      : 'everything with --report FILE.html'
  if (isSet(variables['GITHUB_ACTIONS'])) err((await annotationLines(judged)).trimEnd())
  const text = verdictText(verdict, isSet(variables['CI']) ? undefined : columns)
  const explain = await explainLine(verdict, code, journal)
  err(['', ...before, text, ...after, more, ...explain].join('\n'))
  const markdown = (): string => [...before, verdictMarkdown(verdict), ...after, ...explain].join('\n\n')
  const summaryProblems = await addToStepSummary(variables, markdown)
  for (const problem of [...reportProblems, ...summaryProblems]) err(`toolmock: ${problem}`)
  return code === 0 && reportProblems.length > 0 ? NOT_WRITTEN : code
}

/** CI systems set a variable to an empty text or to `false` when they mean that it is not set. */
function isSet(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value.toLowerCase())
}

/** The command that explains the first request of the verdict. The journal of a good run is not kept, unless it was asked for. */
async function explainLine(verdict: Verdict, code: number, journal: RunJournal | undefined): Promise<string[]> {
  if (!journal) return []
  if (verdict.requests === 0 || (code === 0 && !journal.isAskedFor)) {
    await journal.discard()
    return []
  }
  const named = [...verdict.reasons, ...verdict.warnings].flatMap(({ requests }) => requests)
  const [id] = named
  // Without a request in the verdict there is none to explain before another.
  if (id === undefined) return [`the requests are in ${journal.file}`]
  return [`to explain a request: npx toolmock explain ${id} --journal ${shellQuote(journal.file)}`]
}
