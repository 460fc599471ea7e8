import { describe, expect, it } from 'vitest'
import { type Account } from '../../src/domain/account.ts'
import type { Connector } from '../../src/domain/connector.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import { signJwt } from '../../src/third-party/jwt.ts'
import { applicationOf } from '../../src/third-party/schemes.ts'
import { CALLBACK, Fixture, accountOf, connectorOf, granted } from './fixture.ts'

const refreshing = (refresh_token: Connector['oauth']['refresh_token']): Connector => {
  const connector = connectorOf('OAUTH')
  return { ...connector, oauth: { ...connector.oauth, refresh_token, domain: 'example.com' } }
}

describe('authorization_code', () => {
  it('gives tokens that work, for the scopes and the person of the consent', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const account = await fixture.consented('grace@example.com', ['mail.read'])
    expect(account.answer).toMatchObject({ lifetime_ms: 3_600_000 })
    expect(account.credentials.oauth_token).toMatchObject({ scopes: ['mail.read'], domain: 'example.com' })
    expect(account.credentials.oauth_token?.refresh_token).toMatch(/^rt_/)
    const [grant] = fixture.environment.model.grantIndex.ofAccount(account.id)
    expect(grant).toMatchObject({ account_id: 'ca_1', person: 'grace@example.com' })
    expect(await fixture.call(account)).toMatchObject({ kind: 'result' })
  })

  it('answers as RFC 6749 5.1 says', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const answer = await fixture.token({
      grant_type: 'authorization_code',
      code: fixture.code(),
      redirect_uri: CALLBACK,
    })
    expect(answer).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3600, scope: '' } })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('pragma')).toBe('no-cache')
  })

  it('takes a code once', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const form = { grant_type: 'authorization_code', code: fixture.code(), redirect_uri: CALLBACK }
    expect((await fixture.token(form)).status).toBe(200)
    expect(await fixture.token(form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  it('takes a code for ten minutes', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const form = () => ({ grant_type: 'authorization_code', code: fixture.code(), redirect_uri: CALLBACK })
    const [inTime, late] = [form(), form()]
    fixture.environment.clock.advance(599_999)
    expect((await fixture.token(inTime)).status).toBe(200)
    fixture.environment.clock.advance(1)
    expect(await fixture.token(late)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(fixture.environment.model.tables.authorization_codes.size).toBe(0)
  })

  it('takes a code only with its own redirect_uri, and not after an attempt with another one', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const form = { grant_type: 'authorization_code', code: fixture.code() }
    for (const redirect_uri of ['http://evil.example/', CALLBACK])
      expect(await fixture.token({ ...form, redirect_uri })).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
  })

  it('refuses the code of another connector, and leaves it to that one', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const { model } = fixture.environment
    const code = fixture.code()
    model.transact(() => {
      const issued = model.tables.authorization_codes.get(code)
      if (issued) model.tables.authorization_codes.put({ ...issued, connector: 'other' })
    })
    const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK }
    expect(await fixture.token(form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(model.tables.authorization_codes.get(code)).toBeDefined()
    expect(model.tables.grants.size).toBe(0)
  })

  it('gives a TRACKER_OAUTH1 token that never expires and cannot be renewed', async () => {
    await using fixture = await Fixture.start(connectorOf('TRACKER_OAUTH1'))
    const account = await fixture.consented()
    expect(account.answer.lifetime_ms).toBeNull()
    expect(account.credentials.oauth_token?.refresh_token).toBe('')
    expect(await fixture.call(account)).toMatchObject({ kind: 'result' })
  })
})

describe('refresh_token', () => {
  const renewed = async (fixture: Fixture, account: Account): Promise<Account> => ({
    ...account,
    credentials: granted(await fixture.refresh(account)).credentials,
  })

  it('keep: gives a new access token and leaves the refresh token', async () => {
    await using fixture = await Fixture.start(refreshing('keep'))
    const before = await fixture.consented('ada@example.com', ['mail.read'])
    fixture.environment.clock.advance(3_600_000)
    expect(await fixture.call(before)).toMatchObject({ kind: 'unauthorized' })
    const after = await renewed(fixture, before)
    expect(await fixture.call(after)).toMatchObject({ kind: 'result' })
    expect(after.credentials.oauth_token?.refresh_token).toBe(before.credentials.oauth_token?.refresh_token)
    expect(after.credentials.oauth_token).toMatchObject({ scopes: ['mail.read'], domain: 'example.com' })
    expect(await fixture.call(await renewed(fixture, after))).toMatchObject({ kind: 'result' })
  })

  it('rotate: gives a new refresh token each time', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const first = await fixture.consented()
    const second = await renewed(fixture, first)
    const third = await renewed(fixture, second)
    const tokens = [first, second, third].map((account) => account.credentials.oauth_token?.refresh_token)
    expect(new Set(tokens).size).toBe(3)
    expect(await fixture.call(third)).toMatchObject({ kind: 'result' })
  })

  it('rotate: a token that was replaced and comes back ends everything that was issued from it', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const first = await fixture.consented()
    const second = await renewed(fixture, first)
    expect(await fixture.refresh(first)).toMatchObject({
      granted: false,
      status: 400,
      error: 'invalid_grant',
    })
    expect(await fixture.call(second)).toMatchObject({ kind: 'unauthorized' })
    expect(await fixture.refresh(second)).toMatchObject({
      granted: false,
      error: 'invalid_grant',
    })
  })

  it('none: gives no refresh token, and takes none', async () => {
    await using fixture = await Fixture.start(refreshing('none'))
    const account = await fixture.consented()
    expect(account.credentials.oauth_token?.refresh_token).toBe('')
    const stored = fixture.place({ oauth_token: { access_token: 'a', refresh_token: 'r', scopes: [], domain: '' } })
    expect(await fixture.refresh(stored)).toMatchObject({
      granted: false,
      error: 'unauthorized_client',
    })
  })

  it('takes a refresh token that a caller stored', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const oauth_token = { access_token: '', refresh_token: 'stored', scopes: ['a'], domain: 'd.example' }
    const account = await renewed(fixture, fixture.place({ oauth_token }))
    expect(await fixture.call(account)).toMatchObject({ kind: 'result' })
    expect(account.credentials.oauth_token?.scopes).toEqual(['a'])
  })

  it('refuses unknown and revoked ones', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const unknown = await fixture.token({ grant_type: 'refresh_token', refresh_token: 'constructor' })
    expect(unknown).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    const account = await fixture.consented()
    fixture.environment.model.transact(() => {
      fixture.client.revoke(account)
    })
    expect(await fixture.refresh(account)).toMatchObject({
      granted: false,
      error: 'invalid_grant',
    })
  })

  it('refuses one that was revoked, and leaves alone what its account was given since', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const former = await fixture.consented()
    fixture.environment.model.transact(() => fixture.client.revoke(former))
    const present = await fixture.consented()
    expect(await fixture.refresh(former)).toMatchObject({ granted: false, error: 'invalid_grant' })
    expect(await fixture.call(present)).toMatchObject({ kind: 'result' })
  })

  it('refuses the one of another connector, which can still be used there', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const { tables, grantIndex } = fixture.environment.model
    await fixture.consented()
    fixture.environment.model.transact(() => {
      const [grant] = grantIndex.ofAccount('ca_1')
      if (grant) tables.grants.put({ ...grant, id: 'grant_other', connector: 'other', refresh_token: 'rt_other' })
    })
    const answer = await fixture.token({ grant_type: 'refresh_token', refresh_token: 'rt_other' })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(tables.grants.get('grant_other')).toMatchObject({ revoked: false, refresh_revoked: false })
  })

  it('rotate: one that comes back ends what its person was issued at its connector, and nothing else', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const { tables, grantIndex } = fixture.environment.model
    const ada = await fixture.consented('ada@example.com')
    fixture.environment.model.transact(() => {
      const [grant] = grantIndex.ofAccount('ca_1')
      if (grant) tables.grants.put({ ...grant, id: 'grant_other', connector: 'other' })
    })
    const later = await renewed(fixture, ada)
    const grace = await fixture.consented('grace@example.com')
    await fixture.refresh(ada)
    expect(await fixture.call(later)).toMatchObject({ kind: 'unauthorized' })
    expect(await fixture.call(grace)).toMatchObject({ kind: 'result' })
    expect(tables.grants.get('grant_other')).toMatchObject({ revoked: false })
  })

  it.each(['rotate', 'keep'] as const)('%s: remembers only the last few spent grants of an account', async (kind) => {
    await using fixture = await Fixture.start(refreshing(kind))
    let account: Account = await fixture.consented()
    for (let round = 0; round < 12; round += 1) {
      fixture.environment.clock.advance(3_600_000)
      account = await renewed(fixture, account)
    }
    // Five that are spent, and the present one.
    expect(fixture.environment.model.tables.grants.size).toBe(6)
  })
})

describe('the grants that the service asks for itself', () => {
  it('OAUTH_M2M: client_credentials', async () => {
    await using fixture = await Fixture.start(connectorOf('OAUTH_M2M'))
    const asked = accountOf(fixture.connector)
    const { credentials, lifetime_ms } = granted(await fixture.obtain(asked))
    expect(lifetime_ms).toBe(3_600_000)
    expect(await fixture.call({ ...asked, credentials })).toMatchObject({ kind: 'result' })
  })

  it('WORKSPACE_DWD: an assertion of the subject', async () => {
    await using fixture = await Fixture.start(connectorOf('WORKSPACE_DWD'))
    const workspace_dwd = { subject: 'grace@example.com', access_token: '', scopes: [] }
    const asked = accountOf(fixture.connector, { workspace_dwd })
    const { credentials } = granted(await fixture.obtain(asked))
    expect(credentials.workspace_dwd).toMatchObject({
      subject: 'grace@example.com',
      token_expires_at: '2026-01-01T01:00:00.000Z',
    })
    expect(fixture.environment.model.grantIndex.ofAccount('ca_1')[0]?.person).toBe('grace@example.com')
    expect(await fixture.call({ ...asked, credentials })).toMatchObject({ kind: 'result' })
  })

  it('WORKSPACE_DWD: a subject that the connector rejects, and assertions without a signature', async () => {
    await using fixture = await Fixture.start(connectorOf('WORKSPACE_DWD', { reject: ['*@outside.example'] }))
    const outside = accountOf(fixture.connector, {}, { identifier: 'eve@outside.example' })
    expect(await fixture.obtain(outside)).toMatchObject({
      granted: false,
      error: 'invalid_grant',
    })
    const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    for (const assertion of ['', 'a.b.c', `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`]) {
      expect(await fixture.token({ grant_type, assertion })).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
    }
  })
})

describe('a signed assertion', () => {
  const NOW = Date.parse('2026-01-01T00:00:00.000Z') / 1000

  /** What the token endpoint answers to claims, signed by the application unless the test changes the token. */
  const ask = async (changes: JsonObject, change = (token: string) => token) => {
    await using fixture = await Fixture.start(connectorOf('WORKSPACE_DWD', { reject: ['*@outside.example'] }))
    const { client_id, client_secret } = applicationOf(fixture.environment, 'app')
    const claims = { iss: client_id, sub: 'ada@example.com', aud: 'app', iat: NOW, exp: NOW + 300, ...changes }
    const assertion = change(signJwt(claims, client_secret))
    const { status, body } = await fixture.token({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion,
    })
    return status === 200 ? 'granted' : body['error_description']
  }
  const unsigned = 'the assertion is not signed by this application'
  const nobody = 'the assertion names no subject'
  const expired = 'the assertion has expired'

  it.each<[string, JsonObject, string]>([
    ['a second before it expires', { exp: NOW + 1 }, 'granted'],
    ['at the moment at which it expires', { exp: NOW }, expired],
    ['without an expiry', { exp: null }, expired],
    ['with an expiry that is a text', { exp: String(NOW + 300) }, expired],
    ['of another issuer', { iss: 'somebody' }, unsigned],
    ['without an issuer', { iss: null }, unsigned],
    ['of an empty subject', { sub: '' }, nobody],
    ['of a subject that is no text', { sub: 7 }, nobody],
    [
      'of a subject that the connector rejects',
      { sub: 'eve@outside.example' },
      'access for this subject is not allowed',
    ],
  ])('%s', async (_title, claims, answer) => {
    expect(await ask(claims)).toBe(answer)
  })

  it.each<[string, (token: string) => string]>([
    ['by another secret', (token) => signJwt(claimsOf(token), 'another secret')],
    ['over other claims', (token) => token.replace(/\..*\./, `.${part({ ...claimsOf(token), sub: 'eve' })}.`)],
    ['with a part too many', (token) => `${token}.x`],
    ['and without its signature', (token) => token.replace(/[^.]*$/, '')],
    ['and with another header', (token) => token.replace(/^[^.]*/, part({ alg: 'none' }))],
  ])('that is signed %s is refused', async (_title, change) => {
    expect(await ask({}, change)).toBe(unsigned)
  })

  it('that is missing is an invalid_request', async () => {
    await using fixture = await Fixture.start(connectorOf('WORKSPACE_DWD'))
    const answer = await fixture.token({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })
})

function claimsOf(token: string): JsonObject {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as JsonObject
}

function part(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

describe('the token endpoint', () => {
  it.each([
    ['no grant type', {}, 400, 'invalid_request'],
    ['an unknown grant type', { grant_type: 'constructor' }, 400, 'unsupported_grant_type'],
    ['a grant type of other applications', { grant_type: 'client_credentials' }, 400, 'unauthorized_client'],
    ['no code', { grant_type: 'authorization_code' }, 400, 'invalid_request'],
    ['no refresh token', { grant_type: 'refresh_token' }, 400, 'invalid_request'],
    ['an empty refresh token', { grant_type: 'refresh_token', refresh_token: '' }, 400, 'invalid_request'],
    ['a wrong secret', { grant_type: 'refresh_token', client_secret: 'x' }, 401, 'invalid_client'],
    ['a wrong client', { grant_type: 'refresh_token', client_id: 'x' }, 401, 'invalid_client'],
  ])('refuses %s', async (_title, form, status, error) => {
    await using fixture = await Fixture.start(connectorOf('OAUTH'))
    expect(await fixture.token(form)).toMatchObject({ status, body: { error } })
  })

  it.each([
    ['a field sent twice', 'grant_type=a&grant_type=b', {}],
    ['JSON', '{}', { 'Content-Type': 'application/json' }],
  ])('refuses %s', async (_title, body, headers) => {
    await using fixture = await Fixture.start(connectorOf('OAUTH'))
    expect(await fixture.token(body, headers)).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })

  it('takes the application in an Authorization header', async () => {
    await using fixture = await Fixture.start(connectorOf('OAUTH'))
    const authorization = `Basic ${Buffer.from('toolmock-default:wrong').toString('base64')}`
    const answer = await fixture.token('grant_type=refresh_token', { authorization })
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic/)
  })
})

describe('a token that the service asks for', () => {
  /** Runs `between` after the token endpoint has decided and before the service has its answer. */
  const interrupted = (between: (fixture: Fixture, send: () => void) => void) => {
    const known: { fixture?: Fixture } = {}
    const start = async () => {
      known.fixture = await Fixture.start(refreshing('rotate'), {
        intercept: ({ request }) =>
          Promise.resolve(
            request.body.includes('refresh_token')
              ? async (response, answer) => {
                  const { status, headers, body } = await answer()
                  if (known.fixture) between(known.fixture, () => response.writeHead(status, headers).end(body))
                  if (!response.writableEnded) response.destroy()
                }
              : undefined,
          ),
      })
      return known.fixture
    }
    return start()
  }

  it('is issued also when the answer is lost: the refresh token is used up', async () => {
    await using fixture = await interrupted(() => undefined)
    const account = await fixture.consented()
    expect(await fixture.refresh(account)).toMatchObject({ granted: false, status: 503 })
    const { refresh_token = '' } = account.credentials.oauth_token ?? {}
    const again = await fixture.token({ grant_type: 'refresh_token', refresh_token }).catch(() => undefined)
    expect(again).toBeUndefined()
    const grants = fixture.environment.model.grantIndex.ofAccount(account.id)
    expect(grants.map(({ revoked }) => revoked)).toEqual([true, true])
  })

  it('is revoked when the account is deleted before the answer arrives', async () => {
    await using fixture = await interrupted(({ client, environment }, send) => {
      const account = environment.model.tables.accounts.get('ca_1')
      environment.model.transact(() => account && client.revoke(account))
      send()
    })
    const account = await fixture.consented()
    expect(granted(await fixture.refresh(account)).credentials.oauth_token?.access_token).toMatch(/^at_/)
    const grants = fixture.environment.model.grantIndex.ofAccount(account.id)
    expect(grants.map(({ revoked }) => revoked)).toEqual([true, true])
  })

  it('is revoked with everything else when another client uses the same refresh token meanwhile', async () => {
    await using fixture = await interrupted(({ environment }, send) => {
      const [grant] = environment.model.grantIndex.ofAccount('ca_1')
      if (grant)
        environment.model.transact(() => environment.model.tables.grants.put({ ...grant, refresh_revoked: true }))
      send()
    })
    const consented = await fixture.consented()
    granted(await fixture.refresh(consented))
    const grants = fixture.environment.model.grantIndex.ofAccount('ca_1')
    expect(grants.map(({ revoked }) => revoked)).toEqual([true, true])
  })

  it('is not visible before the service stores it', async () => {
    const seen: number[] = []
    await using fixture = await interrupted(({ environment }, send) => {
      seen.push(environment.model.tables.grants.size)
      send()
    })
    const account = await fixture.consented()
    granted(await fixture.refresh(account))
    expect([...seen, fixture.environment.model.tables.grants.size]).toEqual([1, 2])
  })
})
