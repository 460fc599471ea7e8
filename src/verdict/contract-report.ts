import type { ContractRecord, Finding, UnfiredRule } from '../documents/report-schemas.ts'
import { unfired } from '../scenarios/scenario-run.ts'
import type { Basis } from './basis.ts'
import type { ContractFields } from './contract-fields.ts'
import { EnvironmentRecord } from './environment-record.ts'
import type { Counted, Noted } from './findings.ts'
import type { Subject } from './subject.ts'

interface Rules {
  readonly basis: Basis
  readonly declared: ContractFields
}

/** What the clients of these environments did wrong, taken together. */
export function contractRecordOf(subjects: readonly Subject[], { basis, declared }: Rules): ContractRecord {
  const record = EnvironmentRecord.together(
    subjects.map((subject) => subject.record),
    declared,
  )
  const { violations, answerViolations, warnings, unknownPaths } = record
  const finding = (counted: Counted<Noted>): Finding => findingOf(counted, basis)
  return {
    requests: record.requests,
    injected: record.injected,
    violations: [...violations.list()].map(finding),
    answer_violations: [...answerViolations.list()].map(finding),
    unknown_paths: [...unknownPaths.list()].map(({ note, count, requests }) => ({ ...note, count, requests })),
    warnings: [...warnings.list()].map((counted) => ({ ...finding(counted), kind: counted.note.kind })),
    unfired_rules: unfiredRules(subjects),
    left_out: [violations, answerViolations, warnings, unknownPaths].reduce((sum, { leftOut }) => sum + leftOut, 0),
  }
}

function findingOf({ note, count, requests }: Counted<Noted>, basis: Basis): Finding {
  const { operation, path, constraint, error_code, found, allowed } = note
  return { operation, path, constraint, error_code, found, allowed, basis: basis.of(note), count, requests }
}

/**
 * The rules with `must_fire` that never fired. Who starts a scenario in an environment wants it to fire there; one of the
 * start runs in every environment, and has to fire in one of them.
 */
function unfiredRules(subjects: readonly Subject[]): UnfiredRule[] {
  const byHand = subjects.flatMap(({ name, scenarios }) =>
    unfired(scenarios.filter((scenario) => scenario.byHand)).map((rule) => ({ environment: name, ...rule })),
  )
  const ofTheStart = subjects.flatMap(({ scenarios }) => scenarios.filter((scenario) => !scenario.byHand))
  const fired = new Set(
    subjects
      .flatMap(({ scenarios }) => scenarios)
      .flatMap(({ name, rules }) => rules.filter(({ hits }) => hits > 0).map(({ rule }) => `${name}\n${rule}`)),
  )
  const nowhere = new Map<string, UnfiredRule>()
  for (const rule of unfired(ofTheStart)) {
    const key = `${rule.scenario}\n${rule.rule}`
    if (fired.has(key)) continue
    nowhere.set(key, { environment: null, ...rule, matched: rule.matched + (nowhere.get(key)?.matched ?? 0) })
  }
  return [...byHand, ...nowhere.values()]
}
