import type { Coverage, Tally, Warning } from '../documents/report-schemas.ts'
import { type Allowance, allows, UNKNOWN_PATH } from './allowance.ts'
import type { ReportPair, Shortfall } from './report-pair.ts'
import { answerSentence, pathSentence, ruleSentence, violationSentence, warningSentence } from './sentences.ts'
import type { Threshold, VerdictOptions } from './verdict-options.ts'

export type ReasonKind = 'violation' | 'answer_violation' | 'unknown_path' | 'unfired_rule' | 'coverage'

/** One sentence about what went wrong, or what was allowed to. */
export interface Told<Kind> {
  readonly kind: Kind
  readonly sentence: string
  /** Ids of the requests, for `GET /_mock/requests/{id}/explain`. */
  readonly requests: readonly string[]
}

export interface Verdict {
  readonly ok: boolean
  readonly reasons: readonly Told<ReasonKind>[]
  /** What would be reasons, and was allowed. */
  readonly allowed: readonly Told<ReasonKind>[]
  /** What was sent without effect, and allowances that nothing needed; they never fail. */
  readonly warnings: readonly Told<Warning['kind'] | 'unused_allowance'>[]
  readonly requests: number
  readonly injected: number
  readonly summary: Coverage['summary']
}

/** Whether a client has kept the contract and exercised enough of it. */
export function verdictOf({ contract: { total }, coverage }: ReportPair, options: VerdictOptions = {}): Verdict {
  const { allow = [] } = options
  const used = new Set<Allowance>()
  const found = [
    ...total.violations.map((finding) => judged('violation', violationSentence(finding), finding, finding)),
    ...total.unknown_paths.map((path) =>
      judged('unknown_path', pathSentence(path), path, { operation: UNKNOWN_PATH, path: path.path }),
    ),
  ]
  const split = found.map(({ told, about }) => {
    const fitting = allow.filter((allowance) => allows(allowance, about))
    for (const allowance of fitting) used.add(allowance)
    return { told, isAllowed: fitting.length > 0 }
  })
  const { summary } = coverage.total
  const reasons = [
    ...total.answer_violations.map((finding) => told('answer_violation', answerSentence(finding), finding.requests)),
    ...split.filter(({ isAllowed }) => !isAllowed).map((each) => each.told),
    ...total.unfired_rules.map((rule) => told('unfired_rule', ruleSentence(rule), [])),
    ...shortfallsOf(summary, options).map(({ sentence }) => told('coverage', sentence, [])),
  ]
  return {
    ok: reasons.length === 0,
    reasons,
    allowed: split.filter(({ isAllowed }) => isAllowed).map((each) => each.told),
    warnings: [
      ...total.warnings.map((warning) => told(warning.kind, warningSentence(warning), warning.requests)),
      ...allow
        .filter((allowance) => !used.has(allowance))
        .map((allowance) => told('unused_allowance', unusedSentence(allowance), [])),
    ],
    requests: total.requests,
    injected: total.injected,
    summary,
  }
}

function told<Kind extends string>(kind: Kind, sentence: string, requests: readonly string[]): Told<Kind> {
  return { kind, sentence, requests }
}

interface About {
  readonly operation: string
  readonly path: string
}

function judged<Kind extends string>(
  kind: Kind,
  sentence: string,
  { requests }: { requests: readonly string[] },
  about: About,
) {
  return { told: told(kind, sentence, requests), about }
}

function unusedSentence({ operation, field }: Allowance): string {
  return `${operation}${field === null ? '' : `:${field}`} was allowed, and no request needed it`
}

/** What was asked for and not reached. */
export function shortfallsOf(summary: Coverage['summary'], options: VerdictOptions): Shortfall[] {
  return [
    ...tooFew('operations', summary.operations, options.minOperations),
    ...tooFew('statuses', summary.statuses, options.minStatuses),
  ]
}

function tooFew(of: Shortfall['of'], { total, driven }: Tally, threshold: Threshold | undefined): Shortfall[] {
  if (!threshold) return []
  const wanted = 'count' in threshold ? threshold.count : Math.ceil((threshold.percent / 100) * total)
  if (driven >= wanted) return []
  const asked = 'count' in threshold ? String(wanted) : `${threshold.percent}% (${wanted})`
  return [{ of, sentence: `${driven} of ${total} ${of} were driven; at least ${asked} were asked for` }]
}
