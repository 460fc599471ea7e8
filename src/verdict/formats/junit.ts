import type { ContractRecord } from '../../documents/report-schemas.ts'
import { xmlAttribute, xmlText } from '../../domain/xml-text.ts'
import {
  allowedSentences,
  answerSentence,
  leftOutSentence,
  pathSentence,
  ruleSentence,
  violationSentence,
  warningSentence,
} from '../sentences.ts'
import { byOperation, type OperationReport } from './by-operation.ts'
import type { ReportPair } from '../report-pair.ts'

type Outcome = 'failure' | 'error' | 'skipped'

interface Case {
  readonly group: string
  readonly name: string
  /** Absent where the case has passed. */
  readonly outcome?: Outcome
  /** What there is to say of the outcome: a sentence each, with the lines that belong to it. */
  readonly told?: readonly string[]
  /** What is worth knowing beside it. */
  readonly out?: readonly string[]
}

interface Suite {
  readonly name: string
  readonly cases: readonly Case[]
  readonly out: readonly string[]
}

/**
 * Both reports as JUnit XML. A case has one failure that lists all that is wrong with it: most readers of this format show no
 * more than the first.
 */
export function junit(reports: ReportPair): string {
  const { contract } = reports
  const suites = [contractSuite(reports), coverageSuite(reports)]
  const timestamp = contract.at.slice(0, '2026-01-01T00:00:00'.length)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="toolmock" ${counts(suites.flatMap(({ cases }) => cases))}>`,
    ...suites.flatMap((suite) => suiteLines(suite, timestamp)),
    '</testsuites>',
    '',
  ].join('\n')
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
        return { group: 'unknown paths', name, outcome: 'failure', told: [withRequests(pathSentence(path), path)] }
      }),
      ...total.unfired_rules.map((rule): Case => {
        const name = `${rule.scenario}: ${rule.rule}${rule.environment === null ? '' : ` (${rule.environment})`}`
        return { group: 'rules that had to fire', name, outcome: 'failure', told: [ruleSentence(rule)] }
      }),
    ],
    out: [...countsLines(total), ...allowedLines(reports)],
  }
}

function operationCase({ operation, violations, warnings }: OperationReport): Case {
  const told = violations.map((finding) => withRequests(violationSentence(finding), finding))
  return {
    group: 'operations',
    name: operation,
    ...(told.length === 0 ? {} : { outcome: 'failure', told }),
    out: warnings.map((warning) => withRequests(`warning: ${warningSentence(warning)}`, warning)),
  }
}

function answerCase({ operation, answerViolations }: OperationReport): Case {
  const told = answerViolations.map((finding) => withRequests(answerSentence(finding), finding))
  return { group: 'answers of the mock', name: operation, outcome: 'error', told }
}

const NOT_DRIVEN = {
  never: 'never driven: no call of it has succeeded',
  injected_only: 'driven by answers that a scenario injected, and by no other',
}

function coverageSuite(reports: ReportPair): Suite {
  return {
    name: 'coverage',
    cases: [
      ...reports.coverage.total.operations.map(({ operation, reach }): Case => {
        const about = { group: 'operations', name: operation }
        return reach === 'driven' ? about : { ...about, outcome: 'skipped', told: [NOT_DRIVEN[reach]] }
      }),
      ...(reports.shortfalls ?? []).map(({ of, sentence }): Case => {
        return { group: 'minima', name: of, outcome: 'failure', told: [sentence] }
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

function withRequests(sentence: string, { requests }: { readonly requests: readonly string[] }): string {
  return `${sentence}\n  requests: ${requests.join(', ')}`
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

function caseLine(suite: string, { group, name, outcome, told = [], out = [] }: Case): string {
  const head = `    <testcase classname="${suite}.${group}" name="${xmlAttribute(name)}" time="0"`
  const inside = [...(outcome ? [outcomeElement(outcome, told)] : []), ...outLine(out)]
  return inside.length === 0 ? `${head}/>` : `${head}>${inside.join('')}</testcase>`
}

function outcomeElement(outcome: Outcome, told: readonly string[]): string {
  const [first = ''] = told.map((text) => text.split('\n  requests: ', 1).join())
  const message = told.length > 1 ? `${told.length} violations, the first: ${first}` : first
  if (outcome === 'skipped') return `<skipped message="${xmlAttribute(message)}"/>`
  return `<${outcome} type="contract" message="${xmlAttribute(message)}">${xmlText(told.join('\n'))}</${outcome}>`
}

function outLine(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`<system-out>${xmlText(lines.join('\n'))}</system-out>`]
}
