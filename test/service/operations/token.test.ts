import { describe, expect } from 'vitest'
import { BASE_URL, it, type TestToolmock } from '../../support/toolmock.ts'
import { whileHeld } from '../../support/until.ts'

const GOOD = { client_id: 'test_client', client_secret: 'test_secret', grant_type: 'client_credentials' }

function ask({ http }: TestToolmock, form: string | object, headers: Record<string, string> = {}) {
  return http('post', '/oauth/token').type('form').set(headers).send(form)
}

function basic(id: string, secret: string): Record<string, string> {
  return { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` }
}

describe('POST /oauth/token (5.1, G13)', () => {
  it('answers a bearer token that the operations accept', async ({ mock }) => {
    const answer = await ask(mock, GOOD)

    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^\S{32,}$/),
      token_type: 'Bearer',
      expires_in: 86399,
      scope: '',
    })
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
    const { access_token } = answer.body as { access_token: string }
    const listed = await mock.http('get', '/api/v1/connections').set('Authorization', `Bearer ${access_token}`)
    expect(listed.status).toBe(200)
  })

  it('answers another token each time, and each of them is valid', async ({ mock }) => {
    const tokens = [await mock.signIn(), await mock.signIn(), await mock.signIn()]

    expect(new Set(tokens).size).toBe(3)
    for (const token of tokens) {
      const answer = await mock.http('get', '/api/v1/connections').set('Authorization', `Bearer ${token}`)
      expect(answer.status).toBe(200)
    }
  })

  it('answers the lifetime that the seed sets, in seconds', async ({ startMock }) => {
    const mock = await startMock({ seed: { settings: { bearer_token_lifetime: '90s' } } })
    expect((await ask(mock, GOOD)).body).toMatchObject({ expires_in: 90 })
  })

  it('never answers a longer lifetime than the token has', async ({ startMock }) => {
    const mock = await startMock({ seed: { settings: { bearer_token_lifetime: '1999ms' } } })
    expect((await ask(mock, GOOD)).body).toMatchObject({ expires_in: 1 })
  })

  it('accepts the client credentials as HTTP Basic, form-encoded by RFC 6749 2.3.1', async ({ startMock }) => {
    const mock = await startMock({ seed: { clients: [{ client_id: 'a b', client_secret: 's:%+é' }] } })
    const encoded = basic('a+b', encodeURIComponent('s:%+é'))
    const answer = await ask(mock, { grant_type: 'client_credentials' }, encoded)
    expect(answer.status).toBe(200)
  })

  it.for(['Bearer tmk_of_yesterday', 'Digest username="ada"', 'bearer'])(
    'ignores the header %j where the form names its client, as when a client renews its token (G14)',
    async (authorization, { mock }) => {
      const answer = await ask(mock, GOOD, { Authorization: authorization })
      expect(answer.status).toBe(200)
      const refused = await ask(mock, { ...GOOD, client_secret: 'wrong' }, { Authorization: authorization })
      expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client'])
      expect(refused.headers).not.toHaveProperty('www-authenticate')
    },
  )

  it('accepts a client_id beside HTTP Basic, which does not count as a second authentication', async ({ mock }) => {
    const { client_id, grant_type } = GOOD
    expect((await ask(mock, { client_id, grant_type }, basic('test_client', 'test_secret'))).status).toBe(200)
  })
})

/** A request without client authentication is an `invalid_client` (RFC 6749 5.2). */
function without(field: string): [number, string] {
  return field === 'grant_type' ? [400, 'invalid_request'] : [401, 'invalid_client']
}

describe('a token request that is refused (G14)', () => {
  it('has the body of RFC 6749 also when its environment is removed meanwhile', async ({ mock }) => {
    const { status, body } = await whileHeld(
      mock,
      { on: { operation: 'create_token' } },
      () => ask(mock, GOOD),
      (release) => {
        release()
        mock.app.services.registry.remove('default')
      },
    )
    expect([status, body]).toEqual([
      401,
      { error: 'invalid_client', error_description: 'the environment default was removed' },
    ])
  })

  const missing = ['client_id', 'client_secret', 'grant_type'].map((name) => {
    const rest = Object.fromEntries(Object.entries(GOOD).filter(([each]) => each !== name))
    return [`${name} is missing`, rest, ...without(name)] as const
  })
  const empty = Object.keys(GOOD).map(
    (name) => [`${name} is empty`, { ...GOOD, [name]: '' }, ...without(name)] as const,
  )
  const repeated = Object.entries(GOOD).map(
    ([name, value]) =>
      [
        `${name} is repeated`,
        `${new URLSearchParams(GOOD).toString()}&${name}=${value}`,
        400,
        'invalid_request',
      ] as const,
  )
  const cases: (readonly [string, string | object, number, string])[] = [
    ...missing,
    ...empty,
    ...repeated,
    ['the client does not authenticate at all', { grant_type: 'client_credentials' }, 401, 'invalid_client'],
    ['the form is empty', '', 400, 'invalid_request'],
    ['the grant is another one', { ...GOOD, grant_type: 'password' }, 400, 'unsupported_grant_type'],
    ['the grant has another case', { ...GOOD, grant_type: 'Client_Credentials' }, 400, 'unsupported_grant_type'],
    ['the client is unknown', { ...GOOD, client_id: 'nobody' }, 401, 'invalid_client'],
    ['the client is called __proto__', { ...GOOD, client_id: '__proto__' }, 401, 'invalid_client'],
    ['the secret is wrong', { ...GOOD, client_secret: 'test_secre7' }, 401, 'invalid_client'],
    ['the secret is longer', { ...GOOD, client_secret: 'test_secret_' }, 401, 'invalid_client'],
  ]

  it.for(cases)('%s', async ([_name, form, status, error], { mock }) => {
    const answer = await ask(mock, form)

    expect(answer.status).toBe(status)
    expect(answer.body).toEqual({ error, error_description: expect.stringMatching(/\w/) })
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
    expect(answer.headers).not.toHaveProperty('www-authenticate')
  })

  it.for([
    ['the same', GOOD],
    ['a wrong one', { ...GOOD, client_secret: 'wrong' }],
  ])('has its secret in the header and in the form, %s (RFC 6749 2.3)', async ([_name, form], { mock }) => {
    const answer = await ask(mock, form, basic('test_client', 'test_secret'))

    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: 'invalid_request', error_description: expect.stringContaining('twice') })
  })

  it('names one client in the header and another in the form', async ({ mock }) => {
    const form = { grant_type: 'client_credentials', client_id: 'other_client' }
    const answer = await ask(mock, form, basic('test_client', 'test_secret'))

    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: 'invalid_request', error_description: expect.stringContaining('client_id') })
  })

  it.for([
    ['wrong credentials', basic('test_client', 'wrong')],
    ['an unknown client', basic('nobody', 'test_secret')],
    ['no colon', { Authorization: `Basic ${Buffer.from('test_client').toString('base64')}` }],
    ['nothing after the scheme', { Authorization: 'Basic' }],
    ['another scheme', { Authorization: 'Bearer test_secret' }],
  ])('names the Basic scheme when the header has %s', async ([_name, headers], { mock }) => {
    const answer = await ask(mock, { grant_type: 'client_credentials' }, headers)

    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ error: 'invalid_client' })
    expect(answer.headers['www-authenticate']).toMatch(/^Basic /)
  })

  it.for([
    ['JSON', 'application/json', JSON.stringify(GOOD)],
    ['text', 'text/plain', new URLSearchParams(GOOD).toString()],
    ['a form of several parts', 'multipart/form-data; boundary=x', '--x--'],
  ])('a body of another content type: %s', async ([_name, type, body], { mock: { http } }) => {
    const answer = await http('post', '/oauth/token').set('Content-Type', type).send(body)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'invalid_request' })
  })

  it.for([
    ['no valid UTF-8', {}, Buffer.from([0x61, 0x3d, 0xff])],
    ['not what its encoding says', { 'Content-Encoding': 'gzip' }, Buffer.from('a=b')],
    ['of an unknown encoding', { 'Content-Encoding': 'rot13' }, Buffer.from('a=b')],
  ])('a body that is %s is an invalid_request', async ([_name, headers, body], { mock: { http } }) => {
    const request = http('post', '/oauth/token').set('Content-Type', 'application/x-www-form-urlencoded').set(headers)
    const answer = await request.serialize(() => body as unknown as string).send({})

    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: 'invalid_request', error_description: expect.stringMatching(/\w/) })
  })

  it('a body over the limit', async ({ startMock }) => {
    const mock = await startMock({ bodyLimit: 1000 })
    const answer = await ask(mock, { ...GOOD, padding: 'x'.repeat(1000) })

    expect(answer.status).toBe(413)
    expect(answer.body).toMatchObject({ code: 8, details: [{ error_code: 'BODY_TOO_LARGE' }] })
  })

  it('ignores fields that it does not know, those of object prototypes included', async ({ mock }) => {
    const answer = await ask(mock, `${new URLSearchParams(GOOD).toString()}&scope=x&__proto__=y&constructor=z`)
    expect(answer.status).toBe(200)
  })

  it('refuses them with --strict, in the error format of this endpoint', async ({ startMock }) => {
    const mock = await startMock({ strict: true })
    const answer = await ask(mock, { ...GOOD, colour: 'red' })

    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: 'invalid_request', error_description: expect.stringContaining('colour') })
  })
})

describe('GET /.well-known/oauth-authorization-server (RFC 8414)', () => {
  const PATH = '/.well-known/oauth-authorization-server'

  it('has metadata for OAuth libraries: the token endpoint and its authentication methods', async ({
    mock: { http },
  }) => {
    const answer = await http('get', PATH)

    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    expect(answer.headers).toHaveProperty('x-request-id')
    expect(answer.body).toEqual({
      issuer: BASE_URL,
      token_endpoint: `${BASE_URL}/oauth/token`,
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      response_types_supported: [],
    })
  })

  it('answers 405 with Allow to another method', async ({ mock: { http } }) => {
    const answer = await http('post', PATH)

    expect(answer.status).toBe(405)
    expect(answer.headers['allow']).toBe('GET, HEAD')
  })

  it('is a 404 with --documented-only, which names the flag', async ({ startMock }) => {
    const { http } = await startMock({ documentedOnly: true })
    const answer = await http('get', PATH)

    expect(answer.status).toBe(404)
    expect(answer.body.message).toContain('--documented-only')
  })
})
