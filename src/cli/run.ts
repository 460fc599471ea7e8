import type { Reports } from '../verdict/reports.ts'
import type { VerdictOptions } from '../verdict/verdict-options.ts'
import { mistypedVariables } from './arguments.ts'
import { ChildCommands, type CommandEnd } from './child-command.ts'
import type { CommandContext } from './command.ts'
import { createDeferredLog } from './log.ts'
import { explainLine, openRunJournal, type RunJournal } from './run-journal.ts'
import { publish, type ReportFile, reportFiles, VERDICT_FAILED } from './run-reports.ts'
import { serveWhile } from './serve-while.ts'
import { readRun, runOptions } from './server-options.ts'
import { verdictOptions } from './verdict-flags.ts'

/** Runs a command beside a mock of its own and judges its requests: exits with the command's code, or with one of ours. */
export async function run(argv: readonly string[], context: CommandContext): Promise<number> {
  const given = readRun(argv, context)
  if (given.values.cases !== undefined)
    return (await import('./run-cases.ts')).runCases(given.values.cases, given, context)
  const options = await verdictOptions(given, context.configuration?.reasons)
  const files = await reportFiles(given.values.report)
  const journal = await openRunJournal(given.values.journal)
  const log = createDeferredLog(given.values['log-level'], context.err)
  for (const notice of mistypedVariables(context.variables)) log.warn(notice)
  const child = new ChildCommands()
  try {
    const served = { ...runOptions(given, log), journalFile: journal?.file }
    const { end, services } = await serveWhile(served, log, context.variables, (variables) =>
      child.run(given.command, variables),
    )
    log.flush()
    if (!end.notStarted) return await conclude(end, await services.reports(), { context, options, files, journal })
    context.err(`toolmock: ${end.failure}`)
    await journal?.discard()
    return end.code
  } finally {
    child.release()
  }
}

interface Judging {
  readonly context: CommandContext
  readonly options: VerdictOptions
  readonly files: readonly ReportFile[]
  readonly journal: RunJournal | undefined
}

/** Judges the requests of a command; answers the exit code. */
async function conclude(
  end: CommandEnd,
  reports: Reports,
  { context, options, files, journal }: Judging,
): Promise<number> {
  const { judge } = await import('../verdict/verdict.ts')
  const judged = judge({ contract: await reports.contract(), coverage: await reports.coverage() }, options)
  const { verdict } = judged
  const code = end.code === 0 && !verdict.ok ? VERDICT_FAILED : end.code
  const before = end.code === 0 ? [] : [`toolmock: ${end.failure}, which is passed on; this may explain it:`]
  const after = code === end.code ? [] : [`exit code ${code}: the command passed, the verdict did not`]
  const explain = await explainLine(verdict, code, journal)
  return publish(judged, { code, before, after, explain }, context, files)
}
