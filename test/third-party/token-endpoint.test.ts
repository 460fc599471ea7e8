import { describe, expect, it } from 'vitest'
import { type Account } from '../../src/domain/account.ts'
import type { Connector } from '../../src/domain/connector.ts'
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
    const form = { grant_type: 'authorization_code', code: fixture.code(), redirect_uri: CALLBACK }
    fixture.environment.clock.advance(600_000)
    expect(await fixture.token(form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  it('takes a code only with its own redirect_uri', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const form = { grant_type: 'authorization_code', code: fixture.code(), redirect_uri: 'http://evil.example/' }
    expect(await fixture.token(form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
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

  it('remembers only the last few spent grants of an account', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    let account: Account = await fixture.consented()
    for (let round = 0; round < 12; round += 1) {
      fixture.environment.clock.advance(3_600_000)
      account = await renewed(fixture, account)
    }
    expect(fixture.environment.model.tables.grants.size).toBeLessThan(9)
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

  it('WORKSPACE_DWD: a subject that the connector rejects, and assertions that nobody signed', async () => {
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

describe('the token endpoint', () => {
  it.each([
    ['no grant type', {}, 400, 'invalid_request'],
    ['an unknown grant type', { grant_type: 'constructor' }, 400, 'unsupported_grant_type'],
    ['a grant type of other applications', { grant_type: 'client_credentials' }, 400, 'unauthorized_client'],
    ['no code', { grant_type: 'authorization_code' }, 400, 'invalid_request'],
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

  it('is revoked with everything else when somebody else uses the same refresh token meanwhile', async () => {
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
