import { xmlAttribute } from '../domain/xml-text.ts'
import type { CheckOutcome, CheckResult } from './check.ts'
import type { ConformReport } from './run.ts'

export const REPORT_FORMATS = ['text', 'json', 'junit'] as const
export type ConformReportFormat = (typeof REPORT_FORMATS)[number]

/** A report as text, without a line break at its end. */
export function reportText(report: ConformReport, format: ConformReportFormat): string {
  switch (format) {
    case 'text':
      return readable(report)
    case 'json':
      return JSON.stringify({ checks: report.checks, summary: report.summary }, undefined, 2)
    case 'junit':
      return junit(report)
  }
}

function readable({ checks, summary }: ConformReport): string {
  const width = Math.max(...checks.map(({ id }) => id.length))
  const lines = checks.map((check) => {
    const line = `${check.result.padEnd(8)}${check.id.padEnd(width)}  ${check.title} (${check.basis})`
    return check.result === 'broken' ? `${line}\n${' '.repeat(10)}${check.reason}` : line
  })
  const { total, held, broken, skipped } = summary
  return [...lines, '', ...skips(checks), `${total} checks: ${held} held, ${broken} broken, ${skipped} skipped`].join(
    '\n',
  )
}

/** Each reason for skipping once, with how many checks it took. */
function skips(checks: readonly CheckOutcome[]): string[] {
  const reasons = new Map<string, number>()
  for (const { result, reason } of checks) {
    if (result === 'skipped') reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  return [...reasons].map(([reason, count]) => `${count} skipped: ${reason}`)
}

function junit({ checks }: ConformReport): string {
  const cases = checks.map(({ id, title, basis, result, reason }): JunitCase => {
    const [group = ''] = id.split('/')
    return { group, name: `${id}: ${title} (${basis})`, result, reason }
  })
  return junitText('conform', 'conformance', cases)
}

export interface JunitCase {
  readonly group: string
  readonly name: string
  readonly result: CheckResult
  readonly reason: string
  /** What kind of failure it is. */
  readonly type?: string
}

/** One suite as JUnit XML, without a line break at its end. */
export function junitText(command: string, suite: string, cases: readonly JunitCase[]): string {
  const of = (wanted: CheckResult): number => cases.filter(({ result }) => result === wanted).length
  const counts = `tests="${cases.length}" failures="${of('broken')}" skipped="${of('skipped')}" errors="0"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="toolmock ${command}" ${counts}>`,
    `  <testsuite name="${suite}" ${counts}>`,
    ...cases.map(testCase),
    '  </testsuite>',
    '</testsuites>',
  ].join('\n')
}

function testCase({ group, name, result, reason, type }: JunitCase): string {
  const head = `    <testcase classname="${xmlAttribute(group)}" name="${xmlAttribute(name)}"`
  if (result === 'held') return `${head}/>`
  const element = result === 'skipped' ? 'skipped' : type === undefined ? 'failure' : `failure type="${type}"`
  return `${head}><${element} message="${xmlAttribute(reason)}"/></testcase>`
}
