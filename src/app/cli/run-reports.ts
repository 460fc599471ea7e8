import { jsonText } from '../../model/domain/json.ts'
import { dirname } from 'node:path'
import { writeText } from '../../platform/disk/append.ts'
import { makeDirectory } from '../../platform/disk/make-directory.ts'
import { FORMATS, renderReport, type ReportFormat } from '../../journal/verdict/formats/formats.ts'
import type { JudgedReports } from '../../journal/verdict/verdict.ts'
import type { RouteSwitches, VerdictOptions } from '../../journal/verdict/verdict-options.ts'
import type { Arguments, EnvironmentVariables } from './arguments.ts'
import type { CommandContext } from './command.ts'
import { variableOf } from './command-table.ts'
import { UsageError } from './failure.ts'
import { notWritten, reportWrite } from '../../platform/disk/written-file.ts'

/** Exit codes when the verdict failed, and when a report could not be written. */
export const [VERDICT_FAILED, NOT_WRITTEN] = [3, 2]

export const ENDINGS: readonly (readonly [ending: string, format: ReportFormat | 'json'])[] = [
  ...Object.entries(FORMATS).flatMap(([name, { ending }]) =>
    ending === null ? [] : [[ending, name as ReportFormat] as const],
  ),
  ['.json', 'json'],
]

export interface ReportFile {
  readonly file: string
  readonly format: ReportFormat | 'json'
}

/** The reports to write, with their folders created. @throws UsageError for an unknown ending; StartError */
export async function reportFiles(files: readonly string[] = []): Promise<ReportFile[]> {
  const read = files.map((file) => {
    const [, format] = ENDINGS.find(([ending]) => file.toLowerCase().endsWith(ending)) ?? []
    if (format) return { file, format }
    throw new UsageError(
      `--report ${file}: expected a name that ends in ${ENDINGS.map(([ending]) => ending).join(', ')}.`,
    )
  })
  for (const { file } of read) await reportWrite(`the report ${file}`, () => makeDirectory(dirname(file)))
  return read
}

export async function writeReports(files: readonly ReportFile[], judged: JudgedReports): Promise<string[]> {
  const problems: string[] = []
  for (const { file, format } of files) {
    try {
      // JSON has everything and the verdict on it; the other formats list apart what was allowed.
      const { given, verdict } = judged
      const json = (): string => `${jsonText({ ...given, verdict }, 2)}\n`
      await writeText(file, format === 'json' ? json() : (await renderReport(format, judged)).text, 'replace')
    } catch (error) {
      problems.push(notWritten(`the report ${file}`, error))
    }
  }
  return problems
}

/** Adds Markdown to the summary of a CI step where there is one; answers a message when that fails. */
async function addToStepSummary(
  { GITHUB_STEP_SUMMARY: file }: EnvironmentVariables,
  markdown: () => string,
): Promise<string[]> {
  if (file === undefined || file === '') return []
  try {
    // A heading begins after an empty line, and what is there already may not end with a line break.
    await writeText(file, `\n\n${markdown()}\n`, 'append')
    return []
  } catch (error) {
    return [notWritten(`the summary ${file} of GITHUB_STEP_SUMMARY`, error)]
  }
}

/** What is printed around the text of a verdict, and the exit code that goes with it. */
interface Surroundings {
  readonly code: number
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly explain: readonly string[]
}

/** Writes a verdict to stderr, to the summary of the CI step and to the reports; answers the exit code. */
export async function publishReports(
  judged: JudgedReports,
  { code, before, after, explain }: Surroundings,
  { err, variables, errorTerminal }: CommandContext,
  files: readonly ReportFile[],
): Promise<number> {
  const [{ verdictText }, { verdictMarkdown }] = await Promise.all([
    import('../../journal/verdict/formats/text.ts'),
    import('../../journal/verdict/formats/markdown.ts'),
  ])
  const { verdict } = judged
  const reportProblems = await writeReports(files, judged)
  const more = `everything ${files.length > 0 ? `in ${files.map(({ file }) => file).join(', ')}` : 'with --report FILE.html'}`
  if (isSet(variables['GITHUB_ACTIONS'])) {
    // Its annotations, a line each.
    const hasFindings = verdict.reasons.length + verdict.warnings.length > 0
    err(hasFindings ? (await renderReport('github', judged)).text.trimEnd() : '')
  }
  const text = verdictText(verdict, isSet(variables['CI']) ? undefined : errorTerminal)
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

/** The code that reads them is loaded where there are some: the command waits for it. @throws UsageError */
export async function verdictOptions(
  { values, setBy, configuration }: Pick<Arguments<'run' | 'report'>, 'values' | 'setBy' | 'configuration'>,
  switches?: RouteSwitches,
): Promise<VerdictOptions> {
  const allowNoRequests = values['allow-no-requests']
  const asked = {
    allow: values['allow-violation'],
    failOn: values['fail-on'],
    minOperations: values['min-operations'],
    minStatuses: values['min-statuses'],
  }
  if (Object.values(asked).every((value) => value === undefined)) return { requireRequests: !allowNoRequests }
  const { readVerdictOptions, VerdictOptionError } = await import('../../journal/verdict/verdict-options.ts')
  try {
    return readVerdictOptions({ ...asked, reasons: configuration?.reasons, allowNoRequests }, switches)
  } catch (error) {
    if (!(error instanceof VerdictOptionError)) throw error
    const name = FLAGS[error.option]
    const place = setBy.get(name) === 'variable' ? `${variableOf({ name, variable: true })}=` : `--${name} `
    throw new UsageError(`${place}${error.value}: expected ${error.expected}.`)
  }
}

const FLAGS = {
  allow: 'allow-violation',
  failOn: 'fail-on',
  minOperations: 'min-operations',
  minStatuses: 'min-statuses',
  allowNoRequests: 'allow-no-requests',
} as const
