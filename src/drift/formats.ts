import type { Result } from 'sarif'
import { type JunitCase, junitXml } from '../domain/junit.ts'
import { fingerprints, inOperation, plainMessage, sarifLog } from '../verdict/formats/sarif.ts'
import { CLASSES, type Finding } from './findings.ts'
import { type DriftReport, driftText } from './report.ts'

/** A report as text, without a line break at its end. */
export function driftIn(format: 'text' | 'json' | 'junit' | 'sarif', report: DriftReport, version: string): string {
  switch (format) {
    case 'text':
      return driftText(report)
    case 'json':
      return JSON.stringify(report, undefined, 2)
    case 'junit':
      return junit(report)
    case 'sarif':
      return sarif(report, version)
  }
}

/** A test for each finding, which fails, and one for each gap that was confirmed. */
function junit({ findings, gaps }: DriftReport): string {
  const failed = (each: Finding): JunitCase => {
    return { className: each.operation, name: each.id, type: each.class, texts: [sentence(each)] }
  }
  const skipped = { outcome: 'skipped', texts: ['no request was about it'] } as const
  const cases: JunitCase[] = [
    ...findings.map(failed),
    ...gaps.confirmed.map((name) => ({ className: 'gaps', name })),
    ...gaps.not_exercised.map((name) => ({ className: 'gaps', name, ...skipped })),
  ]
  return junitXml('toolmock drift', [{ name: 'drift', cases }])
}

const LEVELS = { contract: 'error', mock: 'warning', data: 'note' } as const
const RULES: Readonly<Record<Finding['class'], string>> = {
  contract: 'The service breaks its document, or the document is old',
  mock: 'The document is silent, and the mock has chosen otherwise than the service',
  data: 'The service and the mock hold other accounts, tools or connections',
}

function sarif({ findings, gaps, summary }: DriftReport, version: string): string {
  const rules = CLASSES.map((name) => ({
    id: `drift-${name}`,
    shortDescription: { text: RULES[name] },
    defaultConfiguration: { level: LEVELS[name] },
  }))
  const run = { results: findings.map(resultOf), properties: { gaps, summary } }
  return sarifLog({ name: 'toolmock drift', version }, rules, run)
}

function resultOf(finding: Finding): Result {
  const { id, operation, place, gap, basis, service, mock, settings } = finding
  return {
    ruleId: `drift-${finding.class}`,
    ruleIndex: CLASSES.indexOf(finding.class),
    level: LEVELS[finding.class],
    message: { text: plainMessage(sentence(finding)) },
    locations: [inOperation(operation, place === '' ? operation : place, id)],
    partialFingerprints: fingerprints(id),
    properties: { id, gap, basis, service, mock, settings },
  }
}

function sentence({ id, gap, basis, title, service, mock, settings }: Finding): string {
  const fix = settings ? `; fix: ${JSON.stringify(settings)}` : ''
  const about = title === undefined ? '' : `: ${title}`
  return `${id}${about}: service ${JSON.stringify(service)}, mock ${JSON.stringify(mock)} (${gap ?? basis})${fix}`
}
