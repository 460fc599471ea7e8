import { ruleAndFound } from '../domain/errors.ts'
import type {
  ContractRecord,
  Finding,
  FindingOrigin,
  TestName,
  UnfiredRule,
  UnknownPath,
  Warning,
} from './report-types.ts'
import { plural } from '../domain/text.ts'

/** A violation by a client: `list_connected_accounts: page_size must be an integer; found "ten" (convention:G1), 2 times`. */
export function violationSentence(finding: Finding): string {
  return `${finding.operation}: ${ruleSentenceOf(finding)} (${finding.basis})${times(finding.count)}`
}

export function answerSentence(finding: Finding): string {
  return `${finding.operation} was answered wrongly by the mock, please report this: ${ruleSentenceOf(finding)}${times(finding.count)}`
}

/** That nothing was found needs no mention: the rule then says that the field is required. */
function ruleSentenceOf({ path, allowed, found }: Finding): string {
  return `${path} ${found === 'nothing' ? allowed : ruleAndFound(allowed, found)}`
}

export function pathSentence({ method, path, status, did_you_mean, count }: UnknownPath): string {
  const meant = did_you_mean === null ? '' : `; did you mean ${did_you_mean}?`
  const what = status === 404 ? 'is not served' : 'is served, but not with this method'
  return `${method} ${path} ${what}${meant}${times(count)}`
}

export function ruleSentence({ environment, test, scenario, rule, at, matched, stopped }: UnfiredRule): string {
  const ofTest = test === null ? '' : `, test ${testText(test)}`
  const where = environment === null ? 'in any environment' : `in environment ${environment}${ofTest}`
  const why =
    matched === 0
      ? 'no request matched it'
      : `${plural(matched, 'request')} matched it, but did not meet its conditions or were ended by another rule`
  return `rule ${JSON.stringify(rule)} of scenario ${scenario} at ${at} never fired ${where}: ${why}${stopped ? ' before the scenario was stopped' : ''}`
}

export function warningSentence({ operation, path, kind, found, allowed, count }: Warning): string {
  const value = kind === 'similar_identifier' ? ` ${found}` : ''
  return `${operation}: ${path}${value} ${allowed}${times(count)}`
}

export function leftOutSentence({ left_out: leftOut }: Pick<ContractRecord, 'left_out'>): string {
  return `${leftOut} more findings are left out: a record keeps the first 1,000 of each kind`
}

/** How many tests and requests of a finding a person looks up; the JSON report has more. */
export const SHOWN = { tests: 3, requests: 2 }

/** What leads back from a finding to its tests and requests, a line each. */
export function originLines({ count, examples, tests, test_count: testCount }: FindingOrigin): string[] {
  const named = tests.slice(0, SHOWN.tests).map(testText)
  const more = testCount - named.length
  const inTests = testCount === 1 ? `in the test ${named.join()}` : `in ${testCount} tests: ${named.join('; ')}`
  const shown = examples.slice(0, SHOWN.requests).map(requestText)
  return [
    ...(testCount === 0 ? [] : [`${inTests}${more > 0 ? `; and ${more} more` : ''}`]),
    ...shown,
    ...(count > shown.length && shown.length > 0 ? [`and ${plural(count - shown.length, 'more request')}`] : []),
  ]
}

/** A test with its file: `accounts > lists them (test/accounts.test.ts:12)`. */
export function testText({ label, file, line }: TestName): string {
  return file === null ? label : `${label} (${file}${line === null ? '' : `:${line}`})`
}

/** A request of a finding: `GET /api/v1/connections at 2026-01-31T12:00:00.000Z (req_1): ?page_size=101`. */
function requestText({ id, environment, method, path, at, excerpt }: FindingOrigin['examples'][number]): string {
  const where = environment === 'default' || environment === '' ? '' : ` in ${environment}`
  return `${method} ${path} at ${at}${where} (${id})${excerpt === '' ? '' : `: ${excerpt}`}`
}

function times(count: number): string {
  return count === 1 ? '' : `, ${count} times`
}
