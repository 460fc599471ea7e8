import type { ContractReport, CoverageReport } from '../../documents/report-schemas.ts'

/** Both reports of one moment. */
export interface ReportPair {
  readonly contract: ContractReport
  readonly coverage: CoverageReport
}

export const REPORT_FORMATS = ['junit', 'sarif', 'html'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

/** Both reports as a text of a media type. */
export function render(format: ReportFormat, reports: ReportPair): { text: string; type: string } {
  return { text: JSON.stringify(reports), type: `application/${format}` }
}
