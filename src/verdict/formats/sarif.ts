import { createHash } from 'node:crypto'
import type { Location, Log, Result, Run } from 'sarif'
import { OPERATION_LINES } from '../../contract/generated/operation-lines.ts'
import type { Finding } from '../../documents/report-schemas.ts'
import {
  allowedSentences,
  answerSentence,
  pathSentence,
  ruleSentence,
  violationSentence,
  warningSentence,
} from '../sentences.ts'
import type { ReportPair, Shortfall } from '../report-pair.ts'
import { RULE_IDS, type RuleId, ruleDescriptors, RULES } from './sarif-rules.ts'

/** What the addresses of files are relative to: where the package is, nobody knows who reads a log. */
const PACKAGE = 'TOOLMOCK_PACKAGE'
const SPEC = 'spec/openapi.yaml'

/** What clients did wrong as a SARIF 2.1.0 log, for code scanning. */
export function sarif({ contract, coverage, allowed, shortfalls }: ReportPair): string {
  const { total, tool, at } = contract
  const run: Run = {
    tool: { driver: { ...tool, semanticVersion: tool.version, rules: ruleDescriptors() } },
    originalUriBaseIds: { [PACKAGE]: { description: { text: 'The folder of the package toolmock' } } },
    invocations: [{ executionSuccessful: true, endTimeUtc: at }],
    columnKind: 'utf16CodeUnits',
    results: [...resultsOf({ contract, coverage }), ...(shortfalls ?? []).map(ofShortfall)],
    properties: {
      requests: total.requests,
      injected: total.injected,
      left_out: total.left_out,
      coverage: coverage.total.summary,
      // Not among the results: most readers make an alert of each, suppressed or not.
      ...(allowed ? { allowed: allowedSentences(allowed) } : {}),
    },
  }
  const log: Log = { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] }
  // Not every reader of JSON takes half of a surrogate pair, which a client may send.
  const text = JSON.stringify(
    log,
    (_key, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value),
    2,
  )
  return `${text}\n`
}

function resultsOf({ contract: { total }, coverage }: ReportPair): Result[] {
  const bundled = new Set(coverage.total.scenarios.map(({ name }) => name))
  return [
    ...total.violations.map((finding) => ofFinding('contract-violation', violationSentence(finding), finding)),
    ...total.unknown_paths.map(({ method, path, status, did_you_mean, count, requests }) =>
      result('unknown-path', {
        sentence: pathSentence({ method, path, status, did_you_mean, count, requests }),
        location: placed(SPEC, 1, { name: path, fullyQualifiedName: `${method} ${path}`, kind: 'resource' }),
        count,
        properties: { status, did_you_mean, requests },
      }),
    ),
    ...total.unfired_rules.map((rule) => {
      const file = bundled.has(rule.scenario) ? `scenarios/${rule.scenario}.yaml` : SPEC
      const fullyQualifiedName = `${rule.scenario}/${rule.rule}`
      return result('unfired-rule', {
        sentence: ruleSentence(rule),
        location: placed(file, 1, { name: rule.rule, fullyQualifiedName, kind: 'resource' }),
        properties: { environment: rule.environment, at: rule.at, matched: rule.matched },
      })
    }),
    ...total.answer_violations.map((finding) => ofFinding('answer-violation', answerSentence(finding), finding)),
    ...total.warnings.map((warning) => ofFinding(warning.kind, warningSentence(warning), warning)),
  ]
}

function ofShortfall({ of, sentence }: Shortfall): Result {
  const location = placed(SPEC, 1, { name: of, fullyQualifiedName: `coverage/${of}`, kind: 'resource' })
  return result('too-little-driven', { sentence, location, properties: {} })
}

function ofFinding(ruleId: RuleId, sentence: string, finding: Finding): Result {
  const { operation, path, constraint, error_code, found, allowed, basis, count, requests } = finding
  const fullyQualifiedName = `${operation}/${path}`
  return result(ruleId, {
    sentence,
    location: placed(SPEC, OPERATION_LINES[operation] ?? 1, { name: path, fullyQualifiedName, kind: 'member' }),
    count,
    properties: { constraint, error_code, found, allowed, basis, requests },
  })
}

interface Found {
  readonly sentence: string
  readonly location: Location
  /** How many requests had it; absent where it is about none. */
  readonly count?: number
  readonly properties: NonNullable<Result['properties']>
}

function result(ruleId: RuleId, { sentence, location, count, properties }: Found): Result {
  const fingerprint = fingerprintOf(ruleId, location, properties)
  return {
    ruleId,
    ruleIndex: RULE_IDS.indexOf(ruleId),
    level: RULES[ruleId].level,
    message: { text: plainMessage(sentence) },
    locations: [location],
    ...(count === undefined ? {} : { occurrenceCount: count }),
    // By the second one, GitHub knows an alert again; it cannot make it from a file that is not in the repository.
    partialFingerprints: { 'toolmockFinding/v1': fingerprint, primaryLocationLineHash: `${fingerprint}:1` },
    properties,
  }
}

function placed(uri: string, startLine: number, logical: NonNullable<Location['logicalLocations']>[number]): Location {
  const artifactLocation = { uri: encodeURI(uri.toWellFormed()), uriBaseId: PACKAGE }
  return { physicalLocation: { artifactLocation, region: { startLine } }, logicalLocations: [logical] }
}

/** The same for the same finding in every run, whatever was sent and how often. */
function fingerprintOf(ruleId: RuleId, { logicalLocations = [] }: Location, properties: Found['properties']): string {
  const names = logicalLocations.map(({ fullyQualifiedName = '' }) => fullyQualifiedName.replace(/\[\d+\]/g, '[]'))
  const { constraint = null, error_code = null, status = null, environment = null } = properties
  const parts = [ruleId, ...names, constraint, error_code, status, environment]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

/** In a message, `[text](target)` would be a link: what clients sent makes none. */
function plainMessage(sentence: string): string {
  return sentence.replaceAll('](', '] (')
}
