import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Account } from '../../src/domain/account.ts'
import type { AuthorizationType } from '../../src/domain/authorization-type.ts'
import type { Connector } from '../../src/domain/connector.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import { signJwt } from '../../src/third-party/jwt.ts'
import { applicationOf } from '../../src/third-party/schemes.ts'
import { revokeGrants } from '../../src/state/grants.ts'
import { restoreSnapshot, takeSnapshot } from '../../src/state/snapshots.ts'
import { CALLBACK, Fixture, accountOf, connectorOf, granted } from './fixture.ts'

const refreshing = (refresh_token: Connector['oauth']['refresh_token']): Connector => {
  const connector = connectorOf('OAUTH')
  return { ...connector, oauth: { ...connector.oauth, refresh_token, domain: 'example.com' } }
}

describe('authorization_code', () => {
  it('gives valid tokens for the scopes and the person of the consent', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const account = await fixture.consented('grace@example.com', ['mail.read'])
    expect(account.answer).toMatchObject({ lifetime_ms: 3_600_000 })
    expect(account.credentials.oauth_token).toMatchObject({ scopes: ['mail.read'], domain: 'example.com' })
    expect(account.credentials.oauth_token?.refresh_token).toMatch(/^rt_/)
    const [grant] = fixture.environment.model.grantIndex.ofAccount(account.id)
    expect(grant).toMatchObject({ account_id: 'ca_1', person: 'grace@example.com' })
    expect(await fixture.call(account)).toMatchObject({ kind: 'result' })
  })

  it('answers by RFC 6749 5.1', async () => {
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

  it('answers with the scopes, separated by spaces, and names no domain where the connector has none', async () => {
    await using fixture = await Fixture.start(connectorOf('OAUTH'))
    const code = fixture.code('ada@example.com', ['mail.read', 'mail.send'])
    const { body } = await fixture.token({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK })
    expect(body).toEqual({
      access_token: expect.stringMatching(/^at_./),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^rt_./),
      scope: 'mail.read mail.send',
    })
  })

  it('accepts a code once', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const form = { grant_type: 'authorization_code', code: fixture.code(), redirect_uri: CALLBACK }
    expect((await fixture.token(form)).status).toBe(200)
    expect(await fixture.token(form)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant', error_description: 'the code is unknown or was used before' },
    })
    expect(fixture.environment.model.tables.grants.size).toBe(1)
  })

  it('accepts a code once, also for concurrent requests: the token of one is revoked', async () => {
    const decided: (() => void)[] = []
    await using fixture = await Fixture.start(refreshing('rotate'), {
      intercept: ({ kind }) =>
        kind === 'token'
          ? async (response, answer) => {
              const { status, headers, body } = await answer()
              decided.push(() => void response.writeHead(status, headers).end(body))
              if (decided.length === 2) for (const send of decided) send()
            }
          : undefined,
    })
    const code = fixture.code()
    const accounts = ['ca_1', 'ca_2'].map((id) => accountOf(fixture.connector, {}, { id }))
    const answers = await Promise.all(accounts.map((account) => fixture.redeem(account, code)))
    const calls = answers.map((answer, at) =>
      fixture.call({ ...accounts[at]!, credentials: granted(answer).credentials }),
    )
    const kinds = (await Promise.all(calls)).map(({ kind }) => kind)
    expect(kinds.toSorted()).toEqual(['result', 'unauthorized'])
  })

  it.each(['authorization_code', 'refresh_token'])(
    'stores the token of %s also when the rows were replaced before the answer came',
    async (grantType) => {
      let restore: (() => Promise<void>) | undefined
      await using fixture = await Fixture.start(refreshing('rotate'), {
        intercept: ({ kind }) =>
          kind === 'token'
            ? async (response, answer) => {
                const { status, headers, body } = await answer()
                await restore?.()
                response.writeHead(status, headers).end(body)
              }
            : undefined,
      })
      const { environment } = fixture
      const account = await fixture.consented()
      const code = fixture.code()
      restore = () => restoreSnapshot(environment, takeSnapshot(environment, 'before'))
      const answer = await (grantType === 'refresh_token' ? fixture.refresh(account) : fixture.redeem(account, code))
      restore = undefined
      expect(await fixture.call({ ...account, credentials: granted(answer).credentials })).toMatchObject({
        kind: 'result',
      })
      expect(environment.model.tables.authorization_codes.get(code)?.id).toBe(
        grantType === 'refresh_token' ? code : undefined,
      )
    },
  )

  it('accepts a code for ten minutes', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const form = () => ({ grant_type: 'authorization_code', code: fixture.code(), redirect_uri: CALLBACK })
    const [inTime, late] = [form(), form()]
    fixture.environment.clock.advance(599_999)
    expect((await fixture.token(inTime)).status).toBe(200)
    fixture.environment.clock.advance(1)
    expect(await fixture.token(late)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant', error_description: 'the code has expired' },
    })
    expect(fixture.environment.model.tables.authorization_codes.size).toBe(0)
  })

  it('accepts a code only with its own redirect_uri, and not after an attempt with another one', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const form = { grant_type: 'authorization_code', code: fixture.code() }
    const answers = []
    for (const redirect_uri of ['http://evil.example/', CALLBACK])
      answers.push((await fixture.token({ ...form, redirect_uri })).body)
    expect(answers).toEqual([
      { error: 'invalid_grant', error_description: 'redirect_uri is not the one of the authorization' },
      { error: 'invalid_grant', error_description: 'the code is unknown or was used before' },
    ])
  })

  it('refuses the code of another connector, where it stays valid', async () => {
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

  it('TRACKER_OAUTH1: the answer has neither an expiry nor a refresh token', async () => {
    await using fixture = await Fixture.start(connectorOf('TRACKER_OAUTH1'))
    const { body } = await fixture.token({
      grant_type: 'authorization_code',
      code: fixture.code(),
      redirect_uri: CALLBACK,
    })
    expect(Object.keys(body)).toEqual(['access_token', 'token_type', 'scope'])
  })
})

describe('refresh_token', () => {
  const renewed = async (fixture: Fixture, account: Account): Promise<Account> => ({
    ...account,
    credentials: granted(await fixture.refresh(account)).credentials,
  })

  it('keep: gives a new access token and keeps the refresh token', async () => {
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

  it('keep: the answer has no refresh token', async () => {
    await using fixture = await Fixture.start(refreshing('keep'))
    const { refresh_token = '' } = (await fixture.consented()).credentials.oauth_token ?? {}
    const { body } = await fixture.token({ grant_type: 'refresh_token', refresh_token })
    expect(Object.keys(body)).toEqual(['access_token', 'token_type', 'expires_in', 'scope', 'domain'])
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

  it('rotate: reuse of a replaced token revokes everything that was issued from it', async () => {
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

  it('none: gives no refresh token, and accepts none', async () => {
    await using fixture = await Fixture.start(refreshing('none'))
    const account = await fixture.consented()
    expect(account.credentials.oauth_token?.refresh_token).toBe('')
    const stored = fixture.place({ oauth_token: { access_token: 'a', refresh_token: 'r', scopes: [], domain: '' } })
    expect(await fixture.refresh(stored)).toMatchObject({
      granted: false,
      error: 'unauthorized_client',
      description: 'this application renews no tokens',
    })
  })

  it('accepts a refresh token that a caller stored', async () => {
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
      revokeGrants(fixture.environment, account)
    })
    expect(await fixture.refresh(account)).toMatchObject({
      granted: false,
      error: 'invalid_grant',
    })
  })

  it('refuses one that was revoked, and later tokens of its account stay valid', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const former = await fixture.consented()
    fixture.environment.model.transact(() => revokeGrants(fixture.environment, former))
    const present = await fixture.consented()
    expect(await fixture.refresh(former)).toMatchObject({
      granted: false,
      error: 'invalid_grant',
      description: 'the refresh token has been revoked',
    })
    expect(await fixture.call(present)).toMatchObject({ kind: 'result' })
  })

  it('refuses that of another connector, where it stays valid', async () => {
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

  it('rotate: reuse of one revokes all tokens of its person at its connector, and no others', async () => {
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

  it.each(['rotate', 'keep'] as const)('%s: keeps only the five latest used grants of an account', async (kind) => {
    await using fixture = await Fixture.start(refreshing(kind))
    let account: Account = await fixture.consented()
    for (let round = 0; round < 12; round += 1) {
      fixture.environment.clock.advance(3_600_000)
      account = await renewed(fixture, account)
    }
    // Five that were used, and the present one.
    expect(fixture.environment.model.tables.grants.size).toBe(6)
  })

  it('keeps the latest used grants, which identify a reused refresh token', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const accounts: Account[] = [await fixture.consented()]
    for (let round = 0; round < 8; round += 1) {
      fixture.environment.clock.advance(3_600_000)
      accounts.push(await renewed(fixture, accounts[round]!))
    }
    expect(await fixture.refresh(accounts[0]!)).toMatchObject({ description: 'the refresh token is unknown' })
    expect(await fixture.refresh(accounts[7]!)).toMatchObject({
      description: 'the refresh token was used before; everything issued from it is revoked',
    })
  })
})

/** Any number of grants of an account are kept while they are valid or must be recognized. */
describe('more grants of an account than the limit', () => {
  const MANY = 8

  it('stay when their tokens never expire', async () => {
    await using fixture = await Fixture.start(connectorOf('TRACKER_OAUTH1'))
    const first = await fixture.consented()
    for (let round = 0; round < MANY; round += 1) await fixture.consented()
    expect(await fixture.call(first)).toMatchObject({ kind: 'result' })
  })

  it('stay until their tokens expire', async () => {
    await using fixture = await Fixture.start(refreshing('none'))
    const first = await fixture.consented()
    for (let round = 0; round < MANY; round += 1) await fixture.consented()
    fixture.environment.clock.advance(3_599_999)
    await fixture.consented()
    expect(await fixture.call(first)).toMatchObject({ kind: 'result' })
    fixture.environment.clock.advance(1)
    await fixture.consented()
    // Five expired ones, and two valid ones: one issued a millisecond before, one now.
    expect(fixture.environment.model.tables.grants.size).toBe(7)
  })

  it('stay while they can be renewed', async () => {
    await using fixture = await Fixture.start(refreshing('rotate'))
    const first = await fixture.consented()
    for (let round = 0; round < MANY; round += 1) await fixture.consented()
    fixture.environment.clock.advance(3_600_000)
    await fixture.consented()
    expect(granted(await fixture.refresh(first)).lifetime_ms).toBe(3_600_000)
  })

  it('stay once they are refused permanently', async () => {
    await using fixture = await Fixture.start(refreshing('none'))
    const { model, clock } = fixture.environment
    await fixture.consented()
    model.transact(() => {
      const [grant] = model.grantIndex.ofAccount('ca_1')
      if (grant) model.tables.grants.put({ ...grant, revoked: true, refresh_revoked: true, final: true })
    })
    for (let round = 0; round < MANY; round += 1) await fixture.consented()
    clock.advance(3_600_000)
    await fixture.consented()
    expect(model.grantIndex.ofAccount('ca_1').filter(({ final }) => final)).toHaveLength(1)
  })
})

describe('the grants that the service requests itself', () => {
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
    const { credentials, lifetime_ms } = granted(await fixture.obtain(asked))
    expect(lifetime_ms).toBe(3_600_000)
    expect(credentials.workspace_dwd).toMatchObject({ subject: 'grace@example.com' })
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
  const HEADER = { alg: 'HS256', typ: 'JWT' }

  /** The answer of the token endpoint to claims, signed by the application unless the test changes the token. */
  const ask = async (changes: JsonObject, change = (token: string) => token) => {
    await using fixture = await Fixture.start(connectorOf('WORKSPACE_DWD', { reject: ['*@outside.example'] }))
    const { client_id, client_secret } = applicationOf(fixture.environment, 'app')
    const claims = { iss: client_id, sub: 'ada@example.com', aud: 'app', iat: NOW, exp: NOW + 300, ...changes }
    const assertion = change(signJwt(claims, client_secret))
    const { status, body } = await fixture.token({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion,
    })
    return status === 200 ? 'granted' : [body['error'], body['error_description']]
  }
  const unsigned = ['invalid_grant', 'the assertion is not signed by this application']
  const nobody = ['invalid_grant', 'the assertion names no subject']
  const expired = ['invalid_grant', 'the assertion has expired']
  const rejected = ['invalid_grant', 'access for this subject is not allowed']

  it.each<[string, JsonObject, string | string[]]>([
    ['a second before it expires', { exp: NOW + 1 }, 'granted'],
    ['at the moment at which it expires', { exp: NOW }, expired],
    ['without an expiry', { exp: null }, expired],
    ['with an expiry that is a text', { exp: String(NOW + 300) }, expired],
    ['of another issuer', { iss: 'somebody' }, unsigned],
    ['without an issuer', { iss: null }, unsigned],
    ['of an empty subject', { sub: '' }, nobody],
    ['of a subject that is no text', { sub: 7 }, nobody],
    ['of a subject that the connector rejects', { sub: 'eve@outside.example' }, rejected],
  ])('%s', async (_title, claims, answer) => {
    expect(await ask(claims)).toEqual(answer)
  })

  it.each<[string, (token: string) => string]>([
    ['by another secret', (token) => signJwt(claimsOf(token), 'another secret')],
    ['over other claims', (token) => token.replace(/\..*\./, `.${part({ ...claimsOf(token), sub: 'eve' })}.`)],
    ['with a part too many', (token) => `${token}.x`],
    ['and without its signature', (token) => token.replace(/[^.]*$/, '')],
    ['and with another header', (token) => token.replace(/^[^.]*/, part({ alg: 'none' }))],
    ['with its header alone', (token) => token.replace(/\..*$/, '')],
  ])('that is signed %s is refused', async (_title, change) => {
    expect(await ask({}, change)).toEqual(unsigned)
  })

  it.each<[string, JsonObject, (client_id: string) => string]>([
    ['claims that are null', HEADER, () => 'null'],
    ['claims that are a list', HEADER, () => '[]'],
    ['claims that are a text', HEADER, () => '"claims"'],
    ['claims that are no JSON', HEADER, () => '{'],
    ['no algorithm', { alg: 'none' }, (iss) => JSON.stringify({ iss, sub: 'ada@example.com', exp: NOW + 300 })],
  ])('that is signed and has %s is refused', async (_title, header, claims) => {
    await using fixture = await Fixture.start(connectorOf('WORKSPACE_DWD'))
    const { client_id, client_secret } = applicationOf(fixture.environment, 'app')
    const content = `${part(header)}.${Buffer.from(claims(client_id)).toString('base64url')}`
    const signature = createHmac('sha256', client_secret).update(content).digest('base64url')
    const { status, body } = await fixture.token({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: `${content}.${signature}`,
    })
    expect([status, body['error'], body['error_description']]).toEqual([400, ...unsigned])
  })

  it('that is missing is an invalid_request', async () => {
    await using fixture = await Fixture.start(connectorOf('WORKSPACE_DWD'))
    const answer = await fixture.token({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' })
    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', error_description: 'assertion is missing' },
    })
  })
})

describe('the scopes of a token without a user', () => {
  it.each([
    ['those that are asked for', { scope: 'mail.read  mail.send' }, 'mail.read mail.send'],
    ['all of the connector when none is asked for', {}, 'mail.all mail.admin'],
    ['all of the connector when an empty text is asked for', { scope: ' ' }, 'mail.all mail.admin'],
  ])('are %s', async (_title, form, scope) => {
    const connector = connectorOf('OAUTH_M2M')
    const oauth = { ...connector.oauth, scopes: ['mail.all', 'mail.admin'] }
    await using fixture = await Fixture.start({ ...connector, oauth })
    const { body } = await fixture.token({ grant_type: 'client_credentials', ...form })
    expect(body).toEqual({
      access_token: expect.stringMatching(/^at_./),
      token_type: 'Bearer',
      expires_in: 3600,
      scope,
    })
  })
})

describe('token-exchange', () => {
  const grant_type = 'urn:ietf:params:oauth:grant-type:token-exchange'

  const ask = async (changes: Partial<Connector>, form: Record<string, string>) => {
    await using fixture = await Fixture.start(connectorOf('TRUSTED_IDP', changes))
    const { client_id, client_secret } = applicationOf(fixture.environment, 'app')
    const exp = Date.parse('2026-01-01T00:05:00.000Z') / 1000
    const subject_token = signJwt({ iss: client_id, sub: 'ada@example.com', exp }, client_secret)
    const { status, body } = await fixture.token({ grant_type, subject_token, ...form })
    const grants = [...fixture.environment.model.tables.grants.values()]
    return { status, body, grants }
  }

  it('gives temporary keys, which it names, and a session token that belongs to them', async () => {
    const { body, grants } = await ask({}, {})
    expect(body).toEqual({
      access_token: expect.stringMatching(/^st_./),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'N_A',
      expires_in: 3600,
      scope: '',
      access_key_id: expect.stringMatching(/^key_./),
      secret_access_key: expect.stringMatching(/^sk_./),
    })
    const { access_key_id: access, secret_access_key: secret } = body
    expect(grants).toMatchObject([{ person: 'ada@example.com', access, secret, refresh_token: '' }])
  })

  it.each<[string, Partial<Connector>, Record<string, string>, string[] | undefined]>([
    [
      'a provisioned cluster without db_user',
      { cluster: 'provisioned' },
      {},
      ['invalid_request', 'a provisioned cluster needs db_user'],
    ],
    [
      'a provisioned cluster with an empty db_user',
      { cluster: 'provisioned' },
      { db_user: '' },
      ['invalid_request', 'a provisioned cluster needs db_user'],
    ],
    ['a provisioned cluster with db_user', { cluster: 'provisioned' }, { db_user: 'reporting' }, undefined],
    ['a serverless cluster with db_user', {}, { db_user: 'reporting' }, undefined],
    [
      'a db_user that the connector rejects',
      { reject: ['nobody', 'admin*'] },
      { db_user: 'administrator' },
      ['invalid_grant', 'access for this db_user is not allowed'],
    ],
    [
      'a subject that the connector rejects',
      { reject: ['nobody', 'ada@*'] },
      {},
      ['invalid_grant', 'access for this subject is not allowed'],
    ],
    [
      'an unsigned subject_token',
      {},
      { subject_token: 'x' },
      ['invalid_grant', 'the assertion is not signed by this application'],
    ],
  ])('%s', async (_title, changes, form, error) => {
    const { status, body, grants } = await ask(changes, form)
    expect([status, grants.length]).toEqual(error ? [400, 0] : [200, 1])
    if (error) expect([body['error'], body['error_description']]).toEqual(error)
  })

  it('without a subject_token is an invalid_request', async () => {
    await using fixture = await Fixture.start(connectorOf('TRUSTED_IDP'))
    expect(await fixture.token({ grant_type })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', error_description: 'subject_token is missing' },
    })
  })
})

function claimsOf(token: string): JsonObject {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as JsonObject
}

function part(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

describe('the token endpoint', () => {
  const unregistered = 'the application is not registered here, or its secret is wrong'
  const known =
    'known are authorization_code, refresh_token, client_credentials, ' +
    'urn:ietf:params:oauth:grant-type:jwt-bearer, urn:ietf:params:oauth:grant-type:token-exchange'

  it.each([
    ['no grant type', {}, 400, 'invalid_request', 'grant_type is missing'],
    ['an unknown grant type', { grant_type: 'constructor' }, 400, 'unsupported_grant_type', known],
    ['no code', { grant_type: 'authorization_code' }, 400, 'invalid_request', 'code is missing'],
    ['no refresh token', { grant_type: 'refresh_token' }, 400, 'invalid_request', 'refresh_token is missing'],
    [
      'an empty refresh token',
      { grant_type: 'refresh_token', refresh_token: '' },
      400,
      'invalid_request',
      'refresh_token is missing',
    ],
    ['a wrong secret', { grant_type: 'refresh_token', client_secret: 'x' }, 401, 'invalid_client', unregistered],
    ['a wrong client', { grant_type: 'refresh_token', client_id: 'x' }, 401, 'invalid_client', unregistered],
  ])('refuses %s', async (_title, form, status, error, error_description) => {
    await using fixture = await Fixture.start(connectorOf('OAUTH'))
    expect(await fixture.token(form)).toMatchObject({ status, body: { error, error_description } })
  })

  it.each<[AuthorizationType, string[]]>([
    ['OAUTH', ['authorization_code', 'refresh_token']],
    ['SMART_FHIR', ['authorization_code', 'refresh_token']],
    ['TRACKER_OAUTH1', ['authorization_code', 'refresh_token']],
    ['OAUTH_M2M', ['client_credentials']],
    ['WORKSPACE_DWD', ['urn:ietf:params:oauth:grant-type:jwt-bearer']],
    ['TRUSTED_IDP', ['urn:ietf:params:oauth:grant-type:token-exchange']],
    ['API_KEY', []],
    ['NO_AUTH', []],
  ])('gives applications of type %s no grants but %j', async (type, allowed) => {
    await using fixture = await Fixture.start(connectorOf(type))
    const refused = new Map<string, JsonObject>()
    for (const grant_type of known.replace('known are ', '').split(', ')) {
      const { body } = await fixture.token({ grant_type })
      if (body['error'] === 'unauthorized_client') refused.set(grant_type, body)
    }
    const others = known.replace('known are ', '').split(', ')
    expect([...refused.keys()]).toEqual(others.filter((name) => !allowed.includes(name)))
    for (const body of refused.values()) expect(body['error_description']).toBe('not for applications of this kind')
  })

  it.each([
    ['a field sent twice', 'grant_type=a&grant_type=b', {}],
    ['JSON', '{}', { 'Content-Type': 'application/json' }],
    ['a media type that only ends like a form', '', { 'Content-Type': 'x/application/x-www-form-urlencoded' }],
    ['a media type that only begins like a form', '', { 'Content-Type': 'application/x-www-form-urlencoded2' }],
  ])('refuses %s', async (_title, body, headers) => {
    await using fixture = await Fixture.start(connectorOf('OAUTH'))
    expect(await fixture.token(body, headers)).toMatchObject({
      status: 400,
      body: {
        error: 'invalid_request',
        error_description: 'send each field once, as application/x-www-form-urlencoded',
      },
    })
  })

  it.each(['; charset=utf-8', ' ;charset=utf-8', ''])('accepts a form whose media type ends with "%s"', async (end) => {
    await using fixture = await Fixture.start(connectorOf('OAUTH_M2M'))
    const headers = { 'Content-Type': `APPLICATION/x-www-form-urlencoded${end}` }
    expect((await fixture.token({ grant_type: 'client_credentials' }, headers)).status).toBe(200)
  })

  it('refuses other methods than POST, and names that one', async () => {
    await using fixture = await Fixture.start(connectorOf('OAUTH_M2M'))
    const answer = await fixture.token({ grant_type: 'client_credentials' }, {}, 'PUT')
    expect(answer).toMatchObject({ status: 405, body: { error: 'invalid_request' } })
    expect(answer.headers.get('allow')).toBe('POST')
  })

  /** The status of a request with client authentication in the `Authorization` header. */
  const signedIn = async (header: (id: string, secret: string) => string, form: Record<string, string> = {}) => {
    await using fixture = await Fixture.start(connectorOf('OAUTH_M2M'))
    const { client_id, client_secret } = applicationOf(fixture.environment, 'app')
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString()
    const answer = await fixture.token(body, { authorization: header(client_id, client_secret) })
    if (answer.status === 401) expect(answer.headers.get('www-authenticate')).toBe('Basic realm="token"')
    return answer.status
  }
  const basic = (...parts: string[]) => `Basic ${Buffer.from(parts.join(':')).toString('base64')}`

  it.each<[string, (id: string, secret: string) => string]>([
    ['as it is', (id, secret) => basic(id, secret)],
    ['form-encoded (RFC 6749 2.3.1)', (id, secret) => basic(id.replace('-', '%2D'), secret)],
    ['form-encoded twice', (id, secret) => basic(id.replace('-', '%2D'), `%${hex(secret)}${secret.slice(1)}`)],
    ['with more than one space', (id, secret) => basic(id, secret).replace(' ', '   ')],
    ['with the scheme in other letters', (id, secret) => basic(id, secret).replace('Basic', 'bASIC')],
  ])('accepts client authentication in an Authorization header, %s', async (_title, header) => {
    expect(await signedIn(header)).toBe(200)
  })

  it.each<[string, (id: string, secret: string) => string]>([
    ['with a wrong secret', (id) => basic(id, 'wrong')],
    ['with a wrong client', (_id, secret) => basic('wrong', secret)],
    ['with the secret alone', (_id, secret) => basic(secret)],
    ['with a part too many', (id, secret) => basic(id, secret, 'more')],
    ['of a scheme that only ends with Basic', (id, secret) => `Not-${basic(id, secret)}`],
    ['followed by something else', (id, secret) => `${basic(id, secret)} more`],
    ['of another scheme', (id, secret) => basic(id, secret).replace('Basic', 'Bearer')],
  ])('refuses an Authorization header %s', async (_title, header) => {
    expect(await signedIn(header)).toBe(401)
  })

  it('uses the header and not the form', async () => {
    await using fixture = await Fixture.start(connectorOf('OAUTH_M2M'))
    const form = { grant_type: 'client_credentials' }
    const answer = await fixture.token(form, { authorization: basic('toolmock-default', 'wrong') })
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  })
})

function hex(text: string): string {
  return Buffer.from(text.slice(0, 1)).toString('hex')
}

describe('a token that the service requests', () => {
  /** Runs `between` after the token endpoint has decided and before the service has its answer. */
  const interrupted = (between: (fixture: Fixture, send: () => void) => void) => {
    const known: { fixture?: Fixture } = {}
    const start = async () => {
      known.fixture = await Fixture.start(refreshing('rotate'), {
        intercept: ({ request }) =>
          request.body.includes('refresh_token')
            ? async (response, answer) => {
                const { status, headers, body } = await answer()
                if (known.fixture) between(known.fixture, () => response.writeHead(status, headers).end(body))
                if (!response.writableEnded) response.destroy()
              }
            : undefined,
      })
      return known.fixture
    }
    return start()
  }

  it('is issued also when the answer is lost: reuse of the refresh token revokes both', async () => {
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
    await using fixture = await interrupted(({ environment }, send) => {
      const account = environment.model.tables.accounts.get('ca_1')
      environment.model.transact(() => account && revokeGrants(environment, account))
      send()
    })
    const account = await fixture.consented()
    expect(granted(await fixture.refresh(account)).credentials.oauth_token?.access_token).toMatch(/^at_/)
    const grants = fixture.environment.model.grantIndex.ofAccount(account.id)
    expect(grants.map(({ revoked }) => revoked)).toEqual([true, true])
  })

  it('is revoked when its account is deleted meanwhile, also without a renewal', async () => {
    const known: { fixture?: Fixture } = {}
    let asked = 0
    await using fixture = await Fixture.start(connectorOf('OAUTH_M2M'), {
      intercept: () => async (response, answer) => {
        const { status, headers, body } = await answer()
        const { environment } = known.fixture!
        const account = environment.model.tables.accounts.get('ca_1')
        if (++asked === 2) environment.model.transact(() => account && revokeGrants(environment, account))
        response.writeHead(status, headers).end(body)
      },
    })
    known.fixture = fixture
    const account = fixture.place({})
    granted(await fixture.obtain(account))
    granted(await fixture.obtain(account))
    const grants = fixture.environment.model.grantIndex.ofAccount(account.id)
    expect(grants.map(({ revoked }) => revoked)).not.toContain(false)
  })

  it('is not revoked because of an earlier revoked grant of its account', async () => {
    await using fixture = await Fixture.start(connectorOf('OAUTH_M2M'))
    const account = fixture.place({})
    granted(await fixture.obtain(account))
    fixture.environment.model.transact(() => revokeGrants(fixture.environment, account))
    const { credentials } = granted(await fixture.obtain(account))
    expect(await fixture.call({ ...account, credentials })).toMatchObject({ kind: 'result' })
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

  it('is revoked alone when the owner stores other credentials meanwhile, which stay valid', async () => {
    const own = { oauth_token: { access_token: 'own', refresh_token: 'own_too', scopes: [], domain: '' } }
    await using fixture = await interrupted(({ environment, client, connector }, send) => {
      const account = environment.model.tables.accounts.get('ca_1')!
      environment.model.transact(() => client.accept(connector, account, own))
      send()
    })
    const account = await fixture.consented()
    const late = granted(await fixture.refresh(account)).credentials
    expect(await fixture.call({ ...account, credentials: late })).toMatchObject({ kind: 'unauthorized' })
    expect(await fixture.call({ ...account, credentials: own })).toMatchObject({ kind: 'result' })
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
