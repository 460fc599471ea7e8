import { mistypedVariables } from './arguments.ts'
import { ChildCommands } from './child-command.ts'
import type { Run } from './command.ts'
import { ExitError } from './failure.ts'
import { createDeferredLog } from './log.ts'
import { explainLine } from './run-journal.ts'
import { publishReports, reportFiles, VERDICT_FAILED, verdictOptions } from './run-reports.ts'
import { type Running, serveWhile } from './serve-while.ts'
import { programOf, runOptions } from './server-options.ts'

/** Runs a command beside a mock of its own and judges its requests: exits with the command's code, or with one of ours. */
export const run: Run<'run'> = async (args, context) => {
  const command = programOf(args)
  const { values } = args
  const { mcp, 'documented-only': documentedOnly } = values
  const options = await verdictOptions(args, { mcp, documentedOnly })
  const files = await reportFiles(values.report)
  const cases =
    values.cases === undefined ? undefined : await (await import('./cases.ts')).loadCases(values.cases, values)
  const log = createDeferredLog(values['log-level'], context.err)
  for (const notice of mistypedVariables(context.variables)) log.warn(notice)
  const commands = new ChildCommands({ several: cases !== undefined })
  const running: Running = { given: args, command, context, options, files, log, commands }
  try {
    return await (cases ? (await import('./run-cases.ts')).runCases(cases, running) : runCommand(running))
  } catch (error) {
    if (error instanceof ExitError) log.flush()
    throw error
  } finally {
    commands.release()
  }
}

async function runCommand(running: Running): Promise<number> {
  const { given, context, options, files, log } = running
  const { end, reports, journal } = await serveWhile(runOptions(given, log), running, context.variables)
  log.flush()
  const { judgeReports: judge } = await import('../../journal/verdict/verdict.ts')
  const judged = judge(reports, options)
  const { verdict } = judged
  const code = end.code === 0 && !verdict.ok ? VERDICT_FAILED : end.code
  const before = end.code === 0 ? [] : [`toolmock: ${end.failure}, which is passed on; this may explain it:`]
  const after = code === end.code ? [] : [`exit code ${code}: the command passed, the verdict did not`]
  const explain = await explainLine(verdict, code, journal)
  return publishReports(judged, { code, before, after, explain }, context, files)
}
