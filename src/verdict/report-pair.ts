import type { ContractReport, CoverageReport, Finding, UnknownPath } from '../documents/report-schemas.ts'

/** What would be wrong, and was allowed. */
export interface Allowed {
  readonly violations: readonly Finding[]
  readonly unknown_paths: readonly UnknownPath[]
}

/** Both reports of one moment. */
export interface ReportPair {
  readonly contract: ContractReport
  readonly coverage: CoverageReport
  /** What was taken out of the first, where somebody allowed something. */
  readonly allowed?: Allowed
}
