import { dirname, extname } from 'node:path'
import { writeText } from '../disk/append.ts'
import { makeDirectory } from '../disk/make-directory.ts'
import { StartError } from '../domain/start-error.ts'
import { FORMATS, render, type ReportFormat } from '../verdict/formats/formats.ts'
import type { ReportPair } from '../verdict/report-pair.ts'
import type { VerdictOptions } from '../verdict/verdict-options.ts'
import type { Verdict } from '../verdict/verdict.ts'
import type { Variables } from './arguments.ts'
import { fileFailure, UsageError } from './failure.ts'

/** The formats by the ending of the file. */
const BY_EXTENSION = new Map<string, ReportFormat | 'json'>([
  ['.json', 'json'],
  ...Object.entries(FORMATS).map(([name, { extension }]) => [extension, name as ReportFormat] as const),
])

export interface ReportFile {
  readonly file: string
  readonly format: ReportFormat | 'json'
}

/** The reports to write, with their folders created. @throws UsageError for an unknown ending; StartError */
export async function reportFiles(files: readonly string[] = []): Promise<ReportFile[]> {
  const read = files.map((file) => {
    const format = BY_EXTENSION.get(extname(file).toLowerCase())
    if (format) return { file, format }
    throw new UsageError(`--report ${file}: expected a name that ends in ${[...BY_EXTENSION.keys()].join(', ')}.`)
  })
  for (const { file } of read) {
    await makeDirectory(dirname(file)).catch((error: unknown) => {
      throw new StartError(notWritten(file, error))
    })
  }
  return read
}

interface Judged {
  readonly reports: ReportPair
  readonly options: VerdictOptions
  readonly verdict: Verdict
}

/** Writes the reports and answers a message for each that could not be written. */
export async function writeReports(files: readonly ReportFile[], judged: Judged): Promise<string[]> {
  const problems: string[] = []
  for (const { file, format } of files) {
    try {
      await writeText(file, await reportText(format, judged), 'replace')
    } catch (error) {
      problems.push(notWritten(file, error))
    }
  }
  return problems
}

/** JSON has everything and the verdict on it; the other formats list apart what was allowed. */
async function reportText(format: ReportFile['format'], { reports, options, verdict }: Judged): Promise<string> {
  if (format === 'json') return `${JSON.stringify({ ...reports, verdict }, null, 2)}\n`
  const { shortfallsOf, withFailing, withoutAllowed } = await import('../verdict/verdict.ts')
  const { allow, failOn } = options
  const shortfalls = shortfallsOf(verdict.summary, options)
  const judged = withFailing(reports, failOn)
  return (await render(format, { ...(allow ? withoutAllowed(judged, allow) : judged), shortfalls })).text
}

function notWritten(file: string, error: unknown): string {
  return `the report ${file} cannot be written (${fileFailure(error)})`
}

/** Adds Markdown to the summary of a CI step where there is one; answers a message when that fails. */
export async function addToStepSummary(
  { GITHUB_STEP_SUMMARY: file }: Variables,
  markdown: () => string,
): Promise<string[]> {
  if (file === undefined || file === '') return []
  try {
    // A heading begins after an empty line, and what is there already may not end with a line break.
    await writeText(file, `\n\n${markdown()}\n`, 'append')
    return []
  } catch (error) {
    return [`the summary ${file} of GITHUB_STEP_SUMMARY cannot be written (${fileFailure(error)})`]
  }
}
