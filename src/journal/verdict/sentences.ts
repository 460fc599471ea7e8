import { findingText } from '../../model/domain/finding.ts'
import { firedText } from '../../model/domain/scenario.ts'
import { oneLine, plural, quote } from '../../model/domain/text.ts'
import type { TestName } from '../request-journal/view.ts'
import type { ContractRecord, FindingSource, ReportFinding } from './report-types.ts'

/** A finding as every format writes it: `list_connected_accounts: page_size must be an integer; found "ten" (convention:G1), 2 times`. */
export function findingSentence(finding: ReportFinding): string {
  const { operation, code, basis, count, request } = finding
  if (request === null) return findingText(finding).trim()
  const about = operation === null ? '' : `${operation}: `
  const report = code === 'mock_answer' ? ' Please report this: the mock is wrong, not its client.' : ''
  return `${about}${findingText(finding)} (${basis})${count === 1 ? '' : `, ${count} times`}${report}`
}

export function leftOutSentence({ left_out: leftOut }: Pick<ContractRecord, 'left_out'>): string {
  return `${leftOut} more findings are left out: a record keeps the first 1,000 of each code`
}

export function ruleSentences(scenarios: ContractRecord['scenarios']): string[] {
  return scenarios.flatMap(({ name, rules }) =>
    rules.map((rule) =>
      oneLine(`rule ${quote(rule.name)} of scenario ${name} fired ${firedText(name, rule)}`, Infinity),
    ),
  )
}

/** How many tests and requests of a finding a person looks up; the JSON report has more. */
const SHOWN = { tests: 3, requests: 2 }

/** What leads back from a finding to its tests and requests, a line each. */
export function sourceLines({ count, examples, tests, test_count: testCount }: FindingSource): string[] {
  const testTexts = tests.slice(0, SHOWN.tests).map(testText)
  const more = testCount - testTexts.length
  const inTests = testCount === 1 ? `in the test ${testTexts.join()}` : `in ${testCount} tests: ${testTexts.join('; ')}`
  const requestTexts = examples.slice(0, SHOWN.requests).map(exampleText)
  return [
    ...(testCount === 0 ? [] : [`${inTests}${more > 0 ? `; and ${more} more` : ''}`]),
    ...requestTexts,
    ...(count > requestTexts.length && requestTexts.length > 0
      ? [`and ${plural(count - requestTexts.length, 'more request')}`]
      : []),
  ]
}

/** A test with its file: `accounts > lists them (test/accounts.test.ts:12)`. */
export function testText({ name, file, line }: TestName): string {
  return file === null ? name : `${name} (${file}${line === null ? '' : `:${line}`})`
}

/** A request of a finding: `GET /api/v1/connections at 2026-01-31T12:00:00.000Z (req_1): ?page_size=101`. */
function exampleText({ id, environment, method, path, at, excerpt }: FindingSource['examples'][number]): string {
  const where = environment === 'default' || environment === '' ? '' : ` in ${environment}`
  return `${method} ${path} at ${at}${where} (${id})${excerpt === '' ? '' : `: ${excerpt}`}`
}
