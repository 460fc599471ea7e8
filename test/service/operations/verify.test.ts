import { expect } from 'vitest'
import {
  ADA,
  authOf,
  createActive,
  decide,
  detailsOf,
  expectError,
  fieldsOf,
  linkFor,
  pendingRequest,
  verify,
  VERIFY_URL,
} from '../../support/accounts.ts'
import { BASE_URL, it } from '../../support/toolmock.ts'
import { whileHeld } from '../../support/until.ts'

const PATH = '/connected_accounts/user/verify'

it('answers 200 with the URL of the redirect, and makes the account ACTIVE (3.1)', async ({ mock }) => {
  const answer = await verify(mock, await pendingRequest(mock))
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({ post_user_verify_redirect_url: `${BASE_URL}/connect/success` })
  const { body } = await mock.api.get('/connected_accounts/auth', ADA)
  expect(body.connected_account).toMatchObject({ status: 'ACTIVE', token_expires_at: '2026-01-01T01:00:00.000Z' })
  expect(body.connected_account.authorization_details.oauth_token.access_token).not.toBe('')
})

it('answers the URL of the settings (G33)', async ({ startMock }) => {
  const mock = await startMock({ seed: { settings: { post_user_verify_redirect_url: 'https://app.example/home' } } })
  const { body } = await verify(mock, await pendingRequest(mock))
  expect(body.post_user_verify_redirect_url).toBe('https://app.example/home')
})

it('answers 404 when the request expires while a fault keeps verify waiting (G32, G64)', async ({ mock }) => {
  const id = await pendingRequest(mock)
  const answer = await whileHeld(
    mock,
    { on: { operation: 'verify_user' } },
    () => verify(mock, id),
    () => mock.time.advance('10m'),
  )
  expectError(answer, 404, 'AUTH_REQUEST_NOT_FOUND')
  const { body } = await mock.api.get('/connected_accounts/details', ADA)
  expect(body.connected_account.status).toBe('PENDING_AUTH')
})

it('answers as every operation does: by what fell due while a fault kept it waiting', async ({ mock }) => {
  const authorization_details = { oauth_token: { access_token: 'without a refresh token' } }
  await mock.api.post('/connected_accounts', { connected_account: { authorization_details }, ...ADA })
  const read = () => mock.api.get('/connected_accounts/details', ADA)
  const { body } = await whileHeld(mock, { on: { operation: 'get_connected_account_details' } }, read, () =>
    mock.time.advance('2h'),
  )
  expect(body.connected_account.status).toBe('EXPIRED')
})

it('consumes the request: a second use answers 404 (3.1)', async ({ mock }) => {
  const id = await pendingRequest(mock)
  await verify(mock, id)
  expectError(await verify(mock, id), 404, 'AUTH_REQUEST_NOT_FOUND')
  expectError(await verify(mock, id, 'grace@example.com'), 404, 'AUTH_REQUEST_NOT_FOUND')
})

it('answers only one of concurrent equal requests with 200', async ({ mock }) => {
  const id = await pendingRequest(mock)
  const answers = await Promise.all(Array.from({ length: 4 }, () => verify(mock, id)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
})

it.for(['grace@example.com', 'ADA@example.com', ' ada@example.com', 'ada@example.com\u0000', '__proto__'])(
  'answers 403 to the identifier %j, changes no data and does not consume the request ("States")',
  async (identifier, { mock }) => {
    const id = await pendingRequest(mock)
    const before = (await mock.api.get('/connected_accounts/auth', ADA)).body
    mock.time.advance('1m')
    const answer = await verify(mock, id, identifier)
    expectError(answer, 403, 'IDENTIFIER_MISMATCH')
    expect(answer.body.code).toBe(7)
    expect(answer.text).not.toContain('ada@example.com')
    expect((await mock.api.get('/connected_accounts/auth', ADA)).body).toEqual(before)
    expect((await verify(mock, id)).status).toBe(200)
  },
)

it('compares with the identifier of the link’s account, not with the identity that signed in (G57)', async ({
  mock,
}) => {
  const link = await linkFor(mock, { ...ADA, user_verify_url: VERIFY_URL })
  const target = await decide(mock, link, { as: 'grace@example.com' })
  const id = target.searchParams.get('auth_request_id')!
  expectError(await verify(mock, id, 'grace@example.com'), 403, 'IDENTIFIER_MISMATCH')
  expect((await verify(mock, id, 'ada@example.com')).status).toBe(200)
})

it.for([
  ['auth_request_id', {}],
  ['auth_request_id', { identifier: 'ada@example.com' }],
  ['identifier', { auth_request_id: 'abc' }],
  ['auth_request_id', { auth_request_id: '', identifier: 'a' }],
  ['auth_request_id', { auth_request_id: 'a+b', identifier: 'a' }],
  ['auth_request_id', { auth_request_id: 'a/b', identifier: 'a' }],
  ['auth_request_id', { auth_request_id: 'a b', identifier: 'a' }],
  ['auth_request_id', { auth_request_id: 'ä', identifier: 'a' }],
  ['auth_request_id', { auth_request_id: 'abc=', identifier: 'a' }],
  ['auth_request_id', { auth_request_id: 'abc\n', identifier: 'a' }],
  ['auth_request_id', { auth_request_id: '{{7*7}}', identifier: 'a' }],
  ['auth_request_id', { auth_request_id: 7, identifier: 'a' }],
  ['auth_request_id', { auth_request_id: null, identifier: 'a' }],
  ['identifier', { auth_request_id: 'abc', identifier: ['a'] }],
  ['identifier', { auth_request_id: 'abc', identifier: '' }],
])('answers 400 naming %s for %j (4.7, G30)', async ([field, body], { mock: { api } }) => {
  const answer = await api.post(PATH, body)
  expectError(answer, 400, 'VALIDATION_FAILED')
  expect(fieldsOf(answer)).toContain(field)
})

it.for(['abc', '__proto__', 'constructor', '-', '_'.repeat(500)])(
  'answers 404 to the unknown id %s (4.7)',
  async (id, { mock }) => {
    expectError(await verify(mock, id), 404, 'AUTH_REQUEST_NOT_FOUND')
  },
)

it('answers 404 to an id that was tampered with, and the real one stays valid', async ({ mock }) => {
  const id = await pendingRequest(mock)
  expectError(await verify(mock, `${id}A`), 404, 'AUTH_REQUEST_NOT_FOUND')
  expectError(await verify(mock, id.slice(0, -1)), 404, 'AUTH_REQUEST_NOT_FOUND')
  expectError(await verify(mock, id.toUpperCase()), 404, 'AUTH_REQUEST_NOT_FOUND')
  expect((await verify(mock, id)).status).toBe(200)
})

it('answers 404 ten minutes after consent (G32)', async ({ mock }) => {
  const [early, late] = [await pendingRequest(mock), await pendingRequest(mock, { ...ADA, user_id: 'user_1' })]
  mock.time.advance('9m59s999ms')
  expect((await verify(mock, early)).status).toBe(200)
  mock.time.advance('1ms')
  expectError(await verify(mock, late), 404, 'AUTH_REQUEST_NOT_FOUND')
})

it('uses the lifetime of auth requests from the settings (G32)', async ({ startMock }) => {
  const mock = await startMock({ seed: { settings: { auth_request_lifetime: '30s' } } })
  const id = await pendingRequest(mock)
  mock.time.advance('30s')
  expectError(await verify(mock, id), 404, 'AUTH_REQUEST_NOT_FOUND')
})

it('answers 404 once a newer approved consent has superseded the request ("States")', async ({ mock }) => {
  const older = await pendingRequest(mock)
  const newer = await pendingRequest(mock)
  expectError(await verify(mock, older), 404, 'AUTH_REQUEST_NOT_FOUND')
  expect((await verify(mock, newer)).status).toBe(200)
})

it('keeps the request of a consent when a later one is denied', async ({ mock }) => {
  const id = await pendingRequest(mock)
  await decide(mock, await linkFor(mock, { ...ADA, user_verify_url: VERIFY_URL }), { decision: 'deny' })
  expect((await verify(mock, id)).status).toBe(200)
})

it('answers 404 once the account was deleted ("States")', async ({ mock }) => {
  const id = await pendingRequest(mock)
  await mock.api.post('/connected_accounts:delete', ADA)
  expectError(await verify(mock, id), 404, 'AUTH_REQUEST_NOT_FOUND')
  await createActive(mock)
  expectError(await verify(mock, id), 404, 'AUTH_REQUEST_NOT_FOUND')
})

it('keeps the tokens of the former consent live until then ("States")', async ({ mock }) => {
  const { id } = await createActive(mock)
  const request = await pendingRequest(mock, { id })
  expect((await authOf(mock, id)).authorization_details.oauth_token.access_token).toBe('at_1')
  mock.time.advance('5m')
  await verify(mock, request)
  const after = await authOf(mock, id)
  expect(after.authorization_details.oauth_token.access_token).not.toBe('at_1')
  // The lifetime of the new tokens began when they were issued.
  expect(after).toMatchObject({
    token_expires_at: '2026-01-01T01:00:00.000Z',
    updated_at: '2026-01-01T00:05:00.000Z',
  })
  expect((await detailsOf(mock, id)).status).toBe('ACTIVE')
})
