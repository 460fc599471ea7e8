import type { Coverage, Finding, Tally, UnfiredRule, UnknownPath, Warning } from '../documents/report-schemas.ts'
import type { ReportPair } from './formats/format.ts'

/** The name under which unknown paths are allowed. */
export const UNKNOWN_PATH = 'unknown_path'

/** What a test suite provokes on purpose: `--allow-violation OPERATION[:FIELD]`, `--allow-violation unknown_path[:PATH]`. */
export interface Allowance {
  readonly operation: string
  /** With everything inside it; null for every field. */
  readonly field: string | null
}

/** So many at least, or such a part of all. */
export type Threshold = { readonly count: number } | { readonly percent: number }

export interface VerdictOptions {
  readonly allow?: readonly Allowance[]
  readonly minOperations?: Threshold | undefined
  readonly minStatuses?: Threshold | undefined
}

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
    ...tooFew('operations', summary.operations, options.minOperations),
    ...tooFew('statuses', summary.statuses, options.minStatuses),
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

/** A field is allowed with everything inside it. */
function allows({ operation, field }: Allowance, about: About): boolean {
  if (operation !== about.operation) return false
  const path = about.path.replace(/\[\d+\]/g, '[]')
  return field === null || path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)
}

function violationSentence({ operation, path, found, allowed, basis, count }: Finding): string {
  return `${operation} ${path}: found ${found}, allowed is ${allowed} (${basis})${times(count)}`
}

function answerSentence({ operation, path, found, allowed, count }: Finding): string {
  return `${operation} was answered wrongly by the mock itself; please report this: ${path}: found ${found}, allowed is ${allowed}${times(count)}`
}

function pathSentence({ method, path, status, did_you_mean, count }: UnknownPath): string {
  const meant = did_you_mean === null ? '' : `; did you mean ${did_you_mean}?`
  const what = status === 404 ? 'is not served' : 'is served, but not with this method'
  return `${method} ${path} ${what}${meant}${times(count)}`
}

function ruleSentence({ environment, scenario, rule, at, matched }: UnfiredRule): string {
  const where = environment === null ? 'in any environment' : `in environment ${environment}`
  const why =
    matched === 0
      ? 'no request fitted it'
      : `${matched} ${matched === 1 ? 'request' : 'requests'} fitted it, but not its when`
  return `rule ${JSON.stringify(rule)} of scenario ${scenario} at ${at} never fired ${where}: ${why}`
}

function warningSentence({ operation, path, allowed, count }: Warning): string {
  return `${operation} ${path}: ${allowed}${times(count)}`
}

function unusedSentence({ operation, field }: Allowance): string {
  return `--allow-violation ${operation}${field === null ? '' : `:${field}`} allowed nothing: no request did that`
}

function times(count: number): string {
  return count === 1 ? '' : `, ${count} times`
}

function tooFew(what: string, { total, driven }: Tally, threshold: Threshold | undefined): Told<'coverage'>[] {
  if (!threshold) return []
  const wanted = 'count' in threshold ? threshold.count : Math.ceil((threshold.percent / 100) * total)
  if (driven >= wanted) return []
  const asked = 'count' in threshold ? String(wanted) : `${threshold.percent}% (${wanted})`
  return [told('coverage', `${driven} of ${total} ${what} were driven; at least ${asked} were asked for`, [])]
}
