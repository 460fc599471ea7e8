import { jsonText } from '../../model/domain/json.ts'
import type { Result } from 'sarif'
import { type JunitCase, junitXml } from '../../model/domain/junit.ts'
import { plural } from '../../model/domain/text.ts'
import { matchesGlob } from '../../model/domain/value-match.ts'
import { partialFingerprints, inOperation, plainMessage, sarifLog } from '../../journal/verdict/formats/sarif.ts'
import { CLASSES, type DriftFinding, type Gaps } from './findings.ts'

export interface DriftReport {
  readonly findings: readonly DriftFinding[]
  readonly gaps: Gaps
  readonly summary: Readonly<Record<'total' | DriftFinding['class'], number>>
}

export function reportOf(findings: readonly DriftFinding[], gaps: Gaps): DriftReport {
  const count = (wanted: DriftFinding['class']): number => findings.filter((each) => each.class === wanted).length
  const counts = { contract: count('contract'), mock: count('mock'), data: count('data') }
  return { findings, gaps, summary: { total: findings.length, ...counts } }
}

/** A report for people, without a line break at its end. */
export function driftText({ findings, gaps, summary }: DriftReport): string {
  const { total, contract, mock, data } = summary
  return [
    ...CLASSES.flatMap((each) => findings.filter((finding) => finding.class === each).flatMap(linesOfFinding)),
    `gaps confirmed: ${gaps.confirmed.join(', ') || 'none'}`,
    `gaps contradicted: ${gaps.contradicted.join(', ') || 'none'}`,
    `gaps not exercised: ${gaps.not_exercised.join(', ') || 'none'}`,
    '',
    `${plural(total, 'finding')}: ${contract} contract, ${mock} mock, ${data} data`,
  ].join('\n')
}

function linesOfFinding(finding: DriftFinding): string[] {
  const { id, class: of, gap, basis, title, settings } = finding
  const fix = settings && `fix: ${jsonText(settings)}`
  const below = [title, bothResponses(finding), fix].filter((each) => each !== undefined)
  return [`${of.padEnd(9)}${id} (${gap ?? basis})`, ...below.map((each) => `         ${each}`), '']
}

/** Undefined for an entry of `--accept`, which has none. */
function bothResponses({ kind, service, mock }: DriftFinding): string | undefined {
  return kind === 'accepted' ? undefined : `service ${jsonText(service)}, mock ${jsonText(mock)}`
}

export interface Accepted {
  readonly finding: string
  readonly reason: string
}

/** An accepted entry that no longer occurs is a finding. @param only the checks whose requests were sent; else all */
export function acceptedReport(
  { findings, gaps }: DriftReport,
  accepted: readonly Accepted[],
  only: readonly string[] | undefined,
): DriftReport {
  const ids = new Set(accepted.map(({ finding }) => finding))
  const remaining = findings.filter(({ id }) => !ids.has(id))
  // The id of a finding has that of its check behind the operation, then a place.
  const isTried = (id: string): boolean =>
    only?.some((pattern) => ['/', ':'].some((end) => matchesGlob(`*/${pattern}${end}*`, id))) !== false
  const stale = accepted.filter(({ finding }) => isTried(finding) && !findings.some(({ id }) => id === finding))
  return reportOf([...remaining, ...stale.map(staleFinding)], gaps)
}

function staleFinding({ finding, reason }: Accepted): DriftFinding {
  const [operation = '', ...placeParts] = finding.split('/')
  const title = `--accept names ${finding}, which no longer occurs: remove the entry (${reason})`
  const parts = { operation, place: placeParts.join('/'), kind: 'accepted' as const, basis: 'accepted' }
  return { id: `${finding}/accepted`, class: 'contract', ...parts, title, service: null, mock: null }
}

/** A report in a format, without a line break at its end. */
export function driftIn(format: 'text' | 'json' | 'junit' | 'sarif', report: DriftReport, version: string): string {
  switch (format) {
    case 'text':
      return driftText(report)
    case 'json':
      return jsonText(report, 2)
    case 'junit':
      return driftJunit(report)
    case 'sarif':
      return driftSarif(report, version)
  }
}

/** A test for each finding, which fails, and one for each gap that was confirmed. */
function driftJunit({ findings, gaps }: DriftReport): string {
  const failed = (each: DriftFinding): JunitCase => {
    return { className: each.operation, name: each.id, type: each.class, texts: [driftSentence(each)] }
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
const RULES: Readonly<Record<DriftFinding['class'], string>> = {
  contract: 'The service breaks its document, or the document is old',
  mock: 'The document is silent, and the mock has chosen otherwise than the service',
  data: 'The service and the mock hold other accounts, tools or connections',
}

function driftSarif({ findings, gaps, summary }: DriftReport, version: string): string {
  const rules = CLASSES.map((name) => ({
    id: `drift-${name}`,
    shortDescription: { text: RULES[name] },
    defaultConfiguration: { level: LEVELS[name] },
  }))
  const run = { results: findings.map(findingResult), properties: { gaps, summary } }
  return sarifLog({ name: 'toolmock drift', version }, rules, run)
}

function findingResult(finding: DriftFinding): Result {
  const { id, operation, place, gap, basis, service, mock, settings } = finding
  return {
    ruleId: `drift-${finding.class}`,
    ruleIndex: CLASSES.indexOf(finding.class),
    level: LEVELS[finding.class],
    message: { text: plainMessage(driftSentence(finding)) },
    locations: [inOperation(operation, place === '' ? operation : place, id)],
    partialFingerprints: partialFingerprints(id),
    properties: { id, gap, basis, service, mock, settings },
  }
}

function driftSentence(finding: DriftFinding): string {
  const { id, gap, basis, title, settings } = finding
  const fix = settings ? `; fix: ${jsonText(settings)}` : ''
  const about = [id, title, bothResponses(finding)].filter((each) => each !== undefined)
  return `${about.join(': ')} (${gap ?? basis})${fix}`
}
