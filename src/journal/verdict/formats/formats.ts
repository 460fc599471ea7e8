import { lazyImport } from '../../../model/domain/once.ts'
import type { JudgedReports } from '../verdict.ts'

interface Format {
  readonly type: string
  /** How the files of `run --report` end; null where there is none, because something else prints it. */
  readonly ending: string | null
  /** Text that every report of this format contains, and no answer of another server. */
  readonly mark: string
  /** Whether `GET /_mock/coverage` has this format too. The others list only what went wrong. */
  readonly ofCoverage?: true
  readonly load: () => Promise<(reports: JudgedReports) => string>
}

/** The formats of a report beside JSON, which is the report itself. */
export const FORMATS = {
  text: {
    type: 'text/plain; charset=utf-8',
    ending: '.txt',
    mark: 'toolmock: ',
    load: lazyImport(async () => (await import('./text.ts')).verdictAsText),
  },
  junit: {
    type: 'application/xml; charset=utf-8',
    ending: '.xml',
    mark: '<testsuites name="toolmock"',
    load: lazyImport(async () => (await import('./junit.ts')).junitReport),
  },
  sarif: {
    type: 'application/sarif+json',
    ending: '.sarif',
    mark: '"name": "toolmock"',
    load: lazyImport(async () => (await import('./sarif.ts')).sarifReport),
  },
  gitlab: {
    type: 'application/json',
    ending: 'code-quality-report.json',
    mark: '[',
    load: lazyImport(async () => (await import('./gitlab.ts')).codeQuality),
  },
  github: {
    type: 'text/plain; charset=utf-8',
    ending: null,
    mark: '::notice title=toolmock::',
    load: lazyImport(async () => (await import('./github.ts')).githubAnnotations),
  },
  html: {
    type: 'text/html; charset=utf-8',
    ending: '.html',
    mark: ' · toolmock</title>',
    ofCoverage: true,
    load: lazyImport(async () => (await import('./html.ts')).reportPage),
  },
} as const satisfies Record<string, Format>

export type ReportFormat = keyof typeof FORMATS

const NAMES = Object.keys(FORMATS) as ReportFormat[]

export const CONTRACT_FORMATS: readonly ['json', ...ReportFormat[]] = ['json', ...NAMES]
export const COVERAGE_FORMATS: readonly string[] = ['json', ...NAMES.filter((name) => 'ofCoverage' in FORMATS[name])]

export async function renderReport(
  format: ReportFormat,
  reports: JudgedReports,
): Promise<{ text: string; type: string }> {
  const { type, load } = FORMATS[format]
  const write = await load()
  return { text: write(reports), type }
}
