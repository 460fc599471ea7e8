import { createHash } from 'node:crypto'
import type { Location, Log, ReportingDescriptor, Result, Run } from 'sarif'
import { OPERATION_LINES } from '../../contract/generated/operation-lines.ts'
import type { CaseResult, Finding, FindingOrigin, TestName } from '../report-types.ts'
import {
  answerSentence,
  originLines,
  pathSentence,
  ruleSentence,
  violationSentence,
  warningSentence,
} from '../sentences.ts'
import type { Shortfall } from '../report-pair.ts'
import { type JudgedReports, ownReasons } from '../verdict.ts'

/** Addresses of files are relative to the folder of the package, which the reader of a log does not know. */
const PACKAGE = 'TOOLMOCK_PACKAGE'
const SPEC = 'spec/openapi.yaml'

/** The findings as a SARIF 2.1.0 log, for code scanning. */
export function sarif(reports: JudgedReports): string {
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
  return [
    ...total.violations.map((finding) => ofFinding('contract-violation', violationSentence(finding), finding)),
    ...total.unknown_paths.map((unknown) => {
      const { method, path, status, did_you_mean } = unknown
      return result('unknown-path', {
        sentence: pathSentence(unknown),
        location: placed(SPEC, 1, { name: path, fullyQualifiedName: `${method} ${path}`, kind: 'resource' }),
        origin: unknown,
        properties: { status, did_you_mean },
      })
    }),
    ...total.unfired_rules.map((rule) => {
      const file = bundled.has(rule.scenario) ? `scenarios/${rule.scenario}.yaml` : SPEC
      const fullyQualifiedName = `${rule.scenario}/${rule.rule}`
      return result('unfired-rule', {
        sentence: ruleSentence(rule),
        tests: rule.test ? [rule.test] : [],
        location: placed(file, 1, { name: rule.rule, fullyQualifiedName, kind: 'resource' }),
        properties: { environment: rule.environment, at: rule.at, matched: rule.matched },
      })
    }),
    ...total.answer_violations.map((finding) => ofFinding('answer-violation', answerSentence(finding), finding)),
    ...total.warnings.map((warning) => ofFinding(warning.kind, warningSentence(warning), warning)),
    ...shortfalls.map(ofShortfall),
    ...cases.flatMap(ofCase),
  ]
}

function ofCase(each: CaseResult): Result[] {
  const { name, file, line } = each
  const location = placed(SPEC, 1, { name, fullyQualifiedName: `cases/${name}`, kind: 'function' })
  const tests = [{ label: name, file, line }]
  return ownReasons(each).map(({ kind, sentence, requests, details }) => {
    const text = [sentence, ...details].join('\n')
    return result('case-failed', { sentence: text, location, tests, properties: { kind, sentence, requests } })
  })
}

function ofShortfall({ of, sentence }: Shortfall): Result {
  const location = placed(SPEC, 1, { name: of, fullyQualifiedName: `coverage/${of}`, kind: 'resource' })
  return result('too-little-driven', { sentence, location, properties: {} })
}

function ofFinding(ruleId: RuleId, sentence: string, finding: Finding): Result {
  const { operation, path, constraint, error_code, found, allowed, basis } = finding
  const fullyQualifiedName = `${operation}/${path}`
  return result(ruleId, {
    sentence,
    location: inOperation(operation, path, fullyQualifiedName),
    origin: finding,
    properties: { constraint, error_code, found, allowed, basis },
  })
}

interface ResultParts {
  readonly sentence: string
  /** The part of the contract, or the scenario. */
  readonly location: Location
  /** Absent for a finding without requests. */
  readonly origin?: FindingOrigin
  readonly tests?: readonly TestName[]
  readonly properties: NonNullable<Result['properties']>
}

function result(
  ruleId: RuleId,
  { sentence, location, origin, tests = origin?.tests ?? [], properties }: ResultParts,
): Result {
  // Where the finding can be fixed: in the test that is known by its file, else beside the contract.
  const places = tests.flatMap(placeOfTest)
  return {
    ruleId,
    ruleIndex: RULE_IDS.indexOf(ruleId),
    level: RULES[ruleId].level,
    message: { text: plainMessage([sentence, ...(origin ? originLines(origin) : [])].join('\n')) },
    locations: [places[0] ?? location],
    ...(places.length === 0 ? {} : { relatedLocations: [...places.slice(1), location] }),
    ...(origin ? { occurrenceCount: origin.count } : {}),
    partialFingerprints: fingerprints(identityOf(ruleId, location, properties)),
    properties: origin ? { ...properties, requests: origin.requests, tests, examples: origin.examples } : properties,
  }
}

/** The folder of the repository, in the words of GitHub. */
export const SOURCE_ROOT = '%SRCROOT%'

function placeOfTest({ label, file, line }: TestName): Location[] {
  if (file === null) return []
  const artifactLocation = { uri: encodeURI(file.toWellFormed()), uriBaseId: SOURCE_ROOT }
  return [
    {
      physicalLocation: { artifactLocation, region: { startLine: line ?? 1 } },
      logicalLocations: [{ name: label, fullyQualifiedName: label, kind: 'function' }],
    },
  ]
}

/** A line of a file of the package. */
function placed(uri: string, startLine: number, logical: NonNullable<Location['logicalLocations']>[number]): Location {
  const artifactLocation = { uri: encodeURI(uri.toWellFormed()), uriBaseId: PACKAGE }
  return { physicalLocation: { artifactLocation, region: { startLine } }, logicalLocations: [logical] }
}

/** A part of an operation in the spec. */
export function inOperation(operation: string, name: string, fullyQualifiedName: string): Location {
  return placed(SPEC, OPERATION_LINES[operation] ?? 1, { name, fullyQualifiedName, kind: 'member' })
}

/** GitHub identifies an alert by the second one and cannot compute it for a file outside the repository. */
export function fingerprints(identity: string): NonNullable<Result['partialFingerprints']> {
  const fingerprint = createHash('sha256').update(identity).digest('hex').slice(0, 32)
  return { 'toolmockFinding/v1': fingerprint, primaryLocationLineHash: `${fingerprint}:1` }
}

/** Equal for the same finding in every run; does not depend on what was sent, nor on how often. */
function identityOf(
  ruleId: RuleId,
  { logicalLocations = [] }: Location,
  properties: ResultParts['properties'],
): string {
  const names = logicalLocations.map(({ fullyQualifiedName = '' }) => fullyQualifiedName.replace(/\[\d+\]/g, '[]'))
  const { constraint = null, error_code = null, status = null, environment = null } = properties
  return JSON.stringify([ruleId, ...names, constraint, error_code, status, environment])
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

const EXPLAIN = 'GET /_mock/requests/{id}/explain explains each of the requests.'

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
    help: `Compare method and path with spec/openapi.yaml. ${EXPLAIN}`,
  },
  'unfired-rule': {
    level: 'error',
    short: 'A rule of a scenario that must fire never fired',
    help: 'The client never met the failure of the scenario: send a request that the rule matches, or set must_fire: false.',
  },
  'too-little-driven': {
    level: 'error',
    short: 'A minimum of coverage was not reached',
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
