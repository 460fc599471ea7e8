import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { createAccount } from '../../support/accounts.ts'
import { it, type TestToolmock } from '../../support/toolmock.ts'
import { contractOf, control, coverageOf, reachOf, rendered, RULE_429 } from './reports.ts'

/** Creates an environment whose client breaks the contract; returns its bearer token. */
async function worker(mock: TestToolmock, name: string): Promise<string> {
  const { client_id, client_secret } = (await control(mock, 'post', '/environments', { name })).body
  const form = { client_id, client_secret, grant_type: 'client_credentials' }
  const { access_token } = (await mock.http('post', '/oauth/token').type('form').send(form)).body
  await mock
    .http('get', '/api/v1/connected_accounts?page_size=ten')
    .set('Authorization', `Bearer ${String(access_token)}`)
  return String(access_token)
}

it('list each one and the total', async ({ mock }) => {
  await worker(mock, 'worker-2')
  await createAccount(mock)
  await mock.api.get('/connected_accounts', { page_size: 'ten' })
  const contract = await contractOf(mock)
  expect(contract.total.violations).toMatchObject([{ field: 'page_size', count: 2 }])
  expect(contract.environments.map(({ name, requests, violations }) => [name, requests, violations[0]?.count])).toEqual(
    [
      ['default', 3, 1],
      ['worker-2', 2, 1],
    ],
  )
  const coverage = await coverageOf(mock)
  const created = [coverage.total, ...coverage.environments].map((each) =>
    reachOf(each, 'create_connected_account', 201),
  )
  expect(created).toEqual(['driven', 'driven', 'never'])
})

it('show only the named one, in every format', async ({ mock }) => {
  await worker(mock, 'worker-2')
  const contract = await contractOf(mock, '?environment=default')
  expect(contract).toMatchObject({ ok: true, environments: [{ name: 'default' }], total: { violations: [] } })
  const coverage = await coverageOf(mock, '?environment=worker-2')
  expect(coverage.environments.map(({ name }) => name)).toEqual(['worker-2'])
  expect(reachOf(coverage.total, 'list_connected_accounts', 400, 'VALIDATION_FAILED')).toBe('driven')
  const page = await control(mock, 'get', '/contract?format=html&environment=default')
  expect(page.text).toContain('<h1>There is nothing to check</h1>')
})

it('refuse the name of one that never existed', async ({ mock }) => {
  for (const path of ['/contract', '/coverage', '/contract?format=sarif']) {
    const answer = await control(mock, 'get', `${path}${path.includes('?') ? '&' : '?'}environment=nowhere`)
    expect(answer.status).toBe(404)
    expect(answer.body.error).toMatchObject({
      code: 'ENVIRONMENT_NOT_FOUND',
      message: 'there is no environment "nowhere"; there is only default',
    })
  }
})

it('still contain a removed one and its scenarios', async ({ mock }) => {
  await worker(mock, 'worker-2')
  await control(mock, 'put', '/scenarios/limited?environment=worker-2', RULE_429)
  await control(mock, 'post', '/scenarios/limited/start?environment=worker-2')
  await control(mock, 'delete', '/environments/worker-2')
  const { total, environments } = await contractOf(mock)
  expect(environments.map(({ name }) => name)).toEqual(['default', 'worker-2'])
  expect(total.violations).toMatchObject([
    { field: 'page_size', count: 1 },
    { code: 'must_fire', rule: { environment: 'worker-2', scenario: 'limited', rule: 'too many' } },
  ])
})

it('sum how often each rule fired, also of different definitions of a scenario, in every format', async ({ mock }) => {
  const [rule] = RULE_429.rules
  const on = { operation: 'list_connections' }
  for (const [name = '', ...rules] of [
    ['a', 'too many'],
    ['b', 'too many'],
    ['c', 'down', 'slow'],
  ]) {
    const made = { name: 'limited', rules: rules.map((each) => ({ ...rule, name: each, on, when: { first: 9 } })) }
    const bearer = await worker(mock, name)
    await control(mock, 'put', `/scenarios/limited?environment=${name}`, made)
    await control(mock, 'post', `/scenarios/limited/start?environment=${name}`)
    await mock.http('get', '/api/v1/connections').set('Authorization', `Bearer ${bearer}`)
  }
  await control(mock, 'delete', '/environments/b')
  const { total, environments } = await contractOf(mock)
  const shadow = { scenario: 'limited', rule: 'down', requests: 1 }
  expect(total.scenarios).toMatchObject([
    {
      ...{ name: 'limited', started: 3 },
      rules: [
        { name: 'too many', hits: 2, shadowed_by: [] },
        { name: 'down', hits: 1 },
        { name: 'slow', hits: 0, matched: 1, shadowed_by: [shadow] },
      ],
    },
  ])
  expect(environments.map(({ scenarios }) => scenarios[0]?.rules.length ?? 0)).toEqual([1, 1, 2, 0])
  const [text, html] = [await rendered(mock, 'text'), await rendered(mock, 'html')]
  const guide = readFileSync('docs/reports.md', 'utf8')
  const lines = text.text.split('\n').filter((line) => line.startsWith('rule '))
  expect(lines).toHaveLength(3)
  for (const line of lines) expect(guide).toContain(`\n${line}\n`)
  expect(html.text.replaceAll('&quot;', '"')).toContain(`<li>${lines[2]}</li>`)
})

it('survive a reset, and are cleared by DELETE /contract: of one, or of all', async ({ mock }) => {
  await worker(mock, 'worker-2')
  await mock.api.get('/connected_accounts', { page_size: 'ten' })
  await control(mock, 'post', '/reset?environment=worker-2')
  await control(mock, 'delete', '/requests?environment=worker-2')
  expect((await contractOf(mock)).total.violations).toMatchObject([{ count: 2 }])
  await control(mock, 'delete', '/contract?environment=worker-2')
  expect((await contractOf(mock)).total.violations).toMatchObject([{ count: 1 }])
  await control(mock, 'delete', '/contract')
  expect((await contractOf(mock)).total).toMatchObject({ requests: 0, violations: [] })
  expect((await coverageOf(mock)).total.summary.operations.driven).toBe(0)
})

it('contain all of many removed ones: the latest are listed, the older ones are in the total', async ({ mock }) => {
  for (let nth = 0; nth < 203; nth += 1) {
    await worker(mock, `worker-${nth}`)
    await control(mock, 'delete', `/environments/worker-${nth}`)
  }
  const { total, environments } = await contractOf(mock)
  expect(total.violations).toMatchObject([{ field: 'page_size', count: 203 }])
  expect(total.violations[0]?.requests).toHaveLength(20)
  expect(environments).toHaveLength(201)
  expect(environments.some(({ name }) => name === 'worker-2')).toBe(false)
})
