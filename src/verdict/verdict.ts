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
import {
  isKept,
  type ReasonKind,
  type ReportPair,
  type Shortfall,
  type Verdict,
  type VerdictItem,
} from './report-pair.ts'
import {
  answerSentence,
  originLines,
  pathSentence,
  ruleSentence,
  violationSentence,
  warningSentence,
} from './sentences.ts'
import { type Allowance, allows, type Threshold, UNKNOWN_PATH, type VerdictOptions } from './verdict-options.ts'

/** Reports as formats show them: without what is allowed, and with everything that decides. */
export interface JudgedReports extends ReportPair {
  /** The reports with everything. */
  readonly given: ReportPair
  /** The sentences of what was taken out of `contract`; absent when nothing could be allowed. */
  readonly allowed?: readonly string[]
  readonly shortfalls: readonly Shortfall[]
  readonly verdict: Verdict<string>
}

export function judge(reports: ReportPair, options: VerdictOptions = {}): JudgedReports {
  const { cases } = reports
  // Whether a case made a request is judged for each.
  const wanted = cases ? { ...options, requireRequests: false } : options
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
  const {
    contract: { total },
    allowed,
  } = withoutAllowed(reports, options)
  const unused = allow
    .filter((allowance) => !allowed.some(({ about }) => allows(allowance, about)))
    .map((allowance) => item('unused_allowance', unusedSentence(allowance)))
  const withReasons = ({ found, about }: Allowed): VerdictItem<ReasonKind> => {
    const reasons = allow.flatMap((each) => (each.reason !== undefined && allows(each, about) ? [each.reason] : []))
    return { ...found, details: [...reasons.map((reason) => `allowed because ${reason}`), ...found.details] }
  }
  const { incomplete_since: since } = total
  const reasons = [
    ...(since === undefined ? [] : [item('incomplete', incompleteSentence(since))]),
    ...total.answer_violations.map((finding) => item('answer_violation', answerSentence(finding), finding)),
    ...total.violations.map(violationItem),
    ...total.unknown_paths.map(pathItem),
    ...total.unfired_rules.map((rule) => item('unfired_rule', ruleSentence(rule))),
    ...shortfallsOf(reports, options).map(({ of, sentence }) =>
      item(of === 'requests' ? 'no_requests' : 'coverage', sentence),
    ),
    ...(failOn === 'warning' ? unused : []),
  ]
  return {
    ok: reasons.length === 0,
    reasons,
    allowed: allowed.map(withReasons),
    warnings: [
      ...total.warnings.map((warning) => item(warning.kind, warningSentence(warning), warning)),
      ...(failOn === 'warning' ? [] : unused),
    ],
    requests: total.requests,
    injected: total.injected,
    summary: reports.coverage.total.summary,
  }
}

const violationItem = (finding: Finding) => item('violation', violationSentence(finding), finding)
const pathItem = (path: UnknownPath) => item('unknown_path', pathSentence(path), path)

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
function withCases(verdict: Verdict, cases: readonly CaseResult[]): Verdict<string> {
  const own = cases.flatMap(ownReasons)
  const reasons = [...own, ...verdict.reasons.filter(({ kind }) => kind !== 'unfired_rule')]
  return { ...verdict, ok: reasons.length === 0, reasons }
}

/** What a case failed by beside what is wrong with its requests, with its name. */
export function ownReasons({ name, reasons }: CaseResult): VerdictItem<string>[] {
  const own = reasons.filter(({ kind }) => !OF_REQUESTS.includes(kind))
  return own.map((reason) => ({ ...reason, sentence: `${name}: ${reason.sentence}` }))
}

const OF_REQUESTS = ['answer_violation', 'violation', 'unknown_path']

function unusedSentence({ operation, field }: Allowance): string {
  return `${operation}${field === null ? '' : `:${field}`} is allowed, but no request needed it`
}

/** What an allowance may cover. */
type Allowable = Parameters<typeof allows>[1]

function asAllowable({ path }: UnknownPath): Allowable {
  return { operation: UNKNOWN_PATH, path }
}

interface Allowed {
  readonly found: VerdictItem<ReasonKind>
  readonly about: Allowable
}

/** The contract without what is allowed, and what that is. Warnings that fail the verdict are violations in it. */
function withoutAllowed(
  { contract }: ReportPair,
  { allow = [], failOn }: VerdictOptions,
): { readonly contract: ContractReport; readonly allowed: readonly Allowed[] } {
  const fails = ({ kind }: Warning): boolean => failOn === 'warning' || kind === failOn
  const isAllowed = (about: Allowable): boolean => allow.some((each) => allows(each, about))
  const broken = ({ violations, warnings }: ContractRecord): Finding[] => [
    ...violations,
    ...warnings.filter(fails).map(({ kind: _kind, ...finding }) => finding),
  ]
  const kept = <Of extends ContractRecord>(record: Of): Of => ({
    ...record,
    violations: broken(record).filter((finding) => !isAllowed(finding)),
    unknown_paths: record.unknown_paths.filter((path) => !isAllowed(asAllowable(path))),
    warnings: record.warnings.filter((warning) => !fails(warning)),
  })
  const total = kept(contract.total)
  return {
    contract: { ...contract, ok: isKept(total), total, environments: contract.environments.map(kept) },
    allowed: [
      ...broken(contract.total)
        .filter(isAllowed)
        .map((finding) => ({ found: violationItem(finding), about: finding })),
      ...contract.total.unknown_paths
        .map((path) => ({ found: pathItem(path), about: asAllowable(path) }))
        .filter(({ about }) => isAllowed(about)),
    ],
  }
}

function shortfallsOf({ contract, coverage }: ReportPair, options: VerdictOptions): Shortfall[] {
  const { summary } = coverage.total
  const isEmpty = options.requireRequests === true && contract.total.requests === 0
  return [
    ...(isEmpty ? [{ of: 'requests' as const, sentence: NO_REQUESTS }] : []),
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
