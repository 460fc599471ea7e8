import type { Coverage, Finding, Warning } from '../../documents/report-schemas.ts'
import type { ReportPair } from '../report-pair.ts'

/** Everything that both reports tell of one operation. */
export interface OperationReport {
  readonly operation: string
  readonly coverage: Coverage['operations'][number]
  /** Whether a client has called it, however that ended. */
  readonly called: boolean
  readonly violations: readonly Finding[]
  readonly answerViolations: readonly Finding[]
  readonly warnings: readonly Warning[]
}

/** Every operation of the service, in the order of its contract. */
export function byOperation({ contract: { total }, coverage }: ReportPair): OperationReport[] {
  return coverage.total.operations.map((each) => {
    const { operation, statuses } = each
    const isAbout = (finding: Finding): boolean => finding.operation === operation
    const violations = total.violations.filter(isAbout)
    const warnings = total.warnings.filter(isAbout)
    return {
      operation,
      coverage: each,
      called:
        violations.length + warnings.length > 0 || statuses.some(({ answers, injected }) => answers + injected > 0),
      violations,
      answerViolations: total.answer_violations.filter(isAbout),
      warnings,
    }
  })
}
