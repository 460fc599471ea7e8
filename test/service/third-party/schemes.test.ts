import { describe, expect, it } from 'vitest'
import type { AuthorizationType } from '../../../src/model/domain/authorization-type.ts'
import type { Connector } from '../../../src/model/domain/connector.ts'
import type { Credentials } from '../../../src/model/domain/credentials.ts'
import { oauth1BaseString, oauth1Signature } from '../../../src/service/third-party/oauth1.ts'
import { revokeGrants } from '../../../src/state/grants.ts'
import { Fixture, accountOf, connectorOf, granted, tool } from './fixture.ts'

const oauth = (access_token: string): Credentials => ({
  oauth_token: { access_token, refresh_token: '', scopes: [], domain: '' },
})
const fixed = (details: Record<string, string>): Credentials => ({ static_auth: { details } })

interface Case {
  type: AuthorizationType
  right: Credentials
  wrong: Credentials
  challenge: RegExp
}

const STORED: Case[] = [
  { type: 'OAUTH', right: oauth('good'), wrong: oauth('bad'), challenge: /^Bearer realm="app"/ },
  { type: 'SMART_FHIR', right: oauth('good'), wrong: oauth('bad'), challenge: /^Bearer/ },
  { type: 'OAUTH_M2M', right: oauth('good'), wrong: oauth('bad'), challenge: /^Bearer/ },
  { type: 'TRACKER_OAUTH1', right: oauth('good/+ "token"'), wrong: oauth('bad'), challenge: /^OAuth realm="app"/ },
  { type: 'API_KEY', right: fixed({ api_key: 'good' }), wrong: fixed({ api_key: 'bad' }), challenge: /^ApiKey/ },
  { type: 'CUSTOM', right: fixed({ api_key: 'gøød\n€' }), wrong: fixed({ api_key: 'bad' }), challenge: /^ApiKey/ },
  { type: 'BEARER_TOKEN', right: fixed({ token: 'good' }), wrong: fixed({ token: 'bad' }), challenge: /^Bearer/ },
  {
    type: 'BASIC',
    right: fixed({ username: 'ada', password: 'gød:x' }),
    wrong: fixed({ username: 'ada', password: 'bad' }),
    challenge: /^Basic realm="app"/,
  },
  {
    type: 'BASIC_AUTH',
    right: fixed({ username: 'ada', password: '' }),
    wrong: fixed({ username: 'eve', password: '' }),
    challenge: /^Basic/,
  },
]

const SENDS = {
  method: 'POST',
  path: '/v1/a b/{{input.x}}',
  query: { q: '{{input.x}}', r: "it's" },
  body: { x: '{{input.x}}' },
} as const

function registryOf(type: AuthorizationType, changes: Partial<Connector> = {}): Promise<Fixture> {
  return Fixture.start(connectorOf(type, { tools: [tool(SENDS)], ...changes }))
}

describe('credentials that a caller stored', () => {
  it.each(STORED)('$type: the right one is accepted, with any input', async ({ type, right }) => {
    await using fixture = await registryOf(type)
    const account = fixture.place(right)
    for (const x of ['plain', 'a/b?c=d&e+f g', 'ünï€', '100%', '\ud800']) {
      expect(await fixture.call(account, { x })).toEqual({ kind: 'result', data: { ok: true } })
    }
  })

  it.each(STORED)('$type: a wrong one is refused with 401', async ({ type, right, wrong }) => {
    await using fixture = await registryOf(type)
    const account = fixture.place(right)
    expect(await fixture.call({ ...account, credentials: wrong }, { x: 1 })).toMatchObject({
      kind: 'failed',
      status: 401,
    })
  })

  it.each(STORED)('$type: none at all is refused with a challenge', async ({ type, right, challenge }) => {
    await using fixture = await registryOf(type)
    const account = fixture.place(right)
    expect(await fixture.call({ ...account, credentials: {} }, { x: 1 })).toMatchObject({ kind: 'failed', status: 401 })
    const answer = await fixture.api('/v1/things')
    expect(answer).toMatchObject({ status: 401, body: { error: 'unauthorized', reason: 'missing' } })
    expect(answer.headers.get('www-authenticate')).toMatch(challenge)
  })

  it.each(STORED)('$type: a revoked one is refused', async ({ type, right }) => {
    await using fixture = await registryOf(type)
    const account = fixture.place(right)
    fixture.environment.model.transact(() => revokeGrants(fixture.environment, account))
    const answer = await fixture.call(account, { x: 1 })
    expect(answer).toMatchObject({ kind: 'failed', status: 401, message: expect.stringContaining('revoked') as string })
  })

  it.each(STORED)('$type: one that matches a reject glob is refused', async ({ type, right }) => {
    await using fixture = await registryOf(type, { reject: ['g*', 'ada'] })
    const account = fixture.place(right)
    expect(await fixture.call(account, { x: 1 })).toMatchObject({ kind: 'failed', status: 401 })
  })

  it.each(STORED)('$type: an expiring one ends with the lifetime of the connector', async ({ type, right }) => {
    await using fixture = await registryOf(type)
    const account = fixture.place(right)
    fixture.environment.clock.advance(fixture.connector.oauth.access_token_lifetime)
    const expires = ['OAUTH', 'SMART_FHIR', 'OAUTH_M2M'].includes(type)
    const expected = expires ? { kind: 'failed', status: 401 } : { kind: 'result' }
    expect(await fixture.call(account, { x: 1 })).toMatchObject(expected)
  })
})

it('static credentials are sent in the query where the connector defines that', async () => {
  const credentials = { fields: [], send: { headers: {}, query: { key: '{{credentials.api_key}}' } } }
  await using fixture = await registryOf('API_KEY', { credentials })
  const account = fixture.place(fixed({ api_key: 'a&b=c ü' }))
  expect(await fixture.call(account, { x: 1 })).toMatchObject({ kind: 'result' })
  expect((await fixture.api('/v1/things?key=a%26b%3Dc%20%C3%BC')).status).toBe(200)
  expect((await fixture.api('/v1/things?key=a')).status).toBe(401)
})

it('static credentials are all needed where the connector sends several', async () => {
  const headers = { 'X-Key': '{{credentials.key}}', 'X-Tenant': '{{credentials.tenant}}' }
  await using fixture = await registryOf('CUSTOM', { credentials: { fields: [], send: { headers, query: {} } } })
  fixture.place(fixed({ key: 'k', tenant: 't' }))
  expect((await fixture.api('/', { headers: { 'X-Key': 'k', 'X-Tenant': 't' } })).status).toBe(200)
  expect((await fixture.api('/', { headers: { 'X-Key': 'k', 'X-Tenant': 'u' } })).status).toBe(401)
  expect((await fixture.api('/', { headers: { 'X-Key': 'k' } })).status).toBe(401)
})

it('static credentials are also accepted where the connector does not define how they are sent', async () => {
  await using fixture = await registryOf('CUSTOM', { credentials: { fields: [], send: { headers: {}, query: {} } } })
  const account = fixture.place(fixed({ anything: 'goes' }))
  expect(await fixture.call(account, { x: 1 })).toMatchObject({ kind: 'result' })
  expect(await fixture.call({ ...account, credentials: fixed({ anything: 'else' }) })).toMatchObject({
    kind: 'failed',
    status: 401,
  })
})

it('static credentials: shared by two accounts stay valid for one when those of the other are revoked', async () => {
  await using fixture = await registryOf('API_KEY')
  const first = fixture.place(fixed({ api_key: 'shared' }))
  const second = fixture.place(fixed({ api_key: 'shared' }), {
    id: 'ca_2',
    sequence: 2,
    identifier: 'grace@example.com',
  })
  fixture.environment.model.transact(() => revokeGrants(fixture.environment, second))
  expect(await fixture.call(first, { x: 1 })).toMatchObject({ kind: 'result' })
  expect(await fixture.call(second, { x: 1 })).toMatchObject({ kind: 'failed', status: 401 })
})

it('static credentials: that replace others make the former ones unknown', async () => {
  await using fixture = await registryOf('API_KEY')
  fixture.place(fixed({ api_key: 'old' }))
  fixture.place(fixed({ api_key: 'new' }))
  expect((await fixture.api('/', { headers: { 'X-API-Key': 'old' } })).status).toBe(401)
  expect((await fixture.api('/', { headers: { 'X-API-Key': 'new' } })).status).toBe(200)
})

it('NO_AUTH needs no credentials', async () => {
  await using fixture = await registryOf('NO_AUTH')
  expect(await fixture.call(fixture.place({}), { x: 1 })).toMatchObject({ kind: 'result' })
  expect((await fixture.api('/v1/things')).status).toBe(200)
})

it('OAuth 1 signatures are those of the example in RFC 5849 1.2', () => {
  const parameters = [
    ['file', 'vacation.jpg'],
    ['size', 'original'],
    ['oauth_consumer_key', 'dpf43f3p2l4k3l03'],
    ['oauth_token', 'nnch734d00sl2jdk'],
    ['oauth_signature_method', 'HMAC-SHA1'],
    ['oauth_timestamp', '137131202'],
    ['oauth_nonce', 'chapoH'],
  ] as const
  const parts = { method: 'GET', url: 'http://photos.example.net/photos', parameters }
  expect(oauth1Signature(parts, 'kd94hf93k423kf44', 'pfkkdhi9sl3r4s00')).toBe('MdpQcU8iPSUjWoN/UDMsK2sui9I=')
})

it('OAuth 1 signatures: sign the base string of RFC 5849 3.4.1.1', () => {
  const parameters = [
    ['b5', '=%3D'],
    ['a3', 'a'],
    ['c@', ''],
    ['a2', 'r b'],
    ['oauth_consumer_key', '9djdj82h48djs9d2'],
    ['oauth_token', 'kkk9d7dh3k39sjv7'],
    ['oauth_signature_method', 'HMAC-SHA1'],
    ['oauth_timestamp', '137131201'],
    ['oauth_nonce', '7d8f3e4a'],
    ['c2', ''],
    ['a3', '2 q'],
  ] as const
  expect(oauth1BaseString({ method: 'post', url: 'http://example.com/request', parameters })).toBe(
    'POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D%26' +
      'oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26' +
      'oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7',
  )
})

it('OAuth 1 signatures are refused when they are of another request, or cannot be read', async () => {
  await using fixture = await registryOf('TRACKER_OAUTH1')
  fixture.place(oauth('good'))
  const fields = (signature: string) =>
    `OAuth oauth_consumer_key="toolmock-default", oauth_token="good", oauth_signature_method="HMAC-SHA1", ` +
    `oauth_timestamp="1", oauth_nonce="n", oauth_signature="${signature}"`
  const withHeader = (authorization: string) => fixture.api('/v1/things', { headers: { authorization } })
  expect(await withHeader(fields('AAAA'))).toMatchObject({ status: 401, body: { reason: 'bad_signature' } })
  expect(await withHeader('OAuth nonsense')).toMatchObject({ status: 401, body: { reason: 'malformed' } })
  expect(await withHeader('Bearer good')).toMatchObject({ status: 401, body: { reason: 'malformed' } })
})

it('temporary keys: sign requests that the third party accepts until they expire', async () => {
  await using fixture = await registryOf('TRUSTED_IDP')
  const asked = accountOf(fixture.connector)
  const { credentials, lifetime_ms } = granted(await fixture.obtain(asked))
  const account = { ...asked, credentials }
  expect(lifetime_ms).toBe(3_600_000)
  for (const x of ['plain', 'a/b?c=d&e+f g', 'ünï€', '~!*()']) {
    expect(await fixture.call(account, { x })).toMatchObject({ kind: 'result' })
  }
  fixture.environment.clock.advance(3_600_000)
  expect(await fixture.call(account, { x: 1 })).toMatchObject({ kind: 'failed', status: 401 })
})

it('temporary keys are obtained while the clock jumps', async () => {
  await using fixture = await registryOf('TRUSTED_IDP')
  const obtained = fixture.obtain(accountOf(fixture.connector))
  fixture.environment.clock.advance(30 * 86_400_000)
  expect(await obtained).toMatchObject({ granted: true })
})

it.each(['secret_access_key', 'session_token', 'access_key_id'] as const)(
  'temporary keys are refused with another %s',
  async (field) => {
    await using fixture = await registryOf('TRUSTED_IDP')
    const asked = accountOf(fixture.connector)
    const { credentials } = granted(await fixture.obtain(asked))
    const keys = credentials.trusted_idp
    if (!keys) throw new Error('no keys')
    const account = { ...asked, credentials: { trusted_idp: { ...keys, [field]: 'other' } } }
    expect(await fixture.call(account, { x: 1 })).toMatchObject({ kind: 'failed', status: 401 })
  },
)

it('temporary keys: need a database user where the cluster is provisioned', async () => {
  await using fixture = await registryOf('TRUSTED_IDP', { cluster: 'provisioned' })
  const without = accountOf(fixture.connector)
  expect(await fixture.obtain(without)).toMatchObject({
    granted: false,
    error: 'invalid_request',
  })
  const none = { access_key_id: '', secret_access_key: '', session_token: '' }
  const account = accountOf(fixture.connector, { trusted_idp: { ...none, db_user: 'reporting' } })
  const answer = granted(await fixture.obtain(account))
  expect(answer.credentials.trusted_idp?.db_user).toBe('reporting')
})
