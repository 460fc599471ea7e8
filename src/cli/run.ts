import { mistypedVariables } from './arguments.ts'
import { ChildCommands } from './child-command.ts'
import type { CommandContext } from './command.ts'
import { createDeferredLog } from './log.ts'
import { explainLine, openRunJournal } from './run-journal.ts'
import { publish, reportFiles, VERDICT_FAILED, verdictOptions } from './run-reports.ts'
import { type Running, serveWhile } from './serve-while.ts'
import { readRun, runOptions } from './server-options.ts'

/** Runs a command beside a mock of its own and judges its requests: exits with the command's code, or with one of ours. */
export async function run(argv: readonly string[], context: CommandContext): Promise<number> {
  const given = readRun(argv, context)
  const { values } = given
  const options = await verdictOptions(given, context.configuration?.reasons)
  const files = await reportFiles(values.report)
  const cases =
    values.cases === undefined ? undefined : await (await import('./cases.ts')).loadCases(values.cases, values)
  const log = createDeferredLog(values['log-level'], context.err)
  for (const notice of mistypedVariables(context.variables)) log.warn(notice)
  const commands = new ChildCommands({ several: cases !== undefined })
  const running: Running = { given, context, options, files, log, commands }
  try {
    return await (cases ? (await import('./run-cases.ts')).runCases(cases, running) : runCommand(running))
  } finally {
    commands.release()
  }
}

/** Runs one command and judges its requests; answers the exit code. */
async function runCommand(running: Running): Promise<number> {
  const { given, context, options, files, log } = running
  const journal = await openRunJournal(given.values.journal)
  const served = { ...runOptions(given, log), journalFile: journal?.file }
  const { end, services } = await serveWhile(served, running, context.variables)
  log.flush()
  if (end.notStarted) {
    context.err(`toolmock: ${end.failure}`)
    await journal?.discard()
    return end.code
  }
  const { judge } = await import('../verdict/verdict.ts')
  const reports = await services.reports()
  const judged = judge({ contract: await reports.contract(), coverage: await reports.coverage() }, options)
  const { verdict } = judged
  const code = end.code === 0 && !verdict.ok ? VERDICT_FAILED : end.code
  const before = end.code === 0 ? [] : [`toolmock: ${end.failure}, which is passed on; this may explain it:`]
  const after = code === end.code ? [] : [`exit code ${code}: the command passed, the verdict did not`]
  const explain = await explainLine(verdict, code, journal)
  return publish(judged, { code, before, after, explain }, context, files)
}
