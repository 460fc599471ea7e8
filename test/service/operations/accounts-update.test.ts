import fc from 'fast-check'
import { expect } from 'vitest'
import {
  ADA,
  authOf,
  createAccount,
  createActive,
  detailsOf,
  expectError,
  fieldsOf,
  TOKENS,
} from '../../support/accounts.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'

const PATH = '/connected_accounts'

async function update({ api }: TestToolmock, id: string, connected_account: object) {
  const answer = await api.put(PATH, { id, connected_account })
  expect(answer.status, answer.text).toBe(200)
  return answer.body.connected_account
}

it('answers 200 with the full account object, with updated credentials and expiry', async ({ mock }) => {
  const created = await createActive(mock, { organization_id: 'org_1' })
  mock.time.advance('10m')
  const answer = await mock.api.put(PATH, {
    ...ADA,
    organization_id: 'org_1',
    connected_account: {
      authorization_type: 'OAUTH',
      api_config: { retries: 2 },
      authorization_details: { oauth_token: { access_token: 'at_9' } },
    },
  })
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    connected_account: {
      ...created,
      api_config: { retries: 2 },
      token_expires_at: '2026-01-01T01:10:00.000Z',
      updated_at: '2026-01-01T00:10:00.000Z',
      authorization_details: {
        oauth_token: { access_token: 'at_9', refresh_token: 'rt_1', scopes: ['mail.read'], domain: '' },
      },
    },
  })
})

it.for([
  [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
  [{ a: 1, b: 2 }, { a: null }, { b: 2 }],
  [{ a: { x: 1, y: 1 } }, { a: { z: 1 } }, { a: { z: 1 } }],
  [{ a: [1, 2] }, { a: [] }, { a: [] }],
  [{ a: 1 }, { c: null }, { a: 1 }],
  [{ a: 1 }, {}, { a: 1 }],
  [{ a: { x: null } }, { b: { y: null } }, { a: { x: null }, b: { y: null } }],
  [{ constructor: 1 }, { constructor: null, toString: 'x' }, { toString: 'x' }],
])('merges api_config %j with %j into %j (G27)', async ([stored, sent, merged], { mock }) => {
  const { id } = await createAccount(mock, { connected_account: { api_config: stored } })
  expect((await update(mock, id, { api_config: sent })).api_config).toEqual(merged)
  expect((await detailsOf(mock, id)).api_config).toEqual(merged)
})

it('merges the same api_config idempotently, keeping every other key', async ({ mock }) => {
  const { id } = await createAccount(mock)
  const config = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), {
    noNullPrototype: true,
  })
  let stored: Record<string, unknown> = {}
  await fc.assert(
    fc.asyncProperty(config, async (api_config) => {
      const once = await update(mock, id, { api_config })
      const twice = await update(mock, id, { api_config })
      expect(JSON.stringify(twice.api_config)).toBe(JSON.stringify(once.api_config))
      const expected = new Map(Object.entries(stored))
      for (const [key, value] of Object.entries(JSON.parse(JSON.stringify(api_config)) as object)) {
        if (value === null) expected.delete(key)
        else expected.set(key, value)
      }
      expect(new Map(Object.entries(once.api_config))).toEqual(expected)
      stored = once.api_config
    }),
    { numRuns: 25 },
  )
})

it.for([
  [{ access_token: 'at_9' }, { access_token: 'at_9', refresh_token: 'rt_1', scopes: ['mail.read'], domain: '' }],
  [{ refresh_token: 'rt_9' }, { access_token: 'at_1', refresh_token: 'rt_9', scopes: ['mail.read'], domain: '' }],
  [{ scopes: [] }, { access_token: 'at_1', refresh_token: 'rt_1', scopes: [], domain: '' }],
  [{ domain: 'd' }, { access_token: 'at_1', refresh_token: 'rt_1', scopes: ['mail.read'], domain: 'd' }],
  [{}, { access_token: 'at_1', refresh_token: 'rt_1', scopes: ['mail.read'], domain: '' }],
])('changes only the included fields of oauth_token: %j', async ([sent, merged], { mock }) => {
  const { id } = await createActive(mock)
  const { authorization_details } = await update(mock, id, { authorization_details: { oauth_token: sent } })
  expect(authorization_details.oauth_token).toEqual(merged)
})

it('keeps the expiry when no access token is stored (G25)', async ({ mock }) => {
  const { id, token_expires_at } = await createActive(mock)
  mock.time.advance('5m')
  const updated = await update(mock, id, { authorization_details: { oauth_token: { scopes: ['mail.send'] } } })
  expect(updated).toMatchObject({ token_expires_at, updated_at: '2026-01-01T00:05:00.000Z' })
})

it('does not make the third party accept unchanged secrets again: a revoked refresh token stays revoked', async ({
  mock,
}) => {
  const { id } = await createActive(mock)
  await mock.http('post', `/_mock/accounts/${id}/revoke_refresh_token`)
  await update(mock, id, { api_config: { a: 1 } })
  await update(mock, id, { authorization_details: { oauth_token: { scopes: ['mail.send'], domain: 'd' } } })
  mock.time.advance('2h')
  expect(await authOf(mock, id)).toMatchObject({ status: 'EXPIRED' })

  await update(mock, id, { authorization_details: { oauth_token: { refresh_token: 'rt_1' } } })
  mock.time.advance('2h')
  expect(await authOf(mock, id)).toMatchObject({ status: 'ACTIVE' })
})

it('changes the subject of WORKSPACE_DWD, for which the service obtains a new token', async ({ mock }) => {
  const before = await createAccount(mock, { connector: 'workspace' })
  mock.time.advance('30m')
  const authorization_details = { workspace_dwd: { subject: 'grace@example.com' } }
  const after = await update(mock, before.id, { authorization_details })
  expect(after.authorization_details.workspace_dwd.subject).toBe('grace@example.com')
  expect(after.token_expires_at).toBe('2026-01-01T01:30:00.000Z')
  expect(after.authorization_details.workspace_dwd.access_token).not.toBe(
    before.authorization_details.workspace_dwd.access_token,
  )
})

it('does not use the token of the former subject of WORKSPACE_DWD where the service gets none for the new one', () => {
  const directory = { connector: 'directory', authorization_type: 'WORKSPACE_DWD', reject: ['boss'], tools: [] }
  return withToolmock({ seed: { connectors: [directory] } }, async (mock) => {
    const { id } = await createAccount(mock, { connector: 'directory' })
    const toSubject = (subject: string) =>
      update(mock, id, { authorization_details: { workspace_dwd: { subject } }, api_config: { of: subject } })
    expect(await toSubject('boss')).toMatchObject({
      status: 'ACTIVE',
      token_expires_at: '2026-01-01T00:00:00.000Z',
      authorization_details: { workspace_dwd: { subject: 'boss' } },
    })
    expect((await authOf(mock, id)).status).toBe('EXPIRED')
    expect(await toSubject('grace')).toMatchObject({
      status: 'ACTIVE',
      token_expires_at: '2026-01-01T01:00:00.000Z',
    })
  })
})

it('obtains a new token for the same subject of WORKSPACE_DWD where the account is not ACTIVE', async ({ mock }) => {
  const { id, authorization_details: former } = await createAccount(mock, { connector: 'workspace' })
  await mock.http('post', `/_mock/accounts/${id}/expire`)
  const { subject } = former.workspace_dwd
  const after = await update(mock, id, { authorization_details: { workspace_dwd: { subject } } })
  expect(after.status).toBe('ACTIVE')
  expect(after.authorization_details.workspace_dwd.access_token).not.toBe(former.workspace_dwd.access_token)
})

it.for(['PENDING_AUTH', 'PENDING_VERIFICATION', 'ACTIVE', 'EXPIRED', 'DISCONNECTED'])(
  'makes %s ACTIVE with live credentials, and does not change it without them (G27)',
  async (status, { startMock }) => {
    const mock = await startMock({ seed: { accounts: [{ ...ADA, id: 'ca_1', status }] } })
    const scopes = { oauth_token: { scopes: ['mail.read'] } }
    expect(await update(mock, 'ca_1', { api_config: { a: 1 } })).toMatchObject({ status })
    expect(await update(mock, 'ca_1', { authorization_details: scopes })).toMatchObject({ status })
    expect(await update(mock, 'ca_1', { authorization_details: TOKENS })).toMatchObject({
      status: 'ACTIVE',
      token_expires_at: '2026-01-01T01:00:00.000Z',
    })
  },
)

it.for([
  [['connected_account'], { id: 'ca_1' }],
  [['connected_account'], { id: 'ca_1', connected_account: null }],
  [['id'], { id: 7, connected_account: {} }],
  [['connected_account.api_config'], { id: 'ca_1', connected_account: { api_config: [] } }],
])('answers 400 naming %j for %j', async ([fields, body], { mock: { api } }) => {
  const answer = await api.put(PATH, body)
  expectError(answer, 400, 'VALIDATION_FAILED')
  expect(fieldsOf(answer)).toEqual(fields)
})

it('answers 400 for authorization_type of another type, and ignores unknown ones (G10)', async ({ mock }) => {
  const { id } = await createAccount(mock)
  const answer = await mock.api.put(PATH, { id, connected_account: { authorization_type: 'NO_AUTH' } })
  expectError(answer, 400, 'VALIDATION_FAILED')
  expect(await update(mock, id, { authorization_type: 'whatever' })).toMatchObject({ authorization_type: 'OAUTH' })
})

it('answers 404 when there is no such account', async ({ mock: { api } }) => {
  expectError(await api.put(PATH, { id: 'ca_none', connected_account: {} }), 404, 'ACCOUNT_NOT_FOUND')
  expectError(await api.put(PATH, { ...ADA, connected_account: {} }), 404, 'ACCOUNT_NOT_FOUND')
})

it('validates the request before it looks for the account (G17)', async ({ mock: { api } }) => {
  const authorization_details = { oauth_token: { scopes: [] }, static_auth: { details: {} } }
  const answer = await api.put(PATH, { id: 'ca_none', connected_account: { authorization_details } })
  expectError(answer, 400, 'INVALID_AUTHORIZATION_DETAILS')
})

it('changes no data when it answers 400', async ({ mock }) => {
  const before = await createActive(mock)
  mock.time.advance('1m')
  const connected_account = {
    api_config: { a: 1 },
    authorization_details: { static_auth: { details: { k: 'v' } } },
  }
  const answer = await mock.api.put(PATH, { id: before.id, connected_account })
  expectError(answer, 400, 'INVALID_AUTHORIZATION_DETAILS')
  expect(await detailsOf(mock, before.id)).toMatchObject({ api_config: {}, updated_at: before.updated_at })
})

it('cannot move an account to another scope, connector or identifier', async ({ mock }) => {
  const { id } = await createAccount(mock, { organization_id: 'org_1' })
  for (const other of [{ organization_id: 'org_2' }, { user_id: 'u' }, { connector: 'clinic' }, { identifier: 'x' }]) {
    const answer = await mock.api.put(PATH, { id, ...other, connected_account: {} })
    expectError(answer, 400, 'CONTRADICTING_LOCATOR')
    expect(fieldsOf(answer)).toEqual(Object.keys(other))
  }
})
