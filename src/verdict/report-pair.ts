import type {
  CaseResult,
  ContractRecord,
  ContractReport,
  Coverage,
  CoverageReport,
  Finding,
  Reach,
  Tally,
  Warning,
} from './report-types.ts'

/** A minimum of coverage that was not reached. */
export interface Shortfall {
  readonly of: 'operations' | 'statuses' | 'requests'
  readonly sentence: string
}

export type ReasonKind =
  | 'incomplete'
  | 'violation'
  | 'answer_violation'
  | 'unknown_path'
  | 'unfired_rule'
  | 'coverage'
  | 'no_requests'
  | 'unused_allowance'

/** A reason why a verdict failed, something it allowed, or a warning. */
export interface VerdictItem<Kind> {
  readonly kind: Kind
  readonly sentence: string
  /** Ids of the requests, for `GET /_mock/requests/{id}/explain`. */
  readonly requests: readonly string[]
  /** Its tests, and its first requests with what they sent, a line each. */
  readonly details: readonly string[]
}

/** With reasons of more kinds where it is about cases. */
export interface Verdict<Kind = ReasonKind> {
  readonly ok: boolean
  readonly reasons: readonly VerdictItem<Kind>[]
  /** What would be reasons, and was allowed. */
  readonly allowed: readonly VerdictItem<ReasonKind>[]
  /** Fields without effect, and allowances that no request needed; they fail a verdict only by `failOn`. */
  readonly warnings: readonly VerdictItem<Warning['kind'] | 'unused_allowance'>[]
  readonly requests: number
  readonly injected: number
  /** What was exercised, each kind by itself. */
  readonly summary: Coverage['summary']
}

export interface ReportPair {
  readonly contract: ContractReport
  readonly coverage: CoverageReport
  /** The scenarios that ran from the start; absent where that is not known. */
  readonly scenarios?: readonly string[]
  /** Those of `run --cases`. */
  readonly cases?: readonly CaseResult[]
}

export function isKept(record: ContractRecord): ContractReport['ok'] {
  const { violations, answer_violations, unknown_paths, unfired_rules } = record
  return (
    record.incomplete_since === undefined &&
    [violations, answer_violations, unknown_paths, unfired_rules].every((list) => list.length === 0)
  )
}

export function tallyOf(reached: readonly { readonly reach: Reach }[]): Tally {
  const tally = { total: reached.length, driven: 0, injected_only: 0, never: 0 }
  for (const { reach } of reached) tally[reach] += 1
  return tally
}

export interface OperationReport {
  readonly operation: string
  readonly called: boolean
  readonly violations: readonly Finding[]
  readonly answerViolations: readonly Finding[]
  readonly warnings: readonly Warning[]
}

/** Every operation of the service, in the order of its contract, and the proxy where there are findings about it. */
export function byOperation({ contract: { total }, coverage }: ReportPair): OperationReport[] {
  const { operations } = coverage.total
  const others = new Set([...total.violations, ...total.warnings].map(({ operation }) => operation))
  for (const { operation } of operations) others.delete(operation)
  const uncovered = [...others].map((operation) => ({ operation, statuses: [] }))
  return [...operations, ...uncovered].map(({ operation, statuses }) => {
    const isAbout = (finding: Finding): boolean => finding.operation === operation
    const violations = total.violations.filter(isAbout)
    const warnings = total.warnings.filter(isAbout)
    return {
      operation,
      called:
        violations.length + warnings.length > 0 || statuses.some(({ answers, injected }) => answers + injected > 0),
      violations,
      answerViolations: total.answer_violations.filter(isAbout),
      warnings,
    }
  })
}

/** How much of each kind was reached. */
export function summaryOf({
  operations,
  lifecycle_moves,
  scenarios,
}: Pick<Coverage, 'operations' | 'lifecycle_moves' | 'scenarios'>): Coverage['summary'] {
  const statuses = operations.flatMap((operation) => operation.statuses)
  return {
    operations: tallyOf(operations),
    statuses: tallyOf(statuses),
    error_codes: tallyOf(statuses.flatMap((status) => status.error_codes)),
    request_fields: tallyOf(operations.flatMap((operation) => operation.request_fields)),
    response_fields: tallyOf(operations.flatMap((operation) => operation.response_fields)),
    lifecycle_moves: tallyOf(lifecycle_moves),
    scenarios: tallyOf(scenarios),
  }
}
