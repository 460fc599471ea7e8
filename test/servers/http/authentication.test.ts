import { describe, expect } from 'vitest'
import { ROUTES } from '../../../src/model/contract/route.ts'
import { it, type TestToolmock } from '../../support/toolmock.ts'
import { whileHeld } from '../../support/until.ts'

const OPERATIONS = ROUTES.filter(({ bearer }) => bearer).map((route) => [route.operation, route] as const)

/** Sends a request that is invalid in every other respect as well: 401 comes first (G17). */
function send(
  { http }: TestToolmock,
  { method, path, bodyMediaType }: (typeof ROUTES)[number],
  authorization?: string,
) {
  const name = method.toLowerCase() as 'get' | 'post' | 'put' | 'delete'
  const request = http(name, `${path.replace('{identifier}', 'nobody')}?page_size=x&query=`)
  if (authorization !== undefined) request.set('Authorization', authorization)
  return bodyMediaType === null ? request : request.set('Content-Type', 'text/plain').send('{')
}

describe('the bearer token', () => {
  it.for([
    ['create_custom_provider', []],
    ['list_connections', []],
    ['list_connections', [{ respond: { status: 429, body: 'slow down' } }]],
    ['proxy_request', []],
    ['organizations', []],
  ])(
    'ends with its environment, also while %s waits before %j, with a challenge (RFC 6750 3)',
    async ([operation, more], { startMock }) => {
      const mock = await startMock({ extensions: ['organizations'] })
      const { api, app, http, signIn } = mock
      const proxied = http('get', '/proxy/v1/messages').set({ connection_name: 'mail', identifier: 'ada@example.com' })
      const send = {
        create_custom_provider: () => api.post('/custom-providers', { display_name: 'Late' }),
        list_connections: () => api.get('/connections'),
        proxy_request: async () => proxied.set('Authorization', `Bearer ${await signIn()}`),
        organizations: () => api.get('/organizations'),
      }[operation]!
      const answer = await whileHeld(mock, { on: { operation }, do: more }, send, (release) => {
        release()
        app.services.registry.remove('default')
      })
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"'])
    },
  )

  it('is required by every operation except that of the token itself', () => {
    expect(ROUTES.filter(({ bearer }) => !bearer).map(({ operation }) => operation)).toEqual(['create_token'])
  })

  it.for(OPERATIONS)(
    '%s answers 401 without a valid one, before anything is validated (G15, G17)',
    async ([_name, route], { startMock }) => {
      const mock = await startMock({ mcp: true })
      const token = await mock.signIn()
      const sent = [
        [undefined, 'Bearer'],
        ['', 'Bearer'],
        ['Bearer', 'Bearer'],
        ['Bearer ', 'Bearer'],
        [`Basic ${token}`, 'Bearer'],
        [token, 'Bearer'],
        [`Bearer ${token} ${token}`, 'Bearer'],
        ['Bearer unknown', 'Bearer error="invalid_token"'],
        ['Bearer __proto__', 'Bearer error="invalid_token"'],
        [`Bearer ${token.toUpperCase()}`, 'Bearer error="invalid_token"'],
      ] as const
      for (const [authorization, challenge] of sent) {
        const answer = await send(mock, route, authorization)

        expect(answer.status, authorization).toBe(401)
        expect(answer.headers['www-authenticate'], authorization).toBe(challenge)
        expect(answer.body).toMatchObject({ code: 16, details: [{ error_code: 'UNAUTHENTICATED' }] })
      }
    },
  )

  it('may follow several spaces (RFC 9110 11.4)', async ({ mock }) => {
    const token = await mock.signIn()
    for (const authorization of [`Bearer  ${token}`, `bearer   ${token}`])
      expect((await mock.http('get', '/api/v1/connections').set('Authorization', authorization)).status).toBe(200)
  })

  it.for(OPERATIONS)('%s answers 401 with the reason once it has expired', async ([_name, route], { startMock }) => {
    const mock = await startMock({ mcp: true, seed: { settings: { bearer_token_lifetime: '10m' } } })
    const token = await mock.signIn()
    mock.time.advance('9m59s999ms')
    expect((await send(mock, route, `Bearer ${token}`)).status).not.toBe(401)
    mock.time.advance('1ms')
    const answer = await send(mock, route, `Bearer ${token}`)

    expect(answer.status).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
    expect(answer.body.message).toMatch(/expired at 2026-01-01T00:10:00\.000Z/)
  })

  it('is accepted with any case of its scheme (RFC 9110 11.1)', async ({ mock }) => {
    const token = await mock.signIn()
    for (const scheme of ['bearer', 'BEARER', 'Bearer']) {
      const answer = await mock.http('get', '/api/v1/connections').set('Authorization', `${scheme} ${token}`)
      expect(answer.status).toBe(200)
    }
  })

  it('of one client stays valid when another signs in, and both use the same environment', async ({ startMock }) => {
    const { http } = await startMock({
      seed: {
        clients: [
          { client_id: 'one', client_secret: 's1' },
          { client_id: 'two', client_secret: 's2' },
        ],
      },
    })
    const listed: number[] = []
    for (const [client_id, client_secret] of [
      ['one', 's1'],
      ['two', 's2'],
    ]) {
      const form = { client_id, client_secret, grant_type: 'client_credentials' }
      const token = (await http('post', '/oauth/token').type('form').send(form)).body as { access_token: string }
      const authorized = { Authorization: `Bearer ${token.access_token}` }
      const body = { connector: 'mail', identifier: `by-${client_id}` }
      await http('post', '/api/v1/connected_accounts').set(authorized).send(body)
      const answer = await http('get', '/api/v1/connected_accounts').set(authorized)
      listed.push((answer.body as { total_size: number }).total_size)
    }
    expect(listed).toEqual([1, 2])
  })
})

const REVOKE = { name: 'r', at: 'service', on: { operation: 'list_connections' }, do: [{ revoke_bearer_tokens: {} }] }

it.for([
  ['expired', /The access token expired at/],
  ['revoked', /The access token was revoked at/],
  ['unknown', /The access token is unknown/],
  ['removed', /The access token is unknown/],
  ['secret', /client_secret that was sent for client "second" is wrong/],
])(
  'a 401 is in the journal of the environment that the client belongs to: %s',
  async ([what, because], { mock: { http } }) => {
    const client = { client_id: 'second', client_secret: 'second_secret' }
    const seed = { clients: [client] }
    await http('post', '/_mock/environments').send({ name: 'second', seed }).expect(201)
    const signIn = (secret = client.client_secret) =>
      http('post', '/oauth/token')
        .type('form')
        .send({ ...client, client_secret: secret, grant_type: 'client_credentials' })
    const { body } = await signIn()
    const token = what === 'unknown' ? 'tmk_unknown' : (body as { access_token: string }).access_token
    const list = () => http('get', '/api/v1/connections').auth(token, { type: 'bearer' })
    if (what === 'expired') await http('put', '/_mock/clock?environment=second').send({ advance: '300d' })
    if (what === 'revoked') {
      const name = { name: 'revoked', rules: [REVOKE] }
      await http('put', '/_mock/scenarios/revoked?environment=second').send(name).expect(200)
      await http('post', '/_mock/scenarios/revoked/start?environment=second')
    }
    // An environment that is removed takes its tokens along.
    if (what === 'removed') {
      await http('delete', '/_mock/environments/second').expect(200)
      await http('post', '/_mock/environments').send({ name: 'second', seed }).expect(201)
    }
    await (what === 'secret' ? signIn('wrong') : list()).expect(401)
    const owner = what === 'unknown' || what === 'removed' ? 'default' : 'second'
    for (const name of ['default', 'second']) {
      const { body: found } = await http('get', `/_mock/requests?status=401&environment=${name}`)
      const { requests } = found as { requests: { id: string; client: string | null }[] }
      expect(requests.map(({ client }) => client)).toEqual(name !== owner ? [] : [owner === 'second' ? 'second' : null])
      for (const { id } of requests) {
        const { body: explanation } = await http('get', `/_mock/requests/${id}/explain?environment=${name}`)
        expect((explanation as { text: string }).text).toMatch(because)
      }
    }
  },
)
