import { appendFile, readFile } from 'node:fs/promises'
import type { VerdictOptions } from '../verdict/verdict-options.ts'
import type { App } from '../app/app.ts'
import { mistypedVariables, type Variables } from './arguments.ts'
import type { Surroundings } from './command.ts'
import { START_FLAGS } from './flags.ts'
import { LOOPBACK, readRun, type RunArguments, appOptions } from './run-arguments.ts'
import { type CommandEnd, runCommand, signalCode } from './run-command.ts'
import { RUN_FLAGS } from './run-flags.ts'
import { createRunLog, type RunLog } from './run-log.ts'
import { makeJournal, type ReportFile, reportFiles, writeReports } from './run-reports.ts'
import { SignalRelay } from './signal-relay.ts'
import { addToStepSummary } from './step-summary.ts'
import { UsageError } from './usage-error.ts'

/** The command passed, and the verdict failed. */
const VERDICT_FAILED = 3

/** A report that was asked for could not be written. */
const UNWRITTEN = 2

/** Runs a command beside a mock of its own, and judges what it did: exits with the command's code, or with ours. */
export async function run(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const given = readRun(argv, surroundings.variables)
  const options = await verdictOptions(given)
  const files = await reportFiles(given.values.report)
  await makeJournal(given.values.journal)
  const log = createRunLog(given.values['log-level'], surroundings.err)
  const relay = new SignalRelay()
  try {
    const { end, reports } = await runBeside(given, { variables: surroundings.variables, relay, log })
    log.release()
    if (!end.notStarted) return await judge(end, reports, { surroundings, options, files })
    surroundings.err(`toolmock: ${end.failure}`)
    return end.code
  } finally {
    relay.end()
  }
}

interface Beside {
  readonly variables: Variables
  readonly relay: SignalRelay
  readonly log: RunLog
}

/** Serves while the command runs. What it did can be told once requests under way have come to an end, too. */
async function runBeside(given: RunArguments, { variables, relay, log }: Beside) {
  const { createApp } = await import('../app/app.ts')
  for (const notice of mistypedVariables([...START_FLAGS, ...RUN_FLAGS], variables)) log.warn(notice)
  const app = await createApp(appOptions(given, log))
  try {
    for (const notice of app.notices) log.warn(notice)
    const { url } = await app.listen({ host: LOOPBACK, port: 0 })
    const own = await connectionVariables(app, url, variables)
    return { end: await ended(given, { ...variables, ...own }, relay), reports: app.services.reports }
  } finally {
    await app.close()
  }
}

/** Whoever was told to stop before there was a command starts none. */
function ended({ command }: RunArguments, variables: Variables, relay: SignalRelay): Promise<CommandEnd> | CommandEnd {
  const { early } = relay
  if (early === undefined) return runCommand(command, variables, relay)
  return { code: signalCode(early), failure: `${early} came before the command was started`, notStarted: true }
}

/** Where the mock is, and whom to trust (G50), beside those that the command trusts already. */
async function connectionVariables({ client, authorityFile }: App, url: string, variables: Variables) {
  const own = { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: client.id, TOOLMOCK_CLIENT_SECRET: client.secret }
  if (authorityFile === undefined) return own
  const { NODE_EXTRA_CA_CERTS: others = '' } = variables
  // Node itself warns of a file that it cannot read, and goes on.
  const more = others === '' ? '' : await readFile(others, 'utf8').catch(() => '')
  if (more !== '') await appendFile(authorityFile, `\n${more}`)
  return { ...own, NODE_EXTRA_CA_CERTS: authorityFile }
}

/** Nothing of this is loaded before the command unless it has something to check by then. @throws UsageError */
async function verdictOptions({ values }: RunArguments): Promise<VerdictOptions> {
  const { 'allow-violation': allow, 'min-operations': minOperations, 'min-statuses': minStatuses } = values
  if (allow === undefined && minOperations === undefined && minStatuses === undefined) return {}
  const { readVerdictOptions, VerdictOptionError } = await import('../verdict/verdict-options.ts')
  try {
    return readVerdictOptions({ allow, minOperations, minStatuses })
  } catch (error) {
    if (!(error instanceof VerdictOptionError)) throw error
    throw new UsageError(`--allow-violation ${error.found}: expected ${error.expected}.`)
  }
}

interface Judging {
  readonly surroundings: Surroundings
  readonly options: VerdictOptions
  readonly files: readonly ReportFile[]
}

/** Says on stderr, in the summary of the CI step and in reports what the command did; answers the exit code. */
async function judge(
  end: CommandEnd,
  reports: App['services']['reports'],
  { surroundings: { err, variables, columns }, options, files }: Judging,
): Promise<number> {
  const [{ verdictOf }, { verdictText }, { verdictMarkdown }] = await Promise.all([
    import('../verdict/verdict.ts'),
    import('../verdict/formats/text.ts'),
    import('../verdict/formats/markdown.ts'),
  ])
  const pair = { contract: await reports.contract(), coverage: await reports.coverage() }
  const verdict = verdictOf(pair, options)
  const code = end.code === 0 && !verdict.ok ? VERDICT_FAILED : end.code
  const unwritten = await writeReports(files, { reports: pair, options, verdict })
  const [before, after] = aroundVerdict(end, code)
  err(['', ...before, verdictText(verdict, columns), ...after, furtherLine(files)].join('\n'))
  const markdown = (): string => [...before, verdictMarkdown(verdict), ...after].join('\n\n')
  const unadded = await addToStepSummary(variables, markdown)
  for (const problem of [...unwritten, ...unadded]) err(`toolmock: ${problem}`)
  return code === 0 && unwritten.length > 0 ? UNWRITTEN : code
}

/** Where the exit code comes from, unless it is 0. */
function aroundVerdict({ failure, code }: CommandEnd, own: number): [before: string[], after: string[]] {
  if (code !== 0) return [[`toolmock: ${failure}, which is passed on; this may explain it:`], []]
  return [[], own === 0 ? [] : [`exit code ${own}: the command passed, the verdict did not`]]
}

function furtherLine(files: readonly ReportFile[]): string {
  if (files.length > 0) return `everything in ${files.map(({ file }) => file).join(', ')}`
  return 'everything with --report FILE.html; each request with --journal FILE'
}
