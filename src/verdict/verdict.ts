import type {
  CaseResult,
  ContractRecord,
  ContractReport,
  Finding,
  FindingOrigin,
  Tally,
  UnknownPath,
  Warning,
} from './report-types.ts'
import { type Allowed, isKept, type ReportPair, type Shortfall, type Verdict, type VerdictItem } from './report-pair.ts'
import {
  answerSentence,
  originLines,
  pathSentence,
  ruleSentence,
  violationSentence,
  warningSentence,
} from './sentences.ts'
import { type Allowance, allows, type Threshold, UNKNOWN_PATH, type VerdictOptions } from './verdict-options.ts'

/** Whether the clients kept the contract and exercised enough of it. */
export function verdictOf(reports: ReportPair, options: VerdictOptions = {}): Verdict {
  const { allow = [], failOn } = options
  const {
    contract: { total },
    coverage,
  } = withFailing(reports, failOn)
  const used = new Set<Allowance>()
  const found = [
    ...total.violations.map((finding) => ({
      item: item('violation', violationSentence(finding), finding),
      about: finding,
    })),
    ...total.unknown_paths.map((path) => ({
      item: item('unknown_path', pathSentence(path), path),
      about: { operation: UNKNOWN_PATH, path: path.path },
    })),
  ]
  const split = found.map(({ item, about }) => {
    const fitting = allow.filter((allowance) => allows(allowance, about))
    for (const allowance of fitting) used.add(allowance)
    const reasons = fitting.flatMap(({ reason }) => (reason === undefined ? [] : [`allowed because ${reason}`]))
    return { item: { ...item, details: [...reasons, ...item.details] }, isAllowed: fitting.length > 0 }
  })
  const { summary } = coverage.total
  const unused = allow
    .filter((allowance) => !used.has(allowance))
    .map((allowance) => item('unused_allowance', unusedSentence(allowance)))
  const { incomplete_since: since } = total
  const reasons = [
    ...(since === undefined ? [] : [item('incomplete', incompleteSentence(since))]),
    ...total.answer_violations.map((finding) => item('answer_violation', answerSentence(finding), finding)),
    ...split.filter(({ isAllowed }) => !isAllowed).map((each) => each.item),
    ...total.unfired_rules.map((rule) => item('unfired_rule', ruleSentence(rule))),
    ...shortfallsOf({ summary, requests: total.requests }, options).map(({ of, sentence }) =>
      item(of === 'requests' ? 'no_requests' : 'coverage', sentence),
    ),
    ...(failOn === 'warning' ? unused : []),
  ]
  return {
    ok: reasons.length === 0,
    reasons,
    allowed: split.filter(({ isAllowed }) => isAllowed).map((each) => each.item),
    warnings: [
      ...total.warnings.map((warning) => item(warning.kind, warningSentence(warning), warning)),
      ...(failOn === 'warning' ? [] : unused),
    ],
    requests: total.requests,
    injected: total.injected,
    summary,
  }
}

function incompleteSentence(since: string): string {
  return `incomplete: another replica was active until ${since}, and what was asked before is not in this report; clear it (DELETE /_mock/contract) and run the tests again`
}

/** Nothing was judged, which must not look like a success. */
const NO_REQUESTS =
  'no operation was called, so nothing was judged: let the program use TOOLMOCK_URL, TOOLMOCK_CLIENT_ID and TOOLMOCK_CLIENT_SECRET, or createToolmock() of the library; --allow-no-requests, or allowNoRequests: true in the library, accepts a program that calls nothing'

function item<Kind extends string>(kind: Kind, sentence: string, origin?: FindingOrigin): VerdictItem<Kind> {
  return { kind, sentence, requests: origin?.requests ?? [], details: origin ? originLines(origin) : [] }
}

/**
 * A verdict on cases: it fails by what is wrong with their requests, once for all of them, and by what each of them alone did
 * not do.
 */
export function withCases(verdict: Verdict, cases: readonly CaseResult[]): Verdict<string> {
  const own = cases.flatMap(ownReasons)
  const reasons = [...own, ...verdict.reasons.filter(({ kind }) => !OF_ONE_CASE.includes(kind))]
  return { ...verdict, ok: reasons.length === 0, reasons }
}

/** What a case failed by beside what is wrong with its requests, with its name. */
export function ownReasons({ name, reasons }: CaseResult): VerdictItem<string>[] {
  const own = reasons.filter(({ kind }) => !OF_REQUESTS.includes(kind))
  return own.map((reason) => ({ ...reason, sentence: `${name}: ${reason.sentence}` }))
}

const OF_REQUESTS = ['answer_violation', 'violation', 'unknown_path']
const OF_ONE_CASE = ['unfired_rule', 'no_requests']

function unusedSentence({ operation, field }: Allowance): string {
  return `${operation}${field === null ? '' : `:${field}`} is allowed, but no request needed it`
}

export function withFailing(reports: ReportPair, failOn: VerdictOptions['failOn']): ReportPair {
  if (failOn === undefined) return reports
  const fails = ({ kind }: Warning): boolean => failOn === 'warning' || kind === 'unread'
  const moved = ({ violations, warnings }: ContractRecord): Pick<ContractRecord, 'violations' | 'warnings'> => ({
    violations: [...violations, ...warnings.filter(fails).map(({ kind: _kind, ...finding }) => finding)],
    warnings: warnings.filter((warning) => !fails(warning)),
  })
  return { ...reports, contract: withRecords(reports.contract, moved) }
}

/** The report with another part of each of its records. */
function withRecords(
  report: ContractReport,
  changed: (record: ContractRecord) => Partial<ContractRecord>,
): ContractReport {
  const total = { ...report.total, ...changed(report.total) }
  const environments = report.environments.map((each) => ({ ...each, ...changed(each) }))
  return { ...report, ok: isKept(total), total, environments }
}

export function withoutAllowed({ contract, coverage }: ReportPair, allow: readonly Allowance[]): ReportPair {
  const isAllowed = (about: { operation: string; path: string }): boolean => allow.some((each) => allows(each, about))
  const isViolation = (finding: Finding): boolean => !isAllowed(finding)
  const isUnknown = ({ path }: UnknownPath): boolean => !isAllowed({ operation: UNKNOWN_PATH, path })
  const wrongIn = ({ violations, unknown_paths }: Allowed): Allowed => {
    return { violations: violations.filter(isViolation), unknown_paths: unknown_paths.filter(isUnknown) }
  }
  const { violations, unknown_paths } = contract.total
  return {
    coverage,
    contract: withRecords(contract, wrongIn),
    allowed: {
      violations: violations.filter((each) => !isViolation(each)),
      unknown_paths: unknown_paths.filter((each) => !isUnknown(each)),
    },
  }
}

export function shortfallsOf(
  { summary, requests }: Pick<Verdict, 'summary' | 'requests'>,
  options: VerdictOptions,
): Shortfall[] {
  return [
    ...(options.requireRequests === true && requests === 0 ? [{ of: 'requests' as const, sentence: NO_REQUESTS }] : []),
    ...tooFew('operations', summary.operations, options.minOperations),
    ...tooFew('statuses', summary.statuses, options.minStatuses),
  ]
}

function tooFew(
  of: 'operations' | 'statuses',
  { total, driven }: Tally,
  threshold: Threshold | undefined,
): Shortfall[] {
  if (!threshold) return []
  const wanted = 'count' in threshold ? threshold.count : Math.ceil((threshold.percent / 100) * total)
  if (driven >= wanted) return []
  const minimum = 'count' in threshold ? String(wanted) : `${threshold.percent}% (${wanted})`
  return [{ of, sentence: `${driven} of ${total} ${of} were driven; the minimum is ${minimum}` }]
}
