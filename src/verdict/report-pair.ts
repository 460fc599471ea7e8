import type { ContractReport, CoverageReport, Finding, UnknownPath } from '../documents/report-schemas.ts'

/** What would be wrong, and was allowed. */
export interface Allowed {
  readonly violations: readonly Finding[]
  readonly unknown_paths: readonly UnknownPath[]
}

/** Less was driven than somebody asked for. */
export interface Shortfall {
  readonly of: 'operations' | 'statuses'
  readonly sentence: string
}

/** Both reports of one moment. */
export interface ReportPair {
  readonly contract: ContractReport
  readonly coverage: CoverageReport
  /** What was taken out of the first, where somebody allowed something. */
  readonly allowed?: Allowed
  /** Where somebody asked for a minimum. */
  readonly shortfalls?: readonly Shortfall[]
}
