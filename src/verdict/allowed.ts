import type { ContractRecord, ContractReport, Finding, UnknownPath } from '../documents/report-schemas.ts'
import { type Allowance, allows, UNKNOWN_PATH } from './allowance.ts'
import type { Allowed, ReportPair } from './report-pair.ts'

/** The same reports, in which nothing that is allowed stands among what is wrong. */
export function withoutAllowed({ contract, coverage }: ReportPair, allow: readonly Allowance[]): ReportPair {
  const isAllowed = (about: { operation: string; path: string }): boolean => allow.some((each) => allows(each, about))
  const isViolation = (finding: Finding): boolean => !isAllowed(finding)
  const isUnknown = ({ path }: UnknownPath): boolean => !isAllowed({ operation: UNKNOWN_PATH, path })
  const wrongIn = ({ violations, unknown_paths }: Allowed): Allowed => {
    return { violations: violations.filter(isViolation), unknown_paths: unknown_paths.filter(isUnknown) }
  }
  const { violations, unknown_paths } = contract.total
  const total = { ...contract.total, ...wrongIn(contract.total) }
  return {
    coverage,
    contract: {
      ...contract,
      ok: isKept(total),
      total,
      environments: contract.environments.map((each) => ({ ...each, ...wrongIn(each) })),
    },
    allowed: {
      violations: violations.filter((each) => !isViolation(each)),
      unknown_paths: unknown_paths.filter((each) => !isUnknown(each)),
    },
  }
}

/** Whether there is nothing wrong. */
export function isKept(record: ContractRecord): ContractReport['ok'] {
  const { violations, answer_violations, unknown_paths, unfired_rules } = record
  return [violations, answer_violations, unknown_paths, unfired_rules].every((list) => list.length === 0)
}
