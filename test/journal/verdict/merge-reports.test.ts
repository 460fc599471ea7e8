import { expect } from 'vitest'
import { mergeReports } from '../../../src/journal/verdict/merge-reports.ts'
import { type ReportPair, runFinding } from '../../../src/journal/verdict/report-pair.ts'
import { type ControlMock, it, withControl } from '../../servers/control/control-mock.ts'

async function pairOf({ call }: ControlMock, environment?: string): Promise<ReportPair> {
  const query = environment === undefined ? '' : `?environment=${environment}`
  const [contract, coverage] = [await call('get', `/contract${query}`), await call('get', `/coverage${query}`)]
  return { contract: contract.body, coverage: coverage.body }
}

async function environment({ call, token }: ControlMock, name: string) {
  const { client_id, client_secret } = (await call('post', '/environments', { name })).body as Record<string, string>
  return String(await token(client_id ?? '', client_secret ?? ''))
}

it('reports of two environments merge into the report of both', async ({ mock }) => {
  const [a, b] = [await environment(mock, 'a'), await environment(mock, 'b')]
  const ada = { connector: 'mail', identifier: 'ada@example.com' }
  for (const bearer of [a, b]) {
    await mock.api(bearer, 'get', '/connections')
    await mock.api(bearer, 'post', '/connected_accounts/magic_link', {})
    await mock.api(bearer, 'get', '/nothing_here')
  }
  await mock.api(a, 'post', '/connected_accounts', { connected_account: {}, ...ada })
  await mock.api(b, 'post', '/connected_accounts/magic_link', ada)
  for (const name of ['a', 'b']) await mock.call('post', `/scenarios/rate-limited/start?environment=${name}`)
  await mock.api(a, 'post', '/execute_tool', { ...ada, tool_name: 'mail_list_messages', tool_input: {} })
  const whole = await pairOf(mock)
  const merged = mergeReports([await pairOf(mock, 'a'), await pairOf(mock, 'b')])
  const counts = ({ contract: { ok, total } }: ReportPair) => ({
    ok,
    requests: total.requests,
    scenarios: total.scenarios,
    findings: total.findings.map(({ operation, field, count, requests, rule }) => [
      ...[operation, field, count, requests, rule],
    ]),
  })
  expect(counts(merged)).toEqual(counts(whole))
  expect(merged.contract.total.findings.length).toBeGreaterThan(0)
  expect(merged.coverage.total).toEqual(whole.coverage.total)
  expect(merged.contract.environments.map(({ name }) => name)).toEqual(['a', 'b'])
})

it('a rule of the start that fired in one run is not unfired, one that fired in none is', async () => {
  const rule = (name: string) =>
    runFinding({
      ...{ code: 'must_fire', field: `rule ${name}`, allowed: 'must fire', found: null },
      rule: { scenario: 'down', rule: name, environment: null, matched: 1 },
    })
  await withControl({}, async (mock) => {
    const pair = await pairOf(mock)
    const withRules = (...names: string[]): ReportPair => ({
      ...pair,
      contract: { ...pair.contract, total: { ...pair.contract.total, findings: names.map(rule) } },
    })
    const { contract } = mergeReports([withRules('first', 'second'), withRules('second')])
    expect(contract.total.findings).toMatchObject([{ field: 'rule second', rule: { rule: 'second', matched: 2 } }])
    expect(contract.ok).toBe(false)
  })
})
