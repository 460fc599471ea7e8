import { plural } from '../domain/text.ts'
import { CLASSES, type Finding, type Gaps } from './findings.ts'

/** What a comparison has found, in the form of `--format json`. */
export interface DriftReport {
  readonly findings: readonly Finding[]
  readonly gaps: Gaps
  readonly summary: Readonly<Record<'total' | Finding['class'], number>>
}

export function reportOf(findings: readonly Finding[], gaps: Gaps): DriftReport {
  const count = (wanted: Finding['class']): number => findings.filter((each) => each.class === wanted).length
  const counts = { contract: count('contract'), mock: count('mock'), data: count('data') }
  return { findings, gaps, summary: { total: findings.length, ...counts } }
}

/** A report for people, without a line break at its end. */
export function driftText({ findings, gaps, summary }: DriftReport): string {
  const { total, contract, mock, data } = summary
  return [
    ...CLASSES.flatMap((each) => findings.filter((finding) => finding.class === each).flatMap(lines)),
    `gaps confirmed: ${list(gaps.confirmed)}`,
    `gaps contradicted: ${list(gaps.contradicted)}`,
    `gaps not exercised: ${list(gaps.not_exercised)}`,
    '',
    `${plural(total, 'finding')}: ${contract} contract, ${mock} mock, ${data} data`,
  ].join('\n')
}

function lines(finding: Finding): string[] {
  const { id, class: of, gap, basis, title, service, mock, settings } = finding
  return [
    `${of.padEnd(9)}${id} (${gap ?? basis})`,
    ...(title === undefined ? [] : [`         ${title}`]),
    `         service ${JSON.stringify(service)}, mock ${JSON.stringify(mock)}`,
    ...(settings ? [`         fix: ${JSON.stringify(settings)}`] : []),
    '',
  ]
}

function list(gaps: readonly string[]): string {
  return gaps.length === 0 ? 'none' : gaps.join(', ')
}

/** A finding that is known. */
export interface Accepted {
  readonly finding: string
  readonly reason: string
}

/** A report without the findings that are accepted; an entry that no longer occurs is a finding. */
export function acceptedReport({ findings, gaps }: DriftReport, accepted: readonly Accepted[]): DriftReport {
  const known = new Set(accepted.map(({ finding }) => finding))
  const rest = findings.filter(({ id }) => !known.has(id))
  const stale = accepted.filter(({ finding }) => !findings.some(({ id }) => id === finding))
  return reportOf([...rest, ...stale.map(staleFinding)], gaps)
}

function staleFinding({ finding, reason }: Accepted): Finding {
  const [operation = '', ...rest] = finding.split('/')
  const title = `--accept names ${finding}, which no longer occurs: remove the entry (${reason})`
  const parts = { operation, place: rest.join('/'), kind: 'accepted' as const, basis: 'accepted' }
  return { id: `${finding}/accepted`, class: 'contract', ...parts, title, service: null, mock: null }
}
