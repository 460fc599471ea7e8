import { isViolation } from '../../model/domain/finding.ts'
import type { CaseResult, ContractRecord, ContractReport, ReportFinding, Tally } from './report-types.ts'
import { plural } from '../../model/domain/text.ts'
import { isKept, type ReportPair, runFinding, type Verdict, type VerdictItem, verdictItem } from './report-pair.ts'
import { sourceLines } from './sentences.ts'
import { type ParsedAllowance, allowsFinding, type Threshold, type VerdictOptions } from './verdict-options.ts'

/** Reports as formats show them: without what is allowed, and with everything that decides. */
export interface JudgedReports extends ReportPair {
  /** The reports with everything. */
  readonly given: ReportPair
  /** The sentences of what was taken out of `contract`; absent when nothing could be allowed. */
  readonly allowed?: readonly string[]
  /** Minima of coverage that were not reached, and a run without requests. */
  readonly shortfalls: readonly ReportFinding[]
  readonly verdict: Verdict
}

export function judgeReports(reports: ReportPair, options: VerdictOptions = {}): JudgedReports {
  const { cases } = reports
  // Whether a case made a request is judged for each.
  const isRequired = options.requireRequests === true && (!cases || reports.contract.total.requests > 0)
  const wanted = { ...options, requireRequests: isRequired }
  const verdict = verdictOf(reports, wanted)
  return {
    ...reports,
    contract: withoutAllowed(reports, options).contract,
    ...(options.allow && { allowed: verdict.allowed.map(({ sentence }) => sentence) }),
    given: reports,
    shortfalls: shortfallsOf(reports, wanted),
    verdict: cases ? withCases(verdict, cases) : verdict,
  }
}

/** Whether the clients kept the contract and exercised enough of it. */
export function verdictOf(reports: ReportPair, options: VerdictOptions = {}): Verdict {
  const { allow = [], failOn } = options
  const { contract, allowed } = withoutAllowed(reports, options)
  const { findings, incomplete_since: since, requests, judged, injected, scenarios } = contract.total
  const unused = allow
    .filter((allowance) => !allowed.some((finding) => allowsFinding(allowance, finding)))
    .map((allowance) => unusedAllowance(allowance, failOn === 'warning'))
  const withReasons = (finding: ReportFinding): VerdictItem => {
    const reasons = allow.flatMap((each) =>
      each.reason !== undefined && allowsFinding(each, finding) ? [each.reason] : [],
    )
    return verdictItem(finding, [...reasons.map((reason) => `allowed because ${reason}`), ...sourceLines(finding)])
  }
  const incomplete = since === undefined ? [] : [incompleteFinding(since)]
  const all = [...incomplete, ...findings, ...shortfallsOf(reports, options), ...unused]
  const reasons = all.filter(isViolation).map((finding) => verdictItem(finding))
  return {
    ok: reasons.length === 0,
    reasons,
    allowed: allowed.map(withReasons),
    warnings: all.filter((finding) => !isViolation(finding)).map((finding) => verdictItem(finding)),
    requests,
    judged,
    injected,
    scenarios,
    summary: reports.coverage.total.summary,
  }
}

function incompleteFinding(since: string): ReportFinding {
  return runFinding({
    code: 'incomplete',
    field: 'the record',
    allowed: `is incomplete: another replica was active until ${since}, and what was asked before is not in this report; clear it (DELETE /_mock/contract) and run the tests again`,
    found: null,
  })
}

const NO_REQUESTS = runFinding({
  code: 'no_requests',
  field: 'no operation',
  allowed:
    'was called, so nothing was judged: let the program use TOOLMOCK_URL, TOOLMOCK_CLIENT_ID and TOOLMOCK_CLIENT_SECRET, or createToolmock() of the library; --allow-no-requests, or allowNoRequests: true in the library, accepts a program that calls nothing',
  found: null,
})

/** It fails by what is wrong with their requests, once for all, and by what each alone did not do. */
function withCases(verdict: Verdict, cases: readonly CaseResult[]): Verdict {
  const caseReasons = cases.flatMap(ownReasons)
  const reasons = [...caseReasons, ...verdict.reasons.filter(({ code }) => code !== 'must_fire')]
  return { ...verdict, ok: reasons.length === 0, reasons }
}

/** What a case failed by beside what is wrong with its requests, with its name. */
export function ownReasons({ name, reasons }: CaseResult): VerdictItem[] {
  const withoutRequest = reasons.filter(({ request }) => request === null)
  return withoutRequest.map((reason) => ({ ...reason, sentence: `${name}: ${reason.sentence}` }))
}

function unusedAllowance({ operation, field }: ParsedAllowance, fails: boolean): ReportFinding {
  return runFinding({
    kind: fails ? 'violation' : 'warning',
    code: 'unused_allowance',
    field: `${operation}${field === null ? '' : `:${field}`}`,
    allowed: 'is allowed, but no request needed it',
    found: null,
  })
}

/** The contract without what is allowed, and what that is. Warnings that fail the verdict are violations in it. */
function withoutAllowed(
  { contract }: ReportPair,
  { allow = [], failOn }: VerdictOptions,
): { readonly contract: ContractReport; readonly allowed: readonly ReportFinding[] } {
  const isAllowed = (finding: ReportFinding): boolean =>
    isViolation(finding) && allow.some((each) => allowsFinding(each, finding))
  const judged = (finding: ReportFinding): ReportFinding =>
    failOn === 'warning' || finding.code === failOn ? { ...finding, kind: 'violation' } : finding
  const withoutAllowances = <Of extends ContractRecord>(record: Of): Of => ({
    ...record,
    findings: record.findings.map(judged).filter((finding) => !isAllowed(finding)),
  })
  const total = withoutAllowances(contract.total)
  return {
    contract: { ...contract, ok: isKept(total), total, environments: contract.environments.map(withoutAllowances) },
    allowed: contract.total.findings.map(judged).filter(isAllowed),
  }
}

function shortfallsOf({ contract, coverage }: ReportPair, options: VerdictOptions): ReportFinding[] {
  const { summary } = coverage.total
  return [
    ...(options.requireRequests === true ? nothingJudged(contract.total, options) : []),
    ...tooFew('operations', summary.operations, options.minOperations),
    ...tooFew('statuses', summary.statuses, options.minStatuses),
  ]
}

/** That there was no request, or, in a whole run, none that can be judged: both must not look like a success. */
export function nothingJudged(
  { requests, judged, refused }: ContractRecord,
  { perTest = false }: VerdictOptions,
): ReportFinding[] {
  if (requests === 0) return [NO_REQUESTS]
  if (judged > 0 || perTest) return []
  const refusals = refused.reduce((sum, each) => sum + each.requests, 0)
  const reasons = refused.map(({ reason, requests: times }) => (times === 1 ? reason : `${times} times ${reason}`))
  const share = (count: number): string => {
    if (count < requests) return `${count} of them`
    return count === 1 ? '' : count === 2 ? 'both' : 'all'
  }
  const parts = [
    ...(refusals > 0 ? [`${share(refusals)} 401 (${reasons.join(', ')})`] : []),
    ...(requests > refusals ? [`${share(requests - refusals)} for a token`] : []),
  ]
  const allowed = `was judged: ${plural(requests, 'request')}, ${parts.map((part) => part.trimStart()).join(', ')}; --allow-no-requests, or allowNoRequests: true in the library, accepts that`
  return [runFinding({ code: 'nothing_judged', field: 'nothing', allowed, found: null })]
}

function tooFew(
  of: 'operations' | 'statuses',
  { total, driven }: Tally,
  threshold: Threshold | undefined,
): ReportFinding[] {
  if (!threshold) return []
  const wanted = 'count' in threshold ? threshold.count : Math.ceil((threshold.percent / 100) * total)
  if (driven >= wanted) return []
  const minimum = 'count' in threshold ? String(wanted) : `${threshold.percent}% (${wanted})`
  const allowed = `were driven; the minimum is ${minimum}`
  return [runFinding({ code: 'coverage', field: `${driven} of ${total} ${of}`, allowed, found: null })]
}
