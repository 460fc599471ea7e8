import { describe, expect } from 'vitest'
import type { AuthorizationType } from '../../../src/model/domain/authorization-type.ts'
import {
  ADA,
  authOf,
  CONNECTORS,
  createAccount,
  createActive,
  detailsOf,
  expectError,
  fieldsOf,
} from '../../support/accounts.ts'
import { it, type TestToolmock } from '../../support/toolmock.ts'

/** The expiry of tokens of the bundled connectors that are issued at the start. */
const LATER = {
  hour: '2026-01-01T01:00:00.000Z',
  half: '2026-01-01T00:30:00.000Z',
  quarter: '2026-01-01T00:15:00.000Z',
  ten: '2026-01-01T00:10:00.000Z',
}
const TYPES = Object.keys(CONNECTORS) as AuthorizationType[]
const some = expect.stringMatching(/./)

/** What a created account shows with and without its credentials, by the type's own sub-object (2.2, G22, G23). */
const SHOWN: Readonly<Record<AuthorizationType, { full: object; open: object; expires?: string }>> = {
  OAUTH: {
    full: { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1', scopes: [], domain: '' } },
    open: { oauth_token: { scopes: [], domain: '' } },
    expires: LATER.hour,
  },
  API_KEY: { full: { static_auth: { details: { api_key: 'key_1' } } }, open: { static_auth: {} } },
  BASIC_AUTH: { full: { static_auth: { details: { username: 'ada', password: 'pw_1' } } }, open: { static_auth: {} } },
  BEARER_TOKEN: { full: { static_auth: { details: { token: 'bearer_1' } } }, open: { static_auth: {} } },
  CUSTOM: { full: { static_auth: { details: { key_id: 'k_1', key_secret: 's_1' } } }, open: { static_auth: {} } },
  BASIC: { full: { static_auth: { details: { username: 'ada', password: 'pw_2' } } }, open: { static_auth: {} } },
  OAUTH_M2M: {
    full: { oauth_token: { access_token: some, refresh_token: '', scopes: expect.any(Array), domain: '' } },
    open: { oauth_token: { scopes: expect.any(Array), domain: '' } },
    expires: LATER.half,
  },
  TRACKER_OAUTH1: {
    full: { oauth_token: { access_token: 'at_2', refresh_token: 'rt_2', scopes: [], domain: '' } },
    open: { oauth_token: { scopes: [], domain: '' } },
  },
  WORKSPACE_DWD: {
    full: {
      workspace_dwd: {
        subject: 'ada@example.com',
        access_token: some,
        scopes: expect.any(Array),
        token_expires_at: LATER.hour,
      },
    },
    open: {
      workspace_dwd: { subject: 'ada@example.com', scopes: expect.any(Array), token_expires_at: LATER.hour },
    },
    expires: LATER.hour,
  },
  TRUSTED_IDP: {
    full: { trusted_idp: { db_user: '', access_key_id: some, expiry: LATER.quarter } },
    open: { trusted_idp: { db_user: '', expiry: LATER.quarter } },
    expires: LATER.quarter,
  },
  SMART_FHIR: {
    full: { oauth_token: { access_token: 'at_3', refresh_token: 'rt_3', scopes: [], domain: '' } },
    open: { oauth_token: { scopes: [], domain: '' } },
    expires: LATER.ten,
  },
  NO_AUTH: { full: {}, open: {} },
}

/** The ignored fields of the last request. */
function ignoredFields({ app, environment }: TestToolmock): string[] {
  const { trace } = app.services.journals.of(environment).entries().at(-1)!
  return trace.warnings.map(({ field }) => field)
}

function createOf(mock: TestToolmock, type: AuthorizationType) {
  const { connector, details } = CONNECTORS[type]
  return createAccount(mock, { connector, ...(details && { connected_account: { authorization_details: details } }) })
}

describe('authorization_details by type', () => {
  it.for(TYPES)(
    'create, update and get-auth show the credentials of %s, get-details hides them',
    async (type, { mock }) => {
      const created = await createOf(mock, type)
      const { full, open, expires } = SHOWN[type]
      expect(created).toMatchObject({ authorization_type: type, status: 'ACTIVE' })
      expect(created.authorization_details).toEqual(full)
      expect(created.token_expires_at).toBe(expires)
      const updated = await mock.api.put('/connected_accounts', { id: created.id, connected_account: {} })
      expect(updated.body.connected_account.authorization_details).toEqual(full)
      expect((await authOf(mock, created.id)).authorization_details).toEqual(full)
      const details = await detailsOf(mock, created.id)
      expect(details.authorization_details).toEqual(open)
      expect(details).toEqual({ ...created, authorization_details: open })
    },
  )

  it.for(TYPES)(
    'list and search show %s accounts without api_config and authorization_details (2.1)',
    async (type, { mock }) => {
      const { api_config: _config, authorization_details: _details, ...summary } = await createOf(mock, type)
      const listed = await mock.api.get('/connected_accounts')
      const found = await mock.api.get('/connected_accounts:search', { query: 'ada@' })
      expect(listed.body.connected_accounts).toEqual([summary])
      expect(found.body.connected_accounts).toEqual([summary])
    },
  )

  it.for(TYPES)('refuses every sub-object that does not fit %s, and more than one (G23)', async (type, { mock }) => {
    const kinds = {
      oauth_token: { scopes: [] },
      static_auth: { details: {} },
      workspace_dwd: { subject: 's' },
      trusted_idp: { db_user: 'u' },
    }
    const fitting = Object.keys(SHOWN[type].full)[0]
    for (const [kind, fields] of Object.entries(kinds).filter(([each]) => each !== fitting)) {
      const connected_account = { authorization_details: { [kind]: fields } }
      const { connector } = CONNECTORS[type]
      const answer = await mock.api.post('/connected_accounts', { ...ADA, connector, connected_account })
      expectError(answer, 400, 'INVALID_AUTHORIZATION_DETAILS')
      expect(fieldsOf(answer)).toEqual([`connected_account.authorization_details.${kind}`])
    }
    const all = { authorization_details: kinds }
    const body = { ...ADA, connector: CONNECTORS[type].connector, connected_account: all }
    expectError(await mock.api.post('/connected_accounts', body), 400, 'INVALID_AUTHORIZATION_DETAILS')
    const { id } = await createOf(mock, type)
    const update = await mock.api.put('/connected_accounts', { id, connected_account: all })
    expectError(update, 400, 'INVALID_AUTHORIZATION_DETAILS')
  })

  it.for(TYPES)('any empty sub-object counts as absent at %s (G23)', async (type, { mock }) => {
    const { connector, details = {} } = CONNECTORS[type]
    const empty = { oauth_token: {}, static_auth: {}, workspace_dwd: {}, trusted_idp: {} }
    const connected_account = { authorization_details: { ...empty, ...details } }
    const created = await createAccount(mock, { connector, connected_account })
    expect(created.authorization_details).toEqual(SHOWN[type].full)
    const answer = await mock.api.put('/connected_accounts', {
      id: created.id,
      connected_account: { authorization_details: empty },
    })
    expect(answer.status).toBe(200)
    expect(answer.body.connected_account).toEqual(created)
    expect(ignoredFields(mock)).toEqual(
      Object.keys(empty).map((kind) => `connected_account.authorization_details.${kind}`),
    )
  })

  it('omits the secrets of TRUSTED_IDP from every answer, with their names (2.2)', async ({ mock }) => {
    const { api } = mock
    const { id } = await createOf(mock, 'TRUSTED_IDP')
    const secrets = mock.environment.model.tables.accounts.get(id)!.credentials.trusted_idp!
    expect(secrets.secret_access_key).not.toBe('')
    expect(secrets.session_token).not.toBe('')
    const forged = { trusted_idp: { db_user: 'u', secret_access_key: 'forged', session_token: 'forged' } }
    await api.put('/connected_accounts', { id, connected_account: { authorization_details: forged } })
    mock.time.advance('20m')
    await authOf(mock, id)
    await detailsOf(mock, id)
    await api.get('/connected_accounts')
    await api.get('/connected_accounts:search', { query: 'ada' })
    const answers = mock.exchanges.map(({ response }) => JSON.stringify(response.body)).join('\n')
    expect(answers).toContain('"access_key_id"')
    expect(answers).not.toMatch(/secret_access_key|session_token|forged/)
    expect(answers).not.toContain(secrets.secret_access_key)
    expect(answers).not.toContain(secrets.session_token)
  })

  it('keeps token and scopes that a caller gives to OAUTH_M2M', async ({ mock }) => {
    const given = { access_token: 'mine', refresh_token: '', scopes: ['read'], domain: 'acme.example' }
    const account = await createActive(mock, { connector: 'ledger' }, { oauth_token: given })
    expect(account.authorization_details).toEqual({ oauth_token: given })
  })
})

describe('provisioned clusters', () => {
  const seed = {
    connectors: [{ connector: 'cluster', authorization_type: 'TRUSTED_IDP', cluster: 'provisioned' }],
  }
  const at = { connector: 'cluster', identifier: 'analytics' }
  const withUser = (db_user: string) => ({ connected_account: { authorization_details: { trusted_idp: { db_user } } } })

  it('answer 400 to a create whose credentials lack db_user (G23)', async ({ startMock }) => {
    const { api } = await startMock({ seed })
    const answer = await api.post('/connected_accounts', { ...at, ...withUser('') })
    expectError(answer, 400, 'INVALID_AUTHORIZATION_DETAILS')
    expect(fieldsOf(answer)).toEqual(['connected_account.authorization_details.trusted_idp.db_user'])
  })

  it.for([at, { ...at, connected_account: { authorization_details: { trusted_idp: {} } } }])(
    'make an account without db_user PENDING_AUTH, and ACTIVE once it is given: %j (G23, G24)',
    async (body, { startMock }) => {
      const mock = await startMock({ seed })
      const { id, status } = await createAccount(mock, body)
      expect(status).toBe('PENDING_AUTH')
      const config = await mock.api.put('/connected_accounts', { id, connected_account: { api_config: { a: 1 } } })
      expect(config.status).toBe(200)
      expect(config.body.connected_account).toMatchObject({ status: 'PENDING_AUTH', api_config: { a: 1 } })
      const given = await mock.api.put('/connected_accounts', { id, ...withUser('analyst') })
      expect(given.body.connected_account).toMatchObject({
        status: 'ACTIVE',
        authorization_details: { trusted_idp: { db_user: 'analyst', access_key_id: some } },
      })
    },
  )

  it('show db_user everywhere, and obtain new credentials when it changes', async ({ startMock }) => {
    const mock = await startMock({ seed })
    const created = await createAccount(mock, { ...at, ...withUser('analyst') })
    expect(created.authorization_details.trusted_idp.db_user).toBe('analyst')
    expect((await detailsOf(mock, created.id)).authorization_details.trusted_idp.db_user).toBe('analyst')
    const { body } = await mock.api.put('/connected_accounts', { id: created.id, ...withUser('auditor') })
    const updated = body.connected_account.authorization_details.trusted_idp
    expect(updated.db_user).toBe('auditor')
    expect(updated.access_key_id).not.toBe(created.authorization_details.trusted_idp.access_key_id)
  })

  it('answer 400 to an update that removes db_user', async ({ startMock }) => {
    const mock = await startMock({ seed })
    const { id } = await createAccount(mock, { ...at, ...withUser('analyst') })
    expectError(
      await mock.api.put('/connected_accounts', { id, ...withUser('') }),
      400,
      'INVALID_AUTHORIZATION_DETAILS',
    )
    expect((await detailsOf(mock, id)).authorization_details.trusted_idp.db_user).toBe('analyst')
  })

  it('keep their credentials when the same db_user is sent again', async ({ startMock }) => {
    const mock = await startMock({ seed })
    const created = await createAccount(mock, { ...at, ...withUser('analyst') })
    mock.time.advance('1m')
    const { body } = await mock.api.put('/connected_accounts', { id: created.id, ...withUser('analyst') })
    expect(body.connected_account).toEqual(created)
  })

  it('that are serverless need no db_user, and ignore a sent one (2.2)', async ({ mock }) => {
    const created = await createAccount(mock, { connector: 'warehouse', ...withUser('analyst') })
    expect(created).toMatchObject({ status: 'ACTIVE', authorization_details: { trusted_idp: { db_user: '' } } })
    mock.time.advance('1m')
    const { body } = await mock.api.put('/connected_accounts', { id: created.id, ...withUser('auditor') })
    expect(body.connected_account).toEqual(created)
    const { db_user } = mock.environment.model.tables.accounts.get(created.id)!.credentials.trusted_idp!
    expect(db_user).toBe('')
    expect(ignoredFields(mock)).toEqual(['connected_account.authorization_details.trusted_idp.db_user'])
  })
})

describe('status after create (G24)', () => {
  it.for([
    ['nothing', undefined],
    ['an empty object', {}],
    ['an empty sub-object', { oauth_token: {} }],
    ['an empty token', { oauth_token: { access_token: '' } }],
    ['scopes only', { oauth_token: { scopes: ['mail.read'] } }],
  ])('is PENDING_AUTH where a user is needed and %s is given', async ([_, authorization_details], { mock }) => {
    const connected_account = authorization_details && { authorization_details }
    const account = await createAccount(mock, { connected_account })
    expect(account.status).toBe('PENDING_AUTH')
    expect(account).not.toHaveProperty('token_expires_at')
  })

  it.for([
    ['nothing', {}],
    ['an empty key', { api_key: '' }],
    ['an empty key beside a null', { api_key: '', region: null }],
  ])('is PENDING_AUTH where a key is needed and %s is given', async ([_, details], { mock }) => {
    const connected_account = { authorization_details: { static_auth: { details } } }
    const { id, status } = await createAccount(mock, { connector: 'weather', connected_account })
    expect(status).toBe('PENDING_AUTH')
    const again = await mock.api.put('/connected_accounts', { id, connected_account })
    expect(again.body.connected_account.status).toBe('PENDING_AUTH')
  })

  it('is ACTIVE with a refresh token alone, whose access token counts as expired', async ({ mock }) => {
    const tokens = { oauth_token: { refresh_token: 'rt_alone' } }
    const created = await createActive(mock, {}, tokens)
    expect(created).toMatchObject({ status: 'ACTIVE', token_expires_at: '2026-01-01T00:00:00.000Z' })
    const { status } = await mock.api.post('/execute_tool', {
      connected_account_id: created.id,
      tool_name: 'mail_list_messages',
    })
    expect(status).toBe(200)
    expect(await authOf(mock, created.id)).toMatchObject({
      status: 'ACTIVE',
      token_expires_at: LATER.hour,
      authorization_details: { oauth_token: { access_token: some } },
    })
  })

  it('is PENDING_AUTH with a refresh token alone where tokens never expire', async ({ mock }) => {
    const created = await createActive(mock, { connector: 'tracker' }, { oauth_token: { refresh_token: 'rt' } })
    expect(created.status).toBe('PENDING_AUTH')
  })

  it('of an EXPIRED account becomes ACTIVE by an update with a refresh token alone (G27)', async ({ startMock }) => {
    const mock = await startMock({ seed: { accounts: [{ ...ADA, id: 'ca_expired', status: 'EXPIRED' }] } })
    const { body } = await mock.api.put('/connected_accounts', {
      id: 'ca_expired',
      connected_account: { authorization_details: { oauth_token: { refresh_token: 'rt_new' } } },
    })
    expect(body.connected_account.status).toBe('ACTIVE')
    expect(await authOf(mock, 'ca_expired')).toMatchObject({ status: 'ACTIVE', token_expires_at: LATER.hour })
  })

  it.for(['weather', 'helpdesk', 'code_hosting', 'payments', 'inventory', 'tracker', 'clinic'])(
    'is PENDING_AUTH at %s without credentials',
    async (connector, { mock }) => {
      expect(await createAccount(mock, { connector })).toMatchObject({ status: 'PENDING_AUTH' })
    },
  )
})

describe('get-auth with an expired token (G56)', () => {
  it.for([
    ['mail', 'oauth_token', 'access_token', TYPES.indexOf('OAUTH')],
    ['clinic', 'oauth_token', 'access_token', TYPES.indexOf('SMART_FHIR')],
    ['ledger', 'oauth_token', 'access_token', TYPES.indexOf('OAUTH_M2M')],
    ['workspace', 'workspace_dwd', 'access_token', TYPES.indexOf('WORKSPACE_DWD')],
    ['warehouse', 'trusted_idp', 'access_key_id', TYPES.indexOf('TRUSTED_IDP')],
  ])('renews it at %s, which moves updated_at and token_expires_at only', async ([_, kind, token, type], { mock }) => {
    const before = await createOf(mock, TYPES[type]!)
    mock.time.advance('2h')
    expect((await detailsOf(mock, before.id)).token_expires_at).toBe(before.token_expires_at)
    const after = await authOf(mock, before.id)
    expect(after.status).toBe('ACTIVE')
    expect(after.authorization_details[kind][token]).not.toBe(before.authorization_details[kind][token])
    expect(after.updated_at).toBe('2026-01-01T02:00:00.000Z')
    expect(Date.parse(after.token_expires_at)).toBeGreaterThan(mock.time.now())
    expect(after).not.toHaveProperty('last_used_at')
    expect(await authOf(mock, before.id)).toEqual(after)
  })

  it('renews once for concurrent requests', async ({ mock }) => {
    const { id } = await createActive(mock)
    mock.time.advance('1h')
    const answers = await Promise.all(Array.from({ length: 5 }, () => authOf(mock, id)))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0].authorization_details.oauth_token.access_token).not.toBe('at_1')
  })

  it('does not renew one that has not expired', async ({ mock }) => {
    const { id } = await createActive(mock)
    mock.time.advance('59m')
    const { authorization_details, updated_at } = await authOf(mock, id)
    expect(authorization_details.oauth_token.access_token).toBe('at_1')
    expect(updated_at).toBe('2026-01-01T00:00:00.000Z')
  })

  it('answers 200 with status EXPIRED when the third party refuses', async ({ startMock }) => {
    const mock = await startMock({ seed: REJECTING })
    const tokens = { oauth_token: { access_token: 'at_1', refresh_token: 'stolen_1' } }
    const { id } = await createActive(mock, { connector: 'vault' }, tokens)
    mock.time.advance('2h')
    expect(await detailsOf(mock, id)).toMatchObject({ status: 'ACTIVE' })
    const answer = await authOf(mock, id)
    expect(answer).toMatchObject({ status: 'EXPIRED', updated_at: '2026-01-01T00:00:00.000Z' })
    expect(await detailsOf(mock, id)).toMatchObject({ status: 'EXPIRED' })
  })

  it.for(['expire', 'disconnect'])(
    'never renews after %s, though there is a refresh token',
    async (event, { mock }) => {
      const { id } = await createActive(mock)
      await mock.http('post', `/_mock/accounts/${id}/${event}`)
      const before = await authOf(mock, id)
      mock.time.advance('2h')
      expect(await authOf(mock, id)).toEqual(before)
    },
  )
})

/** A connector whose third party does not know the refresh tokens that callers bring. */
const REJECTING = {
  connectors: [{ connector: 'vault', authorization_type: 'OAUTH', people: ['ada@example.com'], reject: ['stolen*'] }],
}
