import { parsedJson } from '../domain/json.ts'
import { StartError } from '../domain/start-error.ts'
import type { ReportPair } from '../verdict/report-pair.ts'
import type { Arguments } from './arguments.ts'
import type { CommandContext } from './command.ts'
import { readTextFile, UsageError } from './failure.ts'
import { NOT_WRITTEN, reportFiles, VERDICT_FAILED, writeReports } from './run-reports.ts'
import { verdictOptions } from './verdict-flags.ts'

/** `report merge FILE…`: one verdict on the JSON reports of several runs. @throws UsageError, StartError */
export async function mergeReportFiles(
  files: readonly string[],
  read: Arguments<'report'>,
  { out, err, columns, configuration }: CommandContext,
): Promise<number> {
  const [first, ...others] = files
  if (first === undefined) throw new UsageError('report merge takes the JSON reports of `run --report FILE.json`.')
  const options = await verdictOptions(read, configuration?.reasons)
  const targets = await reportFiles(read.values.report)
  const pairs = [await reportIn(first), ...(await Promise.all(others.map(reportIn)))] as const
  const [{ mergeReports }, { judge }, { verdictText }] = await Promise.all([
    import('../verdict/merge-reports.ts'),
    import('../verdict/verdict.ts'),
    import('../verdict/formats/text.ts'),
  ])
  const cases = pairs.flatMap((pair) => pair.cases ?? [])
  const reports = { ...mergeReports(pairs), ...(cases.length > 0 && { cases }) }
  const judged = judge(reports, options)
  out(verdictText(judged.verdict, columns))
  const problems = await writeReports(targets, judged)
  for (const problem of problems) err(`toolmock: ${problem}`)
  if (!judged.verdict.ok) return VERDICT_FAILED
  return problems.length > 0 ? NOT_WRITTEN : 0
}

/** @throws StartError for a file that is no such report */
async function reportIn(file: string): Promise<ReportPair> {
  const { reportPairIn } = await import('../verdict/merge-reports.ts')
  const pair = await reportPairIn(parsedJson(await readTextFile(file)))
  if (pair) return pair
  throw new StartError(`${file} is no report of \`toolmock run --report FILE.json\` by this version`)
}
