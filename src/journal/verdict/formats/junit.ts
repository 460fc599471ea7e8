import { isViolation } from '../../../model/domain/finding.ts'
import { type JunitCase, type JunitSuite, junitXml } from '../../../model/domain/junit.ts'
import type { TestName } from '../../request-journal/view.ts'
import type { CaseResult, ContractRecord, ReportFinding } from '../report-types.ts'
import { findingSentence, leftOutSentence, sourceLines } from '../sentences.ts'
import { byOperation } from '../report-pair.ts'
import type { JudgedReports } from '../verdict.ts'
import { coverageRows } from './text.ts'

/** Both reports as JUnit XML. A case has one failure that lists all violations: most readers show only the first failure. */
export function junitReport(reports: JudgedReports): string {
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
  const tests = new Map<string, { test: TestName; texts: string[] }>()
  const of = (test: TestName) => {
    const key = `${test.file ?? ''}\n${test.name}`
    const suite = tests.get(key) ?? { test, texts: [] }
    tests.set(key, suite)
    return suite
  }
  for (const { test } of environments) if (test) of(test)
  for (const finding of total.findings.filter(isViolation))
    for (const test of finding.tests) of(test).texts.push(findingSentence(finding))
  if (tests.size === 0) return []
  const cases = [...tests.values()].map(({ test: { name, file, line }, texts }): JunitCase => {
    return { className: file ?? 'tests.tests', name, ...(file !== null && { file, line }), texts }
  })
  return [{ name: 'tests', cases }]
}

/** Of the defects of the mock an operation has a case of its own: they are an error, and no failure. */
function contractSuite(reports: JudgedReports): JunitSuite {
  const { total } = reports.contract
  const isDefect = ({ code }: ReportFinding): boolean => code === 'mock_answer'
  const cases = byOperation(reports).flatMap(({ operation, called, findings }): JunitCase[] => {
    const violations = findings.filter((finding) => isViolation(finding) && !isDefect(finding))
    const warnings = findings.filter((finding) => !isViolation(finding)).map((each) => `warning: ${withRequests(each)}`)
    if (operation === null)
      return violations.map((each) => ({
        className: `contract.${each.code}`,
        name: each.field + (each.rule?.environment ? ` in environment ${each.rule.environment}` : ''),
        texts: [withRequests(each)],
      }))
    if (!called) return []
    const defects = findings.filter(isDefect).map(withRequests)
    const suite = {
      className: 'contract.operations',
      name: operation,
      texts: violations.map(withRequests),
      out: warnings,
    }
    const ofMock = {
      className: 'contract.answers of the mock',
      name: operation,
      texts: defects,
      outcome: 'error',
    } as const
    return defects.length === 0 ? [suite] : [suite, ofMock]
  })
  const allowed = (reports.allowed ?? []).map((sentence) => `allowed: ${sentence}`)
  return { name: 'contract', cases, out: [...countsLines(total), ...allowed] }
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
      ...reports.shortfalls.map((finding): JunitCase => {
        return { className: 'coverage.minima', name: shortfallName(finding), texts: [findingSentence(finding)] }
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

function withRequests(finding: ReportFinding): string {
  const ids = finding.request === null ? [] : [`requests: ${finding.requests.join(', ')}`]
  return [findingSentence(finding), ...sourceLines(finding), ...ids].join('\n  ')
}

/** Of minima what there is too little of, `operations` or `statuses`: there may be several. */
function shortfallName({ code, field }: ReportFinding): string {
  return code === 'coverage' ? field.slice(field.lastIndexOf(' ') + 1) : code
}
