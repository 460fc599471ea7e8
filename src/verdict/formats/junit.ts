import type { CaseResult, ContractRecord, FindingOrigin, TestName } from '../report-types.ts'
import { type JunitCase, type JunitSuite, junitXml } from '../../domain/junit.ts'
import {
  answerSentence,
  leftOutSentence,
  originLines,
  pathSentence,
  ruleSentence,
  violationSentence,
  warningSentence,
} from '../sentences.ts'
import { byOperation, type OperationReport } from '../report-pair.ts'
import type { JudgedReports } from '../verdict.ts'
import { coverageRows } from './text.ts'

/** Both reports as JUnit XML. A case has one failure that lists all violations: most readers show only the first failure. */
export function junit(reports: JudgedReports): string {
  const { contract } = reports
  const tests = reports.cases ? [casesSuite(reports.cases)] : testSuites(reports)
  const suites = [...tests, contractSuite(reports), coverageSuite(reports)]
  const timestamp = contract.at.slice(0, '2026-01-01T00:00:00'.length)
  return `${junitXml('toolmock', suites, timestamp)}\n`
}

/** The cases of `run --cases`, each with all that it failed by. */
function casesSuite(cases: readonly CaseResult[]): JunitSuite {
  return {
    name: 'cases',
    cases: cases.map(({ name, file, line, reasons, duration_ms }) => {
      const texts = reasons.map(({ kind, sentence, details }) => [`${kind}: ${sentence}`, ...details].join('\n  '))
      return { className: file, name, file, line, seconds: duration_ms / 1000, texts }
    }),
  }
}

/** The tests that environments were made for, by their own names: each fails by the findings that it had. None without labels. */
function testSuites({ contract: { total, environments } }: JudgedReports): JunitSuite[] {
  const found = [
    ...total.violations.map((finding) => ({ ...finding, sentence: violationSentence(finding) })),
    ...total.unknown_paths.map((path) => ({ ...path, sentence: pathSentence(path) })),
    ...total.unfired_rules.map((rule) => ({ tests: rule.test ? [rule.test] : [], sentence: ruleSentence(rule) })),
  ]
  const tests = new Map<string, { test: TestName; texts: string[] }>()
  const of = (test: TestName) => {
    const key = `${test.file ?? ''}\n${test.label}`
    const known = tests.get(key) ?? { test, texts: [] }
    tests.set(key, known)
    return known
  }
  for (const { test } of environments) if (test) of(test)
  for (const { tests: named, sentence } of found) for (const test of named) of(test).texts.push(sentence)
  if (tests.size === 0) return []
  const cases = [...tests.values()].map(({ test: { label, file, line }, texts }): JunitCase => {
    return { className: file ?? 'tests.tests', name: label, ...(file !== null && { file, line }), texts }
  })
  return [{ name: 'tests', cases }]
}

function contractSuite(reports: JudgedReports): JunitSuite {
  const { total } = reports.contract
  const operations = byOperation(reports)
  return {
    name: 'contract',
    cases: [
      ...operations.filter(({ called }) => called).map(operationCase),
      ...operations.filter(({ answerViolations }) => answerViolations.length > 0).map(answerCase),
      ...total.unknown_paths.map((path): JunitCase => {
        const texts = [withRequests(pathSentence(path), path)]
        return { className: 'contract.unknown paths', name: `${path.method} ${path.path}`, texts }
      }),
      ...total.unfired_rules.map((rule): JunitCase => {
        const name = `${rule.scenario}: ${rule.rule}${rule.environment === null ? '' : ` (${rule.environment})`}`
        return { className: 'contract.rules that must fire', name, texts: [ruleSentence(rule)] }
      }),
    ],
    out: [...countsLines(total), ...(reports.allowed ?? []).map((sentence) => `allowed: ${sentence}`)],
  }
}

function operationCase({ operation, violations, warnings }: OperationReport): JunitCase {
  return {
    className: 'contract.operations',
    name: operation,
    texts: violations.map((finding) => withRequests(violationSentence(finding), finding)),
    out: warnings.map((warning) => withRequests(`warning: ${warningSentence(warning)}`, warning)),
  }
}

function answerCase({ operation, answerViolations }: OperationReport): JunitCase {
  const texts = answerViolations.map((finding) => withRequests(answerSentence(finding), finding))
  return { className: 'contract.answers of the mock', name: operation, outcome: 'error', texts }
}

const NOT_DRIVEN = {
  never: 'never driven: no call of it succeeded',
  injected_only: 'driven only by answers that a scenario injected',
}

function coverageSuite(reports: JudgedReports): JunitSuite {
  return {
    name: 'coverage',
    cases: [
      ...reports.coverage.total.operations.map(({ operation, reach }): JunitCase => {
        const about = { className: 'coverage.operations', name: operation }
        return reach === 'driven' ? about : { ...about, outcome: 'skipped', texts: [NOT_DRIVEN[reach]] }
      }),
      ...reports.shortfalls.map(({ of, sentence }): JunitCase => {
        return { className: 'coverage.minima', name: of, texts: [sentence] }
      }),
    ],
    out: coverageRows(reports.verdict).map(([kind, { total, driven, injected_only: injected, never }]) => {
      return `${kind}: ${driven} of ${total} driven, ${injected} only by injection, ${never} never`
    }),
  }
}

function countsLines(total: ContractRecord): string[] {
  const line = `${total.requests} requests, ${total.injected} of them answered, cut or changed by a scenario`
  return total.left_out > 0 ? [line, leftOutSentence(total)] : [line]
}

function withRequests(sentence: string, origin: FindingOrigin): string {
  return [sentence, ...originLines(origin), `requests: ${origin.requests.join(', ')}`].join('\n  ')
}
