import { expect } from 'vitest'
import type { EntryDocument } from '../../../src/journal/request-journal/entry.ts'
import { ADA, createAccount, createActive, decide, linkFor, VERIFY_URL, verify } from '../../support/accounts.ts'
import { it, type TestToolmock } from '../../support/toolmock.ts'

const LIST = { tool_name: 'mail_list_messages', tool_input: { folder: 'inbox' } }

function entries({ app, environment }: TestToolmock): EntryDocument[] {
  return app.services.journals.of(environment).query()
}

function last(mock: TestToolmock): EntryDocument {
  const entry = entries(mock).at(-1)
  if (!entry) throw new Error('the journal is empty')
  return entry
}

it('request and answer, in real and environment time', async ({ mock }) => {
  const { id } = await createAccount(mock)
  const answer = await mock
    .http('get', `/api/v1/connected_accounts/details?id=${id}&id2=x`)
    .set('X-Request-Id', 'mine-1')
  expect(answer.status).toBe(401)
  expect(last(mock)).toMatchObject({
    id: 'mine-1',
    kind: 'request',
    at: '2026-01-01T00:00:00.000Z',
    environment: 'default',
    operation: 'get_connected_account_details',
    method: 'GET',
    path: '/api/v1/connected_accounts/details',
    query: { id, id2: 'x' },
    status: 401,
    error_code: 'UNAUTHENTICATED',
    response: { headers: { 'x-request-id': 'mine-1', 'www-authenticate': 'Bearer' }, body: { code: 16 } },
  })
})

it('every transition of the account, from create to delete', async ({ mock }) => {
  const { id } = await createAccount(mock)
  const link = await linkFor(mock, { ...ADA, user_verify_url: VERIFY_URL })
  const back = await decide(mock, link)
  const request = back.searchParams.get('auth_request_id') ?? ''
  await verify(mock, request, 'eve@example.com')
  await verify(mock, request)
  await mock.api.put('/connected_accounts', {
    id,
    connected_account: { authorization_details: { oauth_token: { access_token: 'new' } } },
  })
  await mock.api.post('/connected_accounts:delete', { id })
  const moves = entries(mock).flatMap(({ kind, operation, transitions }) =>
    transitions.map(({ account_id, event, from, to }) => [operation ?? kind, account_id === id, event, from, to]),
  )
  expect(moves).toEqual([
    ['create_connected_account', true, 'created_without_credentials', 'none', 'PENDING_AUTH'],
    ['create_magic_link', true, 'link_requested', 'PENDING_AUTH', 'PENDING_AUTH'],
    ['page', true, 'consent_approved_unverified', 'PENDING_AUTH', 'PENDING_VERIFICATION'],
    ['verify_user', true, 'verify_refused', 'PENDING_VERIFICATION', 'PENDING_VERIFICATION'],
    ['verify_user', true, 'verified', 'PENDING_VERIFICATION', 'ACTIVE'],
    ['update_connected_account', true, 'credentials_updated', 'ACTIVE', 'ACTIVE'],
    ['delete_connected_account', true, 'deleted', 'ACTIVE', 'none'],
  ])
})

it('the calls to the third party, and the refresh before them', async ({ mock }) => {
  const { id } = await createActive(mock)
  mock.time.advance('2h')
  const answer = await mock.api.post('/execute_tool', { connected_account_id: id, agent_run_id: 'run-1', ...LIST })
  const entry = last(mock)
  expect(entry).toMatchObject({
    status: 200,
    account: id,
    tool: 'mail_list_messages',
    agent_run_id: 'run-1',
    execution: answer.body.execution_id,
    account_state: { status: 'ACTIVE', token_expires_at: '2026-01-01T01:00:00.000Z' },
    refreshes: [{ account_id: id, outcome: 'renewed', shared: false }],
    upstream: [
      { kind: 'token', grant: 'refresh_token', method: 'POST', status: 200 },
      { kind: 'api', grant: null, method: 'GET', status: 200 },
    ],
  })
  expect(entry.upstream[1]?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/default\/mail\/api\//)
  expect(JSON.parse(entry.upstream[1]?.answer ?? '')).toHaveProperty('messages')
})

it('a refresh that another request started', async ({ mock }) => {
  const { id } = await createActive(mock)
  mock.time.advance('2h')
  await Promise.all([1, 2].map(() => mock.api.post('/execute_tool', { connected_account_id: id, ...LIST })))
  const both = entries(mock).slice(-2)
  expect(both.map(({ refreshes }) => refreshes[0]?.shared).sort()).toEqual([false, true])
  expect(both.flatMap(({ upstream }) => upstream).filter(({ kind }) => kind === 'token')).toHaveLength(1)
})

it('the events that were due before it', async ({ mock }) => {
  const { id } = await createActive(mock, {}, { oauth_token: { access_token: 'at_1' } })
  mock.time.advance('2h')
  await mock.api.get('/connected_accounts/details', { id })
  expect(last(mock)).toMatchObject({
    due: [{ account_id: id, event: 'token_expired', from: 'ACTIVE', to: 'EXPIRED', at: '2026-01-01T01:00:00.000Z' }],
    transitions: [],
    account_state: { status: 'EXPIRED' },
  })
})

it('ignored fields and violations of the contract', async ({ mock }) => {
  await createAccount(mock, { colour: 'red', connected_account: { authorization_type: 'MAGIC' } })
  expect(last(mock).findings.map(({ field, code }) => [field, code])).toEqual([
    ['colour', 'unread'],
    ['connected_account.authorization_type', 'ignored'],
  ])
  await mock.api.post('/connected_accounts', { connector: 1 })
  expect(last(mock).findings.map(({ field }) => field)).toEqual(['identifier', 'connector'])
})

it('pages and redirects of a link, each with its request id', async ({ mock }) => {
  await createAccount(mock)
  const link = await linkFor(mock, ADA)
  const answer = await mock.follow(link)
  const consent = await mock.follow(String(answer.headers['location']))
  const expired = await mock.follow('http://mock.test/magic/nothing')
  const pages = entries(mock).slice(-3)
  expect(pages.map(({ id }) => id)).toEqual([answer, consent, expired].map(({ headers }) => headers['x-request-id']))
  expect(pages).toMatchObject([
    { kind: 'page', operation: null, status: 302, account_state: { identifier: ADA.identifier } },
    { kind: 'page', status: 200, path: '/third-party/mail/authorize' },
    { kind: 'page', status: 404, error_code: 'LINK_UNKNOWN' },
  ])
})

it('unserved paths and methods, in the journal of the client’s environment', async ({ mock }) => {
  await mock.api.get('/conected_accounts')
  expect(last(mock)).toMatchObject({
    status: 404,
    operation: null,
    error_code: 'PATH_NOT_FOUND',
    client: 'test_client',
    findings: [{ code: 'unknown_path', did_you_mean: 'GET /api/v1/connected_accounts' }],
  })
  await mock.api.post('/connections', {})
  expect(last(mock)).toMatchObject({ status: 405, findings: [{ did_you_mean: 'GET /api/v1/connections' }] })
})

it('no suggestion of a path that --documented-only refuses', async ({ startMock }) => {
  const mock = await startMock({ documentedOnly: true })
  for (const path of ['/tools', '/tolls', '/v1/tools', '/provider']) {
    await mock.api.get(path)
    expect(last(mock)).toMatchObject({ status: 404, findings: [{ did_you_mean: null }] })
  }
})
