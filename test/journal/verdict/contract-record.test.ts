import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { OPERATIONS } from '../../../src/service/operations/table.ts'
import { SILENT } from '../../../src/servers/http/log.ts'
import { createApp } from '../../../src/app/app.ts'
import supertest from 'supertest'
import { ADA, createAccount, createActive } from '../../support/accounts.ts'
import { it } from '../../support/toolmock.ts'
import { findingSentence } from '../../../src/journal/verdict/sentences.ts'
import { contractOf, control, coverageOf, RULE_429 } from './reports.ts'

it('is ok, and counts the requests, when clients keep the contract', async ({ mock }) => {
  await createAccount(mock)
  const report = await contractOf(mock)
  expect(report).toMatchObject({ schema_version: 2, ok: true })
  expect(report.total).toMatchObject({ requests: 2, injected: 0, findings: [] })
})

it('is valid by its JSON Schema, and so is the coverage', async ({ mock }) => {
  await mock.api.post('/connected_accounts', { connector: 'mail', nickname: 'x' })
  await mock.api.get('/connected_acounts')
  for (const [name, report] of [
    ['contract', (await control(mock, 'get', '/contract')).body],
    ['coverage', await coverageOf(mock)],
  ] as const) {
    const check = new Ajv2020().compile(
      JSON.parse(readFileSync(`spec/schemas/${name}-report.schema.json`, 'utf8')) as object,
    )
    expect(check(report), JSON.stringify(check.errors)).toBe(true)
  }
})

it('lists a violation with its path, value, rule, basis, count and requests', async ({ mock }) => {
  const first = await mock.api.get('/connected_accounts', { page_size: 'ten' })
  await mock.api.get('/connected_accounts', { page_size: 'many' })
  const { ok, total } = await contractOf(mock)
  expect(ok).toBe(false)
  expect(total.violations).toEqual([
    {
      kind: 'violation',
      operation: 'list_connected_accounts',
      field: 'page_size',
      code: 'type',
      error_code: 'VALIDATION_FAILED',
      found: '"ten"',
      allowed: 'must be an integer',
      did_you_mean: null,
      basis: 'convention:G1',
      request: first.headers['x-request-id'],
      count: 2,
      requests: [first.headers['x-request-id'], expect.any(String)],
      examples: [
        {
          id: first.headers['x-request-id'],
          environment: 'default',
          method: 'GET',
          path: '/api/v1/connected_accounts',
          at: expect.stringMatching(/^2026-01-01T/),
          excerpt: '?page_size=ten',
        },
        expect.objectContaining({ excerpt: '?page_size=many' }),
      ],
      tests: [],
      test_count: 0,
    },
  ])
})

it('omits the content of credentials', async ({ mock }) => {
  const connected_account = { authorization_details: { oauth_token: { access_token: 4711, refresh_token: 'rt' } } }
  await mock.api.post('/connected_accounts', { ...ADA, connected_account })
  const { violations } = (await contractOf(mock)).total
  expect(violations).toHaveLength(1)
  expect(violations[0]).toMatchObject({ found: 'a number' })
})

it('warns of unread names, output-only fields and aliases, each with its basis, and stays ok', async ({ mock }) => {
  await createActive(mock)
  await mock.api.get('/connected_accounts', { page: 2 })
  await mock.api.put('/connected_accounts', {
    ...ADA,
    nickname: 'x',
    connected_account: { authorization_details: { oauth_token: { access_token: 'at_9' } } },
  })
  await mock.api.post('/connected_accounts', {
    connector: 'workspace',
    identifier: 'w@example.com',
    connected_account: { authorization_details: { workspace_dwd: { subject: 's', access_token: 'out' } } },
  })
  await mock.api.post('/execute_tool', { ...ADA, tool_name: 'mail_list_messages', params: {} })
  const { ok, total } = await contractOf(mock)
  expect(ok).toBe(true)
  expect(total.warnings.map(({ code, operation, field, basis }) => [code, operation, field, basis])).toEqual([
    ['unread', 'list_connected_accounts', 'page', 'choice:G6'],
    ['unread', 'update_connected_account', 'nickname', 'choice:G6'],
    [
      'output_only',
      'create_connected_account',
      'connected_account.authorization_details.workspace_dwd.access_token',
      'convention:G9',
    ],
    ['alias', 'execute_tool', 'params', 'convention:G11'],
  ])
})

it('lists paths that are not served with suggestions, and none that browsers request by themselves', async ({
  mock,
}) => {
  await mock.api.get('/connected_acounts')
  await mock.http('patch', '/api/v1/connections')
  await mock.http('get', '/favicon.ico')
  await mock.http('get', '/robots.txt')
  const { ok, total } = await contractOf(mock)
  expect(ok).toBe(false)
  expect(total.findings).toEqual([
    {
      kind: 'violation',
      code: 'unknown_path',
      error_code: 'PATH_NOT_FOUND',
      operation: null,
      field: 'GET /api/v1/connected_acounts',
      found: null,
      allowed: 'is not served',
      did_you_mean: 'GET /api/v1/connected_accounts',
      basis: 'choice:G8',
      request: expect.any(String),
      count: 1,
      requests: [expect.any(String)],
      examples: [expect.objectContaining({ path: '/api/v1/connected_acounts', excerpt: '' })],
      tests: [],
      test_count: 0,
    },
    expect.objectContaining({ field: 'PATCH /api/v1/connections', did_you_mean: 'GET /api/v1/connections' }),
  ])
})

it('says of a rule that must fire which rule before it took its requests', async ({ mock }) => {
  await createActive(mock)
  const [rule] = RULE_429.rules
  const rules = [
    { ...rule, when: { first: 1 } },
    { ...rule, name: 'again' },
  ]
  await control(mock, 'put', '/scenarios/limited', { name: 'limited', rules })
  await control(mock, 'post', '/scenarios/limited/start')
  await mock.api.post('/execute_tool', { ...ADA, tool_name: 'mail_list_messages', tool_input: {} })
  expect((await contractOf(mock)).total.findings.map(findingSentence)).toEqual([
    'rule "again" of scenario limited at service never fired in environment default: ' +
      'the rule "too many" before it took 1 request',
  ])
})

it('lists required rules until they fire', async ({ mock }) => {
  await createActive(mock)
  await control(mock, 'put', '/scenarios/limited', RULE_429)
  await control(mock, 'post', '/scenarios/limited/start')
  const before = await contractOf(mock)
  const rule = { scenario: 'limited', rule: 'too many', environment: 'default', matched: 0 }
  const unfired = { kind: 'violation', code: 'must_fire', request: null, operation: null, requests: [], rule }
  expect(before.total.findings).toMatchObject([unfired])
  expect(before.ok).toBe(false)
  await control(mock, 'post', '/scenarios/limited/stop')
  const [stopped] = (await contractOf(mock)).total.findings
  expect(stopped && findingSentence(stopped)).toBe(
    'rule "too many" of scenario limited at service never fired in environment default ' +
      'before the scenario was stopped: no request matched it',
  )
  await control(mock, 'post', '/reset')
  expect((await contractOf(mock)).total.findings).toMatchObject([unfired])
  await control(mock, 'post', '/scenarios/limited/start')
  await mock.api.post('/execute_tool', { ...ADA, tool_name: 'mail_list_messages', tool_input: {} })
  const { ok, total } = await contractOf(mock)
  expect({ ok, findings: total.findings, injected: total.injected }).toEqual({
    ok: true,
    findings: [],
    injected: 1,
  })
})

it('lists answers of the mock that break the contract', async () => {
  const broken: unknown = {
    ...OPERATIONS,
    list_connections: () => ({ status: 200, body: { connections: [{ id: 7 }] } }),
  }
  const app = await createApp({ operations: broken as typeof OPERATIONS, log: SILENT })
  try {
    const { id: client_id, secret: client_secret } = app.client
    const form = { client_id, client_secret, grant_type: 'client_credentials' }
    const token = await supertest(app.listener).post('/oauth/token').type('form').send(form)
    await supertest(app.listener)
      .get('/api/v1/connections')
      .set('Authorization', `Bearer ${String(token.body.access_token)}`)
    const { body } = await supertest(app.listener).get('/_mock/contract')
    expect(body.ok).toBe(false)
    const where = { operation: 'list_connections', field: expect.stringContaining('connections[0]') }
    expect(body.total.findings).toContainEqual(expect.objectContaining({ code: 'mock_answer', ...where }))
    expect(body.total.findings).not.toContainEqual(expect.objectContaining({ error_code: expect.any(String) }))
  } finally {
    await app.close()
  }
})

it('has the words that the client sent where the wire has others than the document (G48)', async ({ startMock }) => {
  const mock = await startMock({ seed: { settings: { vocabulary: { connector: 'app' } } } })
  await mock.api.post('/connected_accounts', { app: 7, identifier: 'ada@example.com', connector: 'mail' })
  const { violations } = (await contractOf(mock)).total
  expect(violations.map(({ field }) => field)).toEqual(['app'])
})
