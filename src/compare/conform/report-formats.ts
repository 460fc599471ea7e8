import { type JunitCase, junitXml } from '../../model/domain/junit.ts'
import type { CheckOutcome } from './check.ts'
import type { ConformReport } from './run.ts'

/** A report as text, without a line break at its end. */
export function conformReportText(report: ConformReport, format: 'text' | 'json' | 'junit'): string {
  switch (format) {
    case 'text':
      return readableReport(report)
    case 'json':
      return JSON.stringify({ checks: report.checks, summary: report.summary }, undefined, 2)
    case 'junit':
      return conformJunit(report)
  }
}

function readableReport({ checks, summary }: ConformReport): string {
  const width = Math.max(...checks.map(({ id }) => id.length))
  const lines = checks.map((check) => {
    const line = `${check.result.padEnd(8)}${check.id.padEnd(width)}  ${check.title} (${check.basis})`
    return check.result === 'broken' ? `${line}\n${' '.repeat(10)}${check.reason}` : line
  })
  const { total, held, broken, skipped } = summary
  const last = `${total} checks: ${held} held, ${broken} broken, ${skipped} skipped`
  return [...lines, '', ...skippedReasons(checks), last].join('\n')
}

/** Each reason for skipping once, with how many checks it took. */
function skippedReasons(checks: readonly CheckOutcome[]): string[] {
  const reasons = new Map<string, number>()
  for (const { result, reason } of checks) {
    if (result === 'skipped') reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  return [...reasons].map(([reason, count]) => `${count} skipped: ${reason}`)
}

function conformJunit({ checks }: ConformReport): string {
  const cases = checks.map(({ id, title, basis, result, reason }): JunitCase => {
    const [className = ''] = id.split('/')
    const about = { className, name: `${id}: ${title} (${basis})` }
    return result === 'held' ? about : { ...about, outcome: OUTCOMES[result], texts: [reason] }
  })
  return junitXml('toolmock conform', [{ name: 'conformance', cases }])
}

const OUTCOMES = { broken: 'failure', skipped: 'skipped' } as const
