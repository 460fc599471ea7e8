import type { ReportPair } from '../report-pair.ts'

interface Format {
  readonly type: string
  /** Its code, loaded when somebody asks for it. */
  readonly load: () => Promise<(reports: ReportPair) => string>
}

const FORMATS = {
  junit: { type: 'application/xml; charset=utf-8', load: async () => (await import('./junit.ts')).junit },
  sarif: { type: 'application/sarif+json', load: async () => (await import('./sarif.ts')).sarif },
  html: { type: 'text/html; charset=utf-8', load: async () => (await import('./html/page.ts')).reportPage },
} as const satisfies Record<string, Format>

export type ReportFormat = keyof typeof FORMATS

/** Both reports as a text of a media type. */
export async function render(format: ReportFormat, reports: ReportPair): Promise<{ text: string; type: string }> {
  const { type, load } = FORMATS[format]
  const write = await load()
  return { text: write(reports), type }
}
