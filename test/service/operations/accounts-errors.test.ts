import type { Response, Test } from 'supertest'
import { describe, expect } from 'vitest'
import { ADA, createAccount, expectError, pendingRequest, verify } from '../../support/accounts.ts'
import { it, type TestToolmock } from '../../support/toolmock.ts'

type Method = 'get' | 'put' | 'post'

/** Operations 1 to 9 of the document, each with a request that breaks a rule of its body or query as well. */
const OPERATIONS: readonly [operation: string, method: Method, path: string, invalid: object | string][] = [
  ['list', 'get', '/connected_accounts', 'page_size=x'],
  ['update', 'put', '/connected_accounts', { connected_account: 7 }],
  ['create', 'post', '/connected_accounts', { connector: 7 }],
  ['get-auth', 'get', '/connected_accounts/auth', 'id=a&id=b'],
  ['get-details', 'get', '/connected_accounts/details', 'id=a&id=b'],
  ['magic link', 'post', '/connected_accounts/magic_link', { state: 7 }],
  ['verify', 'post', '/connected_accounts/user/verify', { identifier: 7 }],
  ['delete', 'post', '/connected_accounts:delete', { id: 7 }],
  ['search', 'get', '/connected_accounts:search', 'query=x'],
]
const WITH_BODY = OPERATIONS.filter(([, method]) => method !== 'get')

function request({ http }: TestToolmock, method: Method, path: string, invalid: object | string): Test {
  const at = `/api/v1${path}`
  if (typeof invalid === 'string') return http(method, `${at}?${invalid}`)
  return http(method, at).type('json').send(JSON.stringify(invalid))
}

function expectUnauthenticated(answer: Response): void {
  expectError(answer, 401, 'UNAUTHENTICATED')
  expect(answer.body.code).toBe(16)
  expect(answer.headers['www-authenticate']).toMatch(/^Bearer/)
}

describe.each(OPERATIONS)('the bearer token at %s', (_, method, path, invalid) => {
  it('is checked before the rest of the request: 401 (G15, G17)', async ({ mock }) => {
    const token = await mock.signIn()
    const headers = [
      undefined,
      '',
      token,
      `Basic ${token}`,
      'Bearer',
      'Bearer ',
      `Bearer ${token}x`,
      `Bearer ${token} x`,
    ]
    for (const header of headers) {
      const sent = request(mock, method, path, invalid)
      expectUnauthenticated(await (header === undefined ? sent : sent.set('Authorization', header)))
    }
  })

  it('that has expired or was revoked is refused: 401 (G15)', async ({ mock }) => {
    const first = await mock.signIn()
    mock.time.advance('86398s')
    expect((await request(mock, method, path, invalid).auth(first, { type: 'bearer' })).status).toBe(400)
    mock.time.advance('1s')
    expectUnauthenticated(await request(mock, method, path, invalid).auth(first, { type: 'bearer' }))
    const second = await mock.signIn()
    const { model } = mock.environment
    model.transact(() => model.tables.bearer_tokens.remove(second))
    expectUnauthenticated(await request(mock, method, path, invalid).auth(second, { type: 'bearer' }))
  })

  it('is accepted with another case of its scheme', async ({ mock }) => {
    const header = `bEARER ${await mock.signIn()}`
    expect((await request(mock, method, path, invalid).set('Authorization', header)).status).toBe(400)
  })
})

describe('error answers', () => {
  it('have the same shape, with code, message and ErrorInfo (G16)', async ({ mock: { http, signIn } }) => {
    const answer = await http('post', '/api/v1/connected_accounts')
      .auth(await signIn(), { type: 'bearer' })
      .set('X-Request-Id', 'mine-1')
      .send({ identifier: 'ada@example.com' })
    expect(answer.status).toBe(400)
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    expect(answer.headers['x-request-id']).toBe('mine-1')
    expect(answer.body).toEqual({
      code: 3,
      message: expect.stringContaining('connector'),
      details: [
        {
          '@type': 'type.googleapis.com/errdetails.ErrorInfo',
          error_code: 'VALIDATION_FAILED',
          request_info: { request_id: 'mine-1' },
          validation_error_info: {
            field_violations: [{ field: 'connector', description: expect.stringMatching(/./), constraint: 'required' }],
          },
        },
      ],
    })
  })

  it('name every violation of a request at once', async ({ mock: { api } }) => {
    const answer = await api.post('/connected_accounts', { connector: 1, identifier: 2, user_id: 3 })
    const [{ validation_error_info }] = answer.body.details
    const fields = validation_error_info.field_violations.map(({ field }: { field: string }) => field)
    expect(fields.sort()).toEqual(['connector', 'identifier', 'user_id'])
  })

  it('have the request id of the answer, which is generated when the sent one is invalid (G18)', async ({
    mock: { http },
  }) => {
    for (const id of ['a b', 'x'.repeat(129), '<b>', 'a,b']) {
      const answer = await http('get', '/api/v1/connected_accounts').set('X-Request-Id', id)
      expect(answer.headers['x-request-id']).toMatch(/^req_[a-z0-9]{20}$/)
      expect(answer.body.details[0].request_info.request_id).toBe(answer.headers['x-request-id'])
    }
  })

  it.for([
    ['400 before 404', 'put', '/connected_accounts', { id: 'ca_none', connected_account: { api_config: 7 } }, 400],
    ['400 before 404', 'post', '/connected_accounts:delete', { id: 'ca_none', connector: 7 }, 400],
    ['400 before 404', 'post', '/connected_accounts/user/verify', { auth_request_id: 'none' }, 400],
    [
      '400 before 409',
      'post',
      '/connected_accounts',
      { ...ADA, connected_account: { authorization_type: 'BASIC' } },
      400,
    ],
    ['400 before 409', 'post', '/connected_accounts', { ...ADA, connected_account: { api_config: 7 } }, 400],
    [
      '400 before 409',
      'post',
      '/connected_accounts',
      { ...ADA, connected_account: { authorization_details: { static_auth: { details: {} } } } },
      400,
    ],
    ['404 before 403', 'post', '/connected_accounts/user/verify', { auth_request_id: 'none', identifier: 'x' }, 404],
  ] as const)('come in the order %s: %s %s %j (G17)', async ([_, method, path, body, status], { mock }) => {
    await createAccount(mock)
    expect((await mock.api[method](path, body)).status).toBe(status)
  })

  it('are 404 and not 403 for another identifier once the request was consumed (G17)', async ({ mock }) => {
    const id = await pendingRequest(mock)
    await verify(mock, id)
    expectError(await verify(mock, id, 'other'), 404, 'AUTH_REQUEST_NOT_FOUND')
  })
})

describe.each(WITH_BODY)('the body of %s', (_, method, path) => {
  const send = async ({ http, signIn }: TestToolmock, type: string, body: string) =>
    http(method, `/api/v1${path}`)
      .auth(await signIn(), { type: 'bearer' })
      .set('Content-Type', type)
      .send(body)

  it.for(['{', '[]', '[{}]', 'null', '7', '"text"', '{"id":"x",}', "{'id':'x'}", '{"id":NaN}'])(
    'that is %j: 400 MALFORMED_BODY (G7)',
    async (body, { mock }) => {
      expectError(await send(mock, 'application/json', body), 400, 'MALFORMED_BODY')
    },
  )

  it('that is missing: 400', async ({ mock }) => {
    expectError(await send(mock, 'application/json', ''), 400, 'VALIDATION_FAILED')
  })

  it.for(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', 'application/jsonx'])(
    'of type %s: 400 UNSUPPORTED_CONTENT_TYPE (G7)',
    async (type, { mock }) => {
      expectError(await send(mock, type, '{}'), 400, 'UNSUPPORTED_CONTENT_TYPE')
    },
  )

  it('over the limit: 413, and no data is changed (G7)', async ({ startMock }) => {
    const mock = await startMock({ bodyLimit: 1000 })
    const { id } = await createAccount(mock)
    const answer = await send(mock, 'application/json', JSON.stringify({ id, padding: 'x'.repeat(1000) }))
    expectError(answer, 413, 'BODY_TOO_LARGE')
    expect(answer.body.code).toBe(8)
    expect((await mock.api.get('/connected_accounts')).body.total_size).toBe(1)
  })
})
