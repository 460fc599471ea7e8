import { expect } from 'vitest'
import type { TestToolmock } from '../../support/toolmock.ts'
import { coverageOf, HOSTILE, it, rendered, withViolations } from './reports.ts'
import { type Element, elements, readXml, textOf } from './xml.ts'

const read = async (mock: TestToolmock): Promise<Element> => {
  const { text, type } = await rendered(mock, 'junit')
  expect(type).toBe('application/xml; charset=utf-8')
  return readXml(text)
}
const suiteOf = (root: Element, name: string): Element => {
  const found = elements(root, 'testsuite').find(({ attributes }) => attributes.name === name)
  if (!found) throw new Error(`no suite ${name}`)
  return found
}
const cases = (suite: Element, group: string): Element[] =>
  elements(suite, 'testcase').filter(({ attributes }) => attributes.classname === group)

it('counts its cases, in each suite and in total', async ({ mock }) => {
  const root = await read(mock)
  expect(root.name).toBe('testsuites')
  for (const element of [root, ...elements(root, 'testsuite')]) {
    const { tests, failures, errors, skipped } = element.attributes
    const counted = ['testcase', 'failure', 'error', 'skipped'].map((name) => elements(element, name).length)
    expect([tests, failures, errors, skipped].map(Number)).toEqual(counted)
  }
})

it('has a case for each called operation, which fails with its violations', async () => {
  await withViolations(async (mock, { violations, warnings }) => {
    const contract = suiteOf(await read(mock), 'contract')
    const operations = cases(contract, 'contract.operations')
    expect(operations.map(({ attributes }) => attributes.name)).toEqual([
      'create_token',
      'list_connected_accounts',
      'create_connected_account',
      'create_custom_provider',
      'execute_tool',
    ])
    for (const each of operations) {
      const wrong = violations.filter(({ operation }) => operation === each.attributes.name)
      const failure = elements(each, 'failure').map(textOf).join('')
      expect(elements(each, 'failure')).toHaveLength(Math.min(1, wrong.length))
      for (const { found, requests } of wrong) {
        expect(failure).toContain(found ?? 'is required')
        expect(failure).toContain(requests[0])
      }
      const noted = warnings.filter(({ operation }) => operation === each.attributes.name)
      expect(
        elements(each, 'system-out')
          .map(textOf)
          .join('')
          .match(/warning: /g) ?? [],
      ).toHaveLength(noted.length)
    }
  })
})

it('has a failure for each unknown path and unfired rule, as they were sent', async ({ mock }) => {
  const contract = suiteOf(await read(mock), 'contract')
  expect(cases(contract, 'contract.unknown_path').map(({ attributes }) => attributes.name)).toEqual([
    `GET /api/v1/${encodeURIComponent(HOSTILE)}`,
    "GET /api/v1/%3Cscript%3E]]%3E&amp;%22'",
  ])
  const [rule] = cases(contract, 'contract.must_fire')
  expect(rule?.attributes.name).toBe(
    `rule ${JSON.stringify(HOSTILE)} of scenario unmet at service in environment default`,
  )
  expect(elements(rule!, 'failure')[0]?.attributes.message).toContain('no request matched it')
})

it('skips the operations that were never driven, and names those that were only injected', async ({ mock }) => {
  const coverage = suiteOf(await read(mock), 'coverage')
  const { operations, summary } = (await coverageOf(mock)).total
  expect(elements(coverage, 'testcase')).toHaveLength(operations.length)
  const skipped = cases(coverage, 'coverage.operations').filter((each) => elements(each, 'skipped').length > 0)
  const undriven = operations.filter(({ reach }) => reach !== 'driven')
  expect(skipped.map(({ attributes }) => attributes.name)).toEqual(undriven.map(({ operation }) => operation))
  expect(textOf(coverage)).toContain(
    `statuses: ${summary.statuses.driven} of ${summary.statuses.total} driven, 1 only by injection`,
  )
})
