import { appendFile, writeFile } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { makeDirectory } from '../disk/make-directory.ts'
import { StartError } from '../domain/start-error.ts'
import type { ReportPair } from '../verdict/report-pair.ts'
import type { Verdict } from '../verdict/verdict.ts'
import type { VerdictOptions } from '../verdict/verdict-options.ts'
import { systemCode } from './failure.ts'
import { UsageError } from './usage-error.ts'

const FORMATS = { '.json': 'json', '.xml': 'junit', '.sarif': 'sarif', '.html': 'html' } as const

export interface ReportFile {
  readonly file: string
  readonly format: (typeof FORMATS)[keyof typeof FORMATS]
}

/** The files that are to be written, in folders that are there. @throws UsageError for an ending that says no format, StartError */
export async function reportFiles(files: readonly string[] = []): Promise<ReportFile[]> {
  const read = files.map((file) => {
    const format = Object.entries(FORMATS).find(([ending]) => ending === extname(file).toLowerCase())?.[1]
    if (format) return { file, format }
    throw new UsageError(`--report ${file}: expected a name that ends in ${Object.keys(FORMATS).join(', ')}.`)
  })
  for (const { file } of read) {
    await makeDirectory(dirname(file)).catch((error: unknown) => {
      throw new StartError(unwritten(file, error))
    })
  }
  return read
}

/** Makes the journal's file, while nothing has run in vain. @throws StartError */
export async function makeJournal(file: string | undefined): Promise<void> {
  if (file === undefined) return
  try {
    await makeDirectory(dirname(file))
    await appendFile(file, '', { mode: 0o600 })
  } catch (error) {
    throw new StartError(`the journal file ${file} cannot be written (${systemCode(error) ?? String(error)})`)
  }
}

/** What there is to write. */
interface Judged {
  readonly reports: ReportPair
  readonly options: VerdictOptions
  readonly verdict: Verdict
}

/** Writes every report that can be written, and answers what there is to say of the others. */
export async function writeReports(files: readonly ReportFile[], judged: Judged): Promise<string[]> {
  const problems: string[] = []
  for (const { file, format } of files) {
    try {
      await writeFile(file, await textOf(format, judged))
    } catch (error) {
      problems.push(unwritten(file, error))
    }
  }
  return problems
}

/** For a program everything there is, with the verdict on it; elsewhere what is allowed stands apart from what is wrong. */
async function textOf(format: ReportFile['format'], { reports, options, verdict }: Judged): Promise<string> {
  if (format === 'json') return `${JSON.stringify({ ...reports, verdict }, null, 2)}\n`
  const [{ render }, { shortfallsOf }, { withoutAllowed }] = await Promise.all([
    import('../verdict/formats/format.ts'),
    import('../verdict/verdict.ts'),
    import('../verdict/allowed.ts'),
  ])
  const { allow } = options
  const shortfalls = shortfallsOf(verdict.summary, options)
  return (await render(format, { ...(allow ? withoutAllowed(reports, allow) : reports), shortfalls })).text
}

function unwritten(file: string, error: unknown): string {
  return `the report ${file} cannot be written (${systemCode(error) ?? String(error)})`
}
