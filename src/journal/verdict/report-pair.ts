import type { Finding } from '../../model/domain/finding.ts'
import { isViolation } from '../../model/domain/finding.ts'
import { violation } from '../request-journal/findings.ts'
import { findingSentence, sourceLines } from './sentences.ts'
import type { TestName } from '../request-journal/view.ts'
import type {
  CaseResult,
  ContractRecord,
  ContractReport,
  Coverage,
  CoverageReport,
  Reach,
  ReportFinding,
  Tally,
} from './report-types.ts'

/** A finding in words: why a verdict failed, what it allowed, or a warning. */
export interface VerdictItem extends ReportFinding {
  readonly sentence: string
  /** Its tests, and its first requests with what they sent, a line each. */
  readonly details: readonly string[]
}

export interface Verdict {
  readonly ok: boolean
  readonly reasons: readonly VerdictItem[]
  /** What would be reasons, and was allowed. */
  readonly allowed: readonly VerdictItem[]
  /** Fields without effect, and allowances that no request needed; they fail a verdict only by `failOn`. */
  readonly warnings: readonly VerdictItem[]
  readonly requests: number
  /** Of them, those that were neither refused for their credentials nor for a token alone. */
  readonly judged: number
  readonly injected: number
  /** The scenarios that were started, and how often their rules fired. */
  readonly scenarios: ContractRecord['scenarios']
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

export function isKept({ incomplete_since: since, findings }: ContractRecord): ContractReport['ok'] {
  return since === undefined && !findings.some(isViolation)
}

export function verdictItem(finding: ReportFinding, details = sourceLines(finding)): VerdictItem {
  return { ...finding, sentence: findingSentence(finding), details }
}

type RunFinding = Pick<Finding, 'code' | 'field' | 'allowed' | 'found'> &
  Partial<Pick<ReportFinding, 'kind' | 'rule'>> & { readonly test?: TestName | null }

/** A finding about a whole run, which belongs to no request. */
export function runFinding({ test = null, ...parts }: RunFinding): ReportFinding {
  const tests = test === null ? [] : [test]
  const source = { request: null, count: 1, requests: [], examples: [], tests, test_count: tests.length }
  return { ...violation({ operation: null, basis: 'choice', ...parts }), ...source }
}

export function tallyOf(reached: readonly { readonly reach: Reach }[]): Tally {
  const tally = { total: reached.length, driven: 0, injected_only: 0, never: 0 }
  for (const { reach } of reached) tally[reach] += 1
  return tally
}

export interface OperationReport {
  /** Null for findings about no operation: paths that are not served, and findings about the run. */
  readonly operation: string | null
  readonly called: boolean
  readonly findings: readonly ReportFinding[]
}

/** Every operation of the service, in the order of its contract, and what else findings are about. */
export function byOperation({ contract: { total }, coverage }: ReportPair): OperationReport[] {
  const { operations } = coverage.total
  const names = new Set<string | null>([
    ...operations.map(({ operation }) => operation),
    ...total.findings.map(({ operation }) => operation),
  ])
  return [...names].map((operation) => {
    const statuses = operations.find((each) => each.operation === operation)?.statuses ?? []
    const findings = total.findings.filter((finding) => finding.operation === operation)
    const called = findings.length > 0 || statuses.some(({ answers, injected }) => answers + injected > 0)
    return { operation, called, findings }
  })
}

export function reportSummary({
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
