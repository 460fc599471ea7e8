import type { CaseResult, ContractRecord, FindingOrigin, TestName } from '../report-types.ts'
import { xmlAttribute, xmlText } from '../../domain/xml-text.ts'
import {
  allowedSentences,
  answerSentence,
  leftOutSentence,
  originLines,
  pathSentence,
  ruleSentence,
  violationSentence,
  warningSentence,
} from '../sentences.ts'
import { byOperation, type OperationReport, type ReportPair } from '../report-pair.ts'

type Outcome = 'failure' | 'error' | 'skipped'

interface Case {
  readonly group: string
  readonly name: string
  readonly file?: string
  readonly line?: number | null
  /** 0 when absent. */
  readonly seconds?: number
  /** Absent for a passed case. */
  readonly outcome?: Outcome
  /** The sentences of the outcome, each with its lines. */
  readonly texts?: readonly string[]
  readonly out?: readonly string[]
}

interface Suite {
  readonly name: string
  readonly cases: readonly Case[]
  readonly out: readonly string[]
}

/** Both reports as JUnit XML. A case has one failure that lists all violations: most readers show only the first failure. */
export function junit(reports: ReportPair): string {
  const { contract } = reports
  const tests = reports.cases ? [casesSuite(reports.cases)] : testSuites(reports)
  const suites = [...tests, contractSuite(reports), coverageSuite(reports)]
  const timestamp = contract.at.slice(0, '2026-01-01T00:00:00'.length)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="toolmock" ${counts(suites.flatMap(({ cases }) => cases))}>`,
    ...suites.flatMap((suite) => suiteLines(suite, timestamp)),
    '</testsuites>',
    '',
  ].join('\n')
}

/** The cases of `run --cases`, each with all that it failed by. */
function casesSuite(cases: readonly CaseResult[]): Suite {
  return {
    name: 'cases',
    cases: cases.map(({ name, file, line, reasons, duration_ms }) => {
      const texts = reasons.map(({ kind, sentence, details }) => [`${kind}: ${sentence}`, ...details].join('\n  '))
      const failed = texts.length === 0 ? {} : { outcome: 'failure' as const, texts }
      return { group: file, name, file, line, seconds: duration_ms / 1000, ...failed }
    }),
    out: [],
  }
}

/** The tests that environments were made for, by their own names: each fails by the findings that it had. None without labels. */
function testSuites({ contract: { total, environments } }: ReportPair): Suite[] {
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
  const cases = [...tests.values()].map(({ test: { label, file, line }, texts }): Case => {
    const failed = texts.length === 0 ? {} : { outcome: 'failure' as const, texts }
    return { group: file ?? 'tests', name: label, ...(file !== null && { file, line }), ...failed }
  })
  return [{ name: 'tests', cases, out: [] }]
}

function contractSuite(reports: ReportPair): Suite {
  const { total } = reports.contract
  const operations = byOperation(reports)
  return {
    name: 'contract',
    cases: [
      ...operations.filter(({ called }) => called).map(operationCase),
      ...operations.filter(({ answerViolations }) => answerViolations.length > 0).map(answerCase),
      ...total.unknown_paths.map((path): Case => {
        const name = `${path.method} ${path.path}`
        return { group: 'unknown paths', name, outcome: 'failure', texts: [withRequests(pathSentence(path), path)] }
      }),
      ...total.unfired_rules.map((rule): Case => {
        const name = `${rule.scenario}: ${rule.rule}${rule.environment === null ? '' : ` (${rule.environment})`}`
        return { group: 'rules that must fire', name, outcome: 'failure', texts: [ruleSentence(rule)] }
      }),
    ],
    out: [...countsLines(total), ...allowedLines(reports)],
  }
}

function operationCase({ operation, violations, warnings }: OperationReport): Case {
  const texts = violations.map((finding) => withRequests(violationSentence(finding), finding))
  return {
    group: 'operations',
    name: operation,
    ...(texts.length === 0 ? {} : { outcome: 'failure', texts }),
    out: warnings.map((warning) => withRequests(`warning: ${warningSentence(warning)}`, warning)),
  }
}

function answerCase({ operation, answerViolations }: OperationReport): Case {
  const texts = answerViolations.map((finding) => withRequests(answerSentence(finding), finding))
  return { group: 'answers of the mock', name: operation, outcome: 'error', texts }
}

const NOT_DRIVEN = {
  never: 'never driven: no call of it succeeded',
  injected_only: 'driven only by answers that a scenario injected',
}

function coverageSuite(reports: ReportPair): Suite {
  return {
    name: 'coverage',
    cases: [
      ...reports.coverage.total.operations.map(({ operation, reach }): Case => {
        const about = { group: 'operations', name: operation }
        return reach === 'driven' ? about : { ...about, outcome: 'skipped', texts: [NOT_DRIVEN[reach]] }
      }),
      ...(reports.shortfalls ?? []).map(({ of, sentence }): Case => {
        return { group: 'minima', name: of, outcome: 'failure', texts: [sentence] }
      }),
    ],
    out: Object.entries(reports.coverage.total.summary).map(([kind, tally]) => {
      const { total, driven, injected_only: injected, never } = tally
      return `${kind.replaceAll('_', ' ')}: ${driven} of ${total} driven, ${injected} only by injection, ${never} never`
    }),
  }
}

function countsLines(total: ContractRecord): string[] {
  const line = `${total.requests} requests, ${total.injected} of them answered, cut or changed by a scenario`
  return total.left_out > 0 ? [line, leftOutSentence(total)] : [line]
}

function allowedLines({ allowed }: ReportPair): string[] {
  return allowed ? allowedSentences(allowed).map((sentence) => `allowed: ${sentence}`) : []
}

function withRequests(sentence: string, origin: FindingOrigin): string {
  return [sentence, ...originLines(origin), `requests: ${origin.requests.join(', ')}`].join('\n  ')
}

function suiteLines({ name, cases, out }: Suite, timestamp: string): string[] {
  return [
    `  <testsuite name="${name}" ${counts(cases)} time="0" timestamp="${timestamp}">`,
    ...cases.map((each) => caseLine(name, each)),
    ...outLine(out).map((line) => `    ${line}`),
    '  </testsuite>',
  ]
}

function counts(cases: readonly Case[]): string {
  const of = (wanted: Outcome): number => cases.filter(({ outcome }) => outcome === wanted).length
  return `tests="${cases.length}" failures="${of('failure')}" errors="${of('error')}" skipped="${of('skipped')}"`
}

function caseLine(
  suite: string,
  { group, name, file, line, seconds = 0, outcome, texts = [], out = [] }: Case,
): string {
  const className = file ?? `${suite}.${group}`
  const place =
    file === undefined
      ? ''
      : ` file="${xmlAttribute(file)}"${line === null || line === undefined ? '' : ` line="${line}"`}`
  const head = `    <testcase classname="${xmlAttribute(className)}" name="${xmlAttribute(name)}"${place} time="${seconds}"`
  const inside = [...(outcome ? [outcomeElement(outcome, texts)] : []), ...outLine(out)]
  return inside.length === 0 ? `${head}/>` : `${head}>${inside.join('')}</testcase>`
}

function outcomeElement(outcome: Outcome, texts: readonly string[]): string {
  const [first = ''] = texts.map((text) => text.split('\n', 1).join())
  const message = texts.length > 1 ? `${texts.length} findings, the first: ${first}` : first
  if (outcome === 'skipped') return `<skipped message="${xmlAttribute(message)}"/>`
  return `<${outcome} type="contract" message="${xmlAttribute(message)}">${xmlText(texts.join('\n'))}</${outcome}>`
}

function outLine(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`<system-out>${xmlText(lines.join('\n'))}</system-out>`]
}
