import type { ContractReport, CoverageReport } from '../documents/report-schemas.ts'

/** Both reports of one moment. */
export interface ReportPair {
  readonly contract: ContractReport
  readonly coverage: CoverageReport
}
