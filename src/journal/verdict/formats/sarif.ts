import { createHash } from 'node:crypto'
import type { Location, Log, ReportingDescriptor, Result, Run } from 'sarif'
import { OPERATION_LINES } from '../../../model/contract/generated/operation-lines.ts'
import { isViolation } from '../../../model/domain/finding.ts'
import { UNKNOWN_PATH } from '../../request-journal/findings.ts'
import type { TestName } from '../../request-journal/view.ts'
import type { CaseResult, ReportFinding } from '../report-types.ts'
import { findingSentence, sourceLines } from '../sentences.ts'
import { runFinding } from '../report-pair.ts'
import { type JudgedReports, ownReasons } from '../verdict.ts'

/** Addresses of files are relative to the folder of the package, which the reader of a log does not know. */
const PACKAGE = 'TOOLMOCK_PACKAGE'
const SPEC = 'spec/openapi.yaml'

/** The findings as a SARIF 2.1.0 log, for code scanning. */
export function sarifReport(reports: JudgedReports): string {
  const { contract, coverage, allowed } = reports
  const { total, tool, at } = contract
  const text = sarifLog(tool, ruleDescriptors(), {
    invocations: [{ executionSuccessful: true, endTimeUtc: at }],
    results: resultsOf(reports),
    properties: {
      requests: total.requests,
      injected: total.injected,
      left_out: total.left_out,
      coverage: coverage.total.summary,
      // Not as results: most readers turn every result into an alert, even a suppressed one.
      ...(allowed && { allowed }),
    },
  })
  return `${text}\n`
}

/** A log of one run of toolmock, without a line break at its end. */
export function sarifLog(
  tool: { readonly name: string; readonly version: string },
  rules: ReportingDescriptor[],
  run: Pick<Run, 'invocations' | 'results' | 'properties'>,
): string {
  const driver = { ...tool, semanticVersion: tool.version, rules }
  const originalUriBaseIds = { [PACKAGE]: { description: { text: 'The folder of the package toolmock' } } }
  const log: Log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, originalUriBaseIds, columnKind: 'utf16CodeUnits', ...run }],
  }
  // Clients may send lone surrogates, which some JSON readers refuse.
  const wellFormed = (_key: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)
  return JSON.stringify(log, wellFormed, 2)
}

/** The findings of both reports and the minima that were not reached. */
export function resultsOf({ contract: { total }, coverage, shortfalls, cases = [] }: JudgedReports): Result[] {
  const bundled = new Set(coverage.total.scenarios.map(({ name }) => name))
  const all = [...total.findings.filter(isViolation), ...shortfalls, ...cases.flatMap(caseFindings)]
  return [...all, ...total.findings.filter((finding) => !isViolation(finding))].map((finding) =>
    sarifResult(finding, bundled),
  )
}

function caseFindings(each: CaseResult): ReportFinding[] {
  const { name, file, line } = each
  return ownReasons(each).map(({ kind, code, sentence, requests, details }) => ({
    ...runFinding({
      kind,
      code,
      field: [sentence, ...details].join('\n'),
      allowed: '',
      found: null,
      test: { name, file, line },
    }),
    requests: [...requests],
  }))
}

function sarifResult(finding: ReportFinding, bundled: ReadonlySet<string>): Result {
  const { tests, count, requests, examples, rule, ...properties } = finding
  const location = locationOf(finding, bundled)
  const ruleId = sarifRule(finding)
  // Where the finding can be fixed: in the test that is known by its file, else beside the contract.
  const places = tests.flatMap(placeOfTest)
  return {
    ruleId,
    ruleIndex: RULE_IDS.indexOf(ruleId),
    level: isViolation(finding) ? 'error' : RULES[ruleId].level,
    message: { text: plainMessage([findingSentence(finding), ...sourceLines(finding)].join('\n')) },
    locations: [places[0] ?? location],
    ...(places.length === 0 ? {} : { relatedLocations: [...places.slice(1), location] }),
    ...(finding.request === null ? {} : { occurrenceCount: count }),
    partialFingerprints: partialFingerprints(identityOf(ruleId, location, finding)),
    properties: { ...properties, ...(rule && { rule }), requests, tests, examples },
  }
}

/** The part of the contract, or the scenario. */
function locationOf({ operation, field, code, rule }: ReportFinding, bundled: ReadonlySet<string>): Location {
  if (operation !== null) return inOperation(operation, field, `${operation}/${field}`)
  if (rule) {
    const file = bundled.has(rule.scenario) ? `scenarios/${rule.scenario}.yaml` : SPEC
    return sarifLocation(file, undefined, {
      name: rule.rule,
      fullyQualifiedName: `${rule.scenario}/${rule.rule}`,
      kind: 'resource',
    })
  }
  const fullyQualifiedName = code === UNKNOWN_PATH ? field : code
  return sarifLocation(SPEC, undefined, { name: fullyQualifiedName, fullyQualifiedName, kind: 'resource' })
}

const RULE_OF_CODE: ReadonlyMap<string, RuleId> = new Map(
  Object.entries({
    [UNKNOWN_PATH]: 'unknown-path',
    must_fire: 'unfired-rule',
    coverage: 'too-little-driven',
    no_requests: 'too-little-driven',
    nothing_judged: 'too-little-driven',
    mock_answer: 'answer-violation',
  } as const),
)

/** A warning has a rule of its own code; the violations of fields have one together. */
function sarifRule({ code, operation }: ReportFinding): RuleId {
  const rule = RULE_OF_CODE.get(code) ?? RULE_IDS.find((id) => id === code)
  return rule ?? (operation === null ? 'case-failed' : 'contract-violation')
}

/** The folder of the repository, in the words of GitHub. */
export const SOURCE_ROOT = '%SRCROOT%'

function placeOfTest({ name, file, line }: TestName): Location[] {
  if (file === null) return []
  const artifactLocation = { uri: encodeURI(file.toWellFormed()), uriBaseId: SOURCE_ROOT }
  return [
    {
      physicalLocation: { artifactLocation, ...(line !== null && { region: { startLine: line } }) },
      logicalLocations: [{ name, fullyQualifiedName: name, kind: 'function' }],
    },
  ]
}

/** A line of a file of the package, or the whole file. */
function sarifLocation(
  uri: string,
  startLine: number | undefined,
  logical: NonNullable<Location['logicalLocations']>[number],
): Location {
  const artifactLocation = { uri: encodeURI(uri.toWellFormed()), uriBaseId: PACKAGE }
  const region = startLine !== undefined && { region: { startLine } }
  return { physicalLocation: { artifactLocation, ...region }, logicalLocations: [logical] }
}

/** A part of an operation in the spec. */
export function inOperation(operation: string, name: string, fullyQualifiedName: string): Location {
  return sarifLocation(SPEC, OPERATION_LINES[operation], { name, fullyQualifiedName, kind: 'member' })
}

/** GitHub identifies an alert by the second one and cannot compute it for a file outside the repository. */
export function partialFingerprints(identity: string): NonNullable<Result['partialFingerprints']> {
  const fingerprint = createHash('sha256').update(identity).digest('hex').slice(0, 32)
  return { 'toolmockFinding/v1': fingerprint, primaryLocationLineHash: `${fingerprint}:1` }
}

/** Equal for the same finding in every run; does not depend on what was sent, nor on how often. */
function identityOf(ruleId: RuleId, { logicalLocations = [] }: Location, finding: ReportFinding): string {
  const names = logicalLocations.map(({ fullyQualifiedName = '' }) => fullyQualifiedName.replace(/\[\d+\]/g, '[]'))
  const { code, error_code, tests, rule } = finding
  const ofCase = ruleId === 'case-failed' ? tests.map(({ name }) => name) : []
  return JSON.stringify([ruleId, ...names, ...ofCase, code, error_code, rule?.environment])
}

/** In a message `[text](target)` would be a link; text from clients must not make one. */
export function plainMessage(sentence: string): string {
  return sentence.replaceAll('](', '] (')
}

type Level = 'error' | 'warning' | 'note'

interface Rule {
  readonly level: Level
  readonly short: string
  readonly help: string
}

const EXPLAIN = '`toolmock explain ID` explains each of the requests.'

/** The rules of the results. Their ids must not change, because alerts are identified by them. */
const RULES = {
  'contract-violation': {
    level: 'error',
    short: 'A request breaks the contract of the service',
    help: `Correct the field as the message says. ${EXPLAIN}`,
  },
  'unknown-path': {
    level: 'error',
    short: 'A request went to a path or method that the service does not have',
    help: `Compare method and path with those of the operations. ${EXPLAIN}`,
  },
  'unfired-rule': {
    level: 'error',
    short: 'A rule of a scenario that must fire never fired',
    help: 'The client never met the failure of the scenario: send a request that the rule matches, or set must_fire: false.',
  },
  'too-little-driven': {
    level: 'error',
    short: 'A minimum of coverage was not reached, or nothing was judged',
    help: 'The coverage report lists what was never driven: exercise it, or lower the minimum.',
  },
  'case-failed': {
    level: 'error',
    short: 'A case of `run --cases` failed',
    help: 'The command has to do what the case expects, or the case has to expect what is right.',
  },
  'answer-violation': {
    level: 'error',
    short: 'An answer of the mock breaks the contract',
    help: 'This is a defect of toolmock and not of the client: please report it.',
  },
  unread: {
    level: 'warning',
    short: 'A field was sent that nothing reads',
    help: `Check the name for a typo, or remove the field. ${EXPLAIN}`,
  },
  output_only: {
    level: 'warning',
    short: 'A field was sent that the service only answers',
    help: `Remove it: the service ignores it. ${EXPLAIN}`,
  },
  ignored: {
    level: 'warning',
    short: 'A value was sent that has no effect',
    help: `Remove it, or send a value that the service knows. ${EXPLAIN}`,
  },
  alias: {
    level: 'note',
    short: 'A field was sent under another name than the document’s',
    help: `Use the name of the document. ${EXPLAIN}`,
  },
  similar_identifier: {
    level: 'warning',
    short: 'An identifier differs from a known one by case or blanks alone',
    help: `Send the identifier of the account, unless two users really differ by no more. ${EXPLAIN}`,
  },
  unverified_flow: {
    level: 'warning',
    short: 'The flow of a magic link ended without verification',
    help: `Create the link with a user_verify_url and verify the user. ${EXPLAIN}`,
  },
  barrier_opened_late: {
    level: 'warning',
    short: 'A barrier of a scenario opened by its time, with fewer requests than it waits for',
    help: `Send the requests at the same time, or give the barrier more time. ${EXPLAIN}`,
  },
} as const satisfies Readonly<Record<string, Rule>>

type RuleId = keyof typeof RULES

const RULE_IDS = Object.keys(RULES) as RuleId[]

/** All rules, those without a finding too: a log lists what was checked. */
function ruleDescriptors(): ReportingDescriptor[] {
  return RULE_IDS.map((id) => {
    const { level, short, help } = RULES[id]
    return {
      id,
      name: id.replace(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase()),
      shortDescription: { text: short },
      fullDescription: { text: `${short}. ${help}` },
      help: { text: help },
      defaultConfiguration: { level },
      properties: { tags: ['contract'], precision: 'very-high', 'problem.severity': SEVERITIES[level] },
    }
  })
}

const SEVERITIES: Readonly<Record<Level, string>> = { error: 'error', warning: 'warning', note: 'recommendation' }
