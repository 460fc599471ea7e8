import { isJsonObject, type JsonObject, jsonText, parsedJson } from '../../model/domain/json.ts'
import { readTextFile } from '../../files/text-files.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { HttpClient } from '../../platform/http-client.ts'
import { COVERAGE_FORMATS, FORMATS, type ReportFormat } from '../../journal/verdict/formats/formats.ts'
import type { ReportPair } from '../../journal/verdict/report-pair.ts'
import type { ContractReport } from '../../journal/verdict/report-types.ts'
import { findingSentence } from '../../journal/verdict/sentences.ts'
import type { Arguments } from './arguments.ts'
import type { CommandContext, Run } from './command.ts'
import { UsageError } from './failure.ts'
import type { FlagValues } from './command-table.ts'
import { adminHeaders, adminTokenText, notResponding, serverOf } from './running-server.ts'
import { NOT_WRITTEN, reportFiles, VERDICT_FAILED, verdictOptions, writeReports } from './run-reports.ts'
import { writeOver } from '../../platform/disk/written-file.ts'

type ReportValues = FlagValues<'report'>

const REPORTS = ['contract', 'coverage'] as const
const TIMEOUT_MS = 30_000
const MERGE_FLAGS = ['min-operations', 'min-statuses', 'allow-violation', 'fail-on', 'report']

/** Fetches a report of a running server; 1 when `--fail` is given and the verdict fails. */
export const report: Run<'report'> = async (args, context) => {
  const { out, err, terminal } = context
  const { values, operands } = args
  if (operands[0] === 'merge') return mergeReportFiles(args, context)
  const ofMerge = MERGE_FLAGS.find((name) => args.setBy.get(name) === 'flag')
  if (ofMerge !== undefined) throw new UsageError(`--${ofMerge} goes with report merge.`)
  const { judge, output } = values
  const isCoverage = operands[0] === 'coverage'
  const format = values.format ?? (isCoverage || judge !== undefined ? 'json' : 'text')
  const name = reportName(operands, format, judge)
  const query = [
    `format=${format}`,
    ...(judge === undefined ? [] : [`judge=${judge}`]),
    ...(values['allow-no-requests'] && name === 'contract' ? ['allow_no_requests=true'] : []),
  ]
  const text = await fetchReport(args, `${name}?${query.join('&')}`)
  const content = format === 'json' ? `${jsonText(readReportJson(text), 2)}\n` : checkedReport(text, format)
  if (output === undefined) {
    const { lineOnTerminal } = await import('../../journal/verdict/formats/text.ts')
    const lineOf = (line: string): string => (format === 'text' ? lineOnTerminal(line, terminal) : line)
    out(content.replace(/\n$/, '').split('\n').map(lineOf).join('\n'))
  } else {
    await writeOver(output, content, `the report ${output}`)
    out(`wrote ${output}`)
  }
  if (!values.fail) return 0
  const { ok, total } = readReportJson(await fetchReport(args, 'contract?format=json')) as unknown as ContractReport
  const { nothingJudged } = await import('../../journal/verdict/verdict.ts')
  const [reason] = values['allow-no-requests']
    ? []
    : nothingJudged(total, { perTest: values.environment !== undefined })
  if (!ok) err('toolmock: the verdict failed; the report says why')
  else if (reason) err(`toolmock: ${findingSentence(reason)}`)
  return ok && !reason ? 0 : 1
}

function reportName(
  [name = 'contract', ...more]: readonly string[],
  format: NonNullable<ReportValues['format']>,
  judge: ReportValues['judge'],
): string {
  const reportKind = REPORTS.find((each) => each === name)
  if (reportKind === undefined || more.length > 0) {
    throw new UsageError(
      `report takes one of ${REPORTS.join(', ')}, or merge with files; found ${[name, ...more].join(' ')}.`,
    )
  }
  if (judge !== undefined && (reportKind !== 'contract' || format !== 'json')) {
    throw new UsageError(`--judge ${judge} goes with the json of contract; found ${format} of ${reportKind}.`)
  }
  if (reportKind === 'contract' || COVERAGE_FORMATS.includes(format)) return reportKind
  throw new UsageError(
    `coverage has the formats ${COVERAGE_FORMATS.join(' and ')}; the ${format} of contract contains it too.`,
  )
}

const NO_REPORT = 'the server does not answer with a report; is it a toolmock?'

/** @throws StartError when another server answers at the address */
function readReportJson(text: string): JsonObject {
  const value = parsedJson(text)
  if (isJsonObject(value) && 'schema_version' in value) return value
  throw new StartError(NO_REPORT)
}

/** @throws StartError when another server answers at the address */
function checkedReport(text: string, format: ReportFormat): string {
  if (text.includes(FORMATS[format].mark)) return text
  throw new StartError(NO_REPORT)
}

/** @throws StartError when there is no report, with the server's own message where it has one */
async function fetchReport(read: Arguments<'report'>, report: string): Promise<string> {
  const { environment } = read.values
  const scope = environment === undefined ? '' : `&environment=${encodeURIComponent(environment.toWellFormed())}`
  const server = serverOf(read)
  const { url, ca } = server
  const path = `/_mock/${report}${scope}`
  // The certificate has to be trusted, because the admin token must only reach that server.
  const client = new HttpClient(url, { ca, timeoutMs: TIMEOUT_MS })
  const { status, text } = await client
    .send({ method: 'GET', path, headers: adminHeaders(server) })
    .catch((error: unknown) => {
      throw notResponding(url, error)
    })
  if (status === 200) return text
  throw new StartError(`${url}${path} ${status === 401 ? adminTokenText(server) : refusalText(status, text)}`)
}

function refusalText(status: number, text: string): string {
  const { error } = (parsedJson(text) ?? {}) as { readonly error?: { readonly message?: string } }
  return `answers ${status}${error?.message === undefined ? '; is it a toolmock?' : `: ${error.message}`}`
}

/** `report merge FILE…`: one verdict on the JSON reports of several runs. @throws UsageError, StartError */
async function mergeReportFiles(args: Arguments<'report'>, { out, err, terminal }: CommandContext): Promise<number> {
  const { values, operands } = args
  const [, first, ...others] = operands
  if (first === undefined) throw new UsageError('report merge takes the JSON reports of `run --report FILE.json`.')
  const options = await verdictOptions(args)
  const targets = await reportFiles(values.report)
  const pairs = [await reportIn(first), ...(await Promise.all(others.map(reportIn)))] as const
  const [{ mergeReports }, { judgeReports: judge }, { verdictText }] = await Promise.all([
    import('../../journal/verdict/merge-reports.ts'),
    import('../../journal/verdict/verdict.ts'),
    import('../../journal/verdict/formats/text.ts'),
  ])
  const cases = pairs.flatMap((pair) => pair.cases ?? [])
  const reports = { ...mergeReports(pairs), ...(cases.length > 0 && { cases }) }
  const judged = judge(reports, options)
  out(verdictText(judged.verdict, terminal))
  const problems = await writeReports(targets, judged)
  for (const problem of problems) err(`toolmock: ${problem}`)
  if (!judged.verdict.ok) return VERDICT_FAILED
  return problems.length > 0 ? NOT_WRITTEN : 0
}

/** @throws StartError for a file that is no such report */
async function reportIn(file: string): Promise<ReportPair> {
  const { reportPairIn } = await import('../../journal/verdict/merge-reports.ts')
  const pair = await reportPairIn(parsedJson(await readTextFile(file)))
  if (pair) return pair
  throw new StartError(`${file} is no report of \`toolmock run --report FILE.json\` by this version`)
}
