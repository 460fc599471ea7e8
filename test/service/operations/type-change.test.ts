import { describe, expect } from 'vitest'
import { AUTHORIZATION_TYPES } from '../../../src/model/domain/authorization-type.ts'
import type { Account } from '../../../src/model/domain/account.ts'
import type { Connector } from '../../../src/model/domain/connector.ts'
import type { ThirdParty, TokenResponse } from '../../../src/model/domain/ports.ts'
import { RequestTrace } from '../../../src/model/domain/request-trace.ts'
import { createConnectedAccount, updateConnectedAccount } from '../../../src/service/operations/accounts.ts'
import type { Call } from '../../../src/service/operations/operation.ts'
import {
  ADA,
  authOf,
  createAccount,
  createActive,
  detailsOf,
  expectError,
  linkFor,
  pendingRequest,
  verify,
} from '../../support/accounts.ts'
import { it, type TestToolmock } from '../../support/toolmock.ts'

const KEY = { authorization_details: { static_auth: { details: { api_key: 'k' } } } }
const READY = ['OAUTH_M2M', 'WORKSPACE_DWD', 'TRUSTED_IDP', 'NO_AUTH']

async function provide({ api }: TestToolmock, type: string): Promise<string> {
  const { body } = await api.post('/custom-providers', { display_name: 'Acme', auth_patterns: [{ type }] })
  return String(body.provider.identifier)
}

function changeType({ api }: TestToolmock, identifier: string, type: string) {
  return api.put(`/custom-providers/${identifier}`, { auth_patterns: [{ type }] })
}

describe('a custom provider that changes its type (G39)', () => {
  it.for(AUTHORIZATION_TYPES.filter((type) => type !== 'API_KEY'))(
    'to %s: its account changes to the type, without credentials',
    async (type, { mock }) => {
      const connector = await provide(mock, 'API_KEY')
      const { id } = await createAccount(mock, { connector, connected_account: KEY })
      mock.time.advance('1m')
      expect((await changeType(mock, connector, type)).status).toBe(200)
      const status = READY.includes(type) ? 'ACTIVE' : 'PENDING_AUTH'
      const account = await detailsOf(mock, id)
      expect(account).toMatchObject({ authorization_type: type, status, updated_at: '2026-01-01T00:01:00.000Z' })
      const full = await authOf(mock, id)
      expect(full.status).toBe(status)
      expect(JSON.stringify(full.authorization_details)).not.toContain('"k"')
      const own = await mock.api.put('/connected_accounts', { id, connected_account: { authorization_type: type } })
      expect(own.status).toBe(200)
      for (const grant of mock.environment.model.tables.grants.values())
        if (grant.account_id === id && grant.access.includes('k"')) expect(grant.revoked).toBe(true)
    },
  )

  it.for([
    ['OAUTH_M2M', '2026-01-01T01:01:00.000Z'],
    ['WORKSPACE_DWD', '2026-01-01T01:01:00.000Z'],
    ['TRUSTED_IDP', '2026-01-01T01:01:00.000Z'],
  ])('to %s: its account has a token at once', async ([type, token_expires_at], { mock }) => {
    const connector = await provide(mock, 'API_KEY')
    const { id } = await createAccount(mock, { connector, connected_account: KEY })
    mock.time.advance('1m')
    await changeType(mock, connector, type)
    expect(await detailsOf(mock, id)).toMatchObject({ status: 'ACTIVE', token_expires_at })
    const { updated_at, authorization_details } = await authOf(mock, id)
    expect(updated_at).toBe('2026-01-01T00:01:00.000Z')
    const { oauth_token, workspace_dwd, trusted_idp } = authorization_details
    expect(oauth_token?.access_token ?? workspace_dwd?.access_token ?? trusted_idp?.access_key_id).toMatch(/./)
    const valid = [...mock.environment.model.tables.grants.values()].filter(({ revoked }) => !revoked)
    expect(valid.map(({ account_id }) => account_id)).toEqual([id])
  })

  it('accepts the credentials of the new type, and refuses those of the old', async ({ mock }) => {
    const connector = await provide(mock, 'API_KEY')
    const { id } = await createAccount(mock, { connector, connected_account: KEY })
    await changeType(mock, connector, 'OAUTH')
    const put = (connected_account: object) => mock.api.put('/connected_accounts', { id, connected_account })
    expectError(await put(KEY), 400, 'INVALID_AUTHORIZATION_DETAILS')
    const answer = await put({ authorization_details: { oauth_token: { access_token: 'at_1' } } })
    expect(answer.body.connected_account).toMatchObject({
      status: 'ACTIVE',
      authorization_details: { oauth_token: { access_token: 'at_1' } },
    })
  })

  it('ends pending auth requests and open links: 404 and 410', async ({ mock }) => {
    const connector = await provide(mock, 'OAUTH')
    const at = { connector, identifier: ADA.identifier }
    const request = await pendingRequest(mock, at)
    const link = await linkFor(mock, at)
    await changeType(mock, connector, 'API_KEY')
    expectError(await verify(mock, request), 404, 'AUTH_REQUEST_NOT_FOUND')
    mock.environment.clock.advance(-60_000)
    for (const query of [{}, { decision: 'approve' }]) expect((await mock.follow(link, query)).status).toBe(410)
    expect((await mock.http('get', '/_mock/links')).body.links).toEqual([])
    expect((await mock.follow(await linkFor(mock, at), { decision: 'approve' })).status).toBe(302)
    const { body } = await mock.api.get('/connected_accounts/auth', at)
    expect(body.connected_account).toMatchObject({
      status: 'ACTIVE',
      authorization_details: { static_auth: { details: { api_key: expect.any(String) } } },
    })
  })

  it('does not change accounts when the type stays the same', async ({ mock }) => {
    const connector = await provide(mock, 'API_KEY')
    const before = await createAccount(mock, { connector, connected_account: KEY })
    mock.time.advance('1m')
    const auth_patterns = [{ type: 'API_KEY', fields: [{ name: 'other' }] }]
    await mock.api.put(`/custom-providers/${connector}`, { auth_patterns, description: 'other' })
    expect(await authOf(mock, before.id)).toEqual(before)
  })

  it('is a transition of the table, in the journal', async ({ mock }) => {
    const connector = await provide(mock, 'API_KEY')
    const { id } = await createAccount(mock, { connector, connected_account: KEY })
    await changeType(mock, connector, 'OAUTH')
    await changeType(mock, connector, 'NO_AUTH')
    const recorded = mock.app.services.journals.of(mock.environment).entries()
    const moves = recorded.flatMap(({ trace }) => trace.transitions.map(({ event, from, to }) => [event, from, to]))
    expect(moves.slice(-2)).toEqual([
      ['type_changed', 'ACTIVE', 'PENDING_AUTH'],
      ['type_changed_ready', 'PENDING_AUTH', 'ACTIVE'],
    ])
    expect((await detailsOf(mock, id)).status).toBe('ACTIVE')
  })
})

describe('a connector file that changes its type (G39)', () => {
  const file = (authorization_type: string, more: object = {}) => ({
    connector: 'app',
    authorization_type,
    ...(authorization_type === 'OAUTH' && { people: ['ada@example.com'] }),
    tools: [{ name: 'app_call', call: { method: 'GET', path: '/call' } }],
    responders: [{ on: { path: '/call' }, respond: { body: {} } }],
    ...more,
  })
  const put = (mock: TestToolmock, document: object) =>
    mock.http('put', '/_mock/connectors/app').type('json').send(JSON.stringify(document))
  const runs = async (mock: TestToolmock, id: string) =>
    (await mock.api.post('/execute_tool', { connected_account_id: id, tool_name: 'app_call' })).status

  it('by PUT /_mock/connectors/{name}: its account needs new credentials before a tool runs', async ({ startMock }) => {
    const mock = await startMock({ seed: { connectors: [file('OAUTH')] } })
    const { id } = await createActive(mock, { connector: 'app' }, { oauth_token: { access_token: 'at_1' } })
    expect(await runs(mock, id)).toBe(200)
    expect((await put(mock, file('API_KEY'))).status).toBe(200)
    expect(await detailsOf(mock, id)).toMatchObject({ authorization_type: 'API_KEY', status: 'PENDING_AUTH' })
    expect(await runs(mock, id)).toBe(400)
    await mock.api.put('/connected_accounts', { id, connected_account: KEY })
    expect(await runs(mock, id)).toBe(200)
  })

  it('to a type whose tokens the service obtains: a tool runs at once', async ({ startMock }) => {
    const mock = await startMock({ seed: { connectors: [file('API_KEY')] } })
    const { id } = await createAccount(mock, { connector: 'app', connected_account: KEY })
    await put(mock, file('WORKSPACE_DWD'))
    expect(await detailsOf(mock, id)).toMatchObject({ status: 'ACTIVE' })
    expect(await runs(mock, id)).toBe(200)
  })

  it('to a type whose tokens the service obtains, and whose third party refuses one: PENDING_AUTH', async ({
    startMock,
  }) => {
    const mock = await startMock({ seed: { connectors: [file('API_KEY')] } })
    const { id } = await createAccount(mock, { connector: 'app', connected_account: KEY })
    await put(mock, file('WORKSPACE_DWD', { reject: ['ada@*'] }))
    const account = await detailsOf(mock, id)
    expect(account).toMatchObject({ authorization_type: 'WORKSPACE_DWD', status: 'PENDING_AUTH' })
    expect(account).not.toHaveProperty('token_expires_at')
  })

  it('to a provisioned cluster: its account has no database user yet, and is PENDING_AUTH', async ({ startMock }) => {
    const mock = await startMock({ seed: { connectors: [file('API_KEY')] } })
    const { id } = await createAccount(mock, { connector: 'app', connected_account: KEY })
    await put(mock, file('TRUSTED_IDP', { cluster: 'provisioned' }))
    expect(await detailsOf(mock, id)).toMatchObject({ authorization_type: 'TRUSTED_IDP', status: 'PENDING_AUTH' })
  })

  it('while a token is obtained for a create: the create is refused, and no account is stored', async ({
    startMock,
  }) => {
    const mock = await startMock({ seed: { connectors: [file('WORKSPACE_DWD')] } })
    const { environment } = mock
    const thirdParty = changing(mock, () => put(mock, file('API_KEY')))
    const body = { connector: 'app', identifier: 'ada' }
    const call = { environment, thirdParty, body, trace: new RequestTrace() } as Call<'create_connected_account'>
    const description = 'must be sent again: its authorization type changed to API_KEY'
    await expect(createConnectedAccount(call)).rejects.toMatchObject({
      message: expect.stringContaining(description),
      context: { violations: [{ field: 'connector', description, constraint: 'known_connector' }] },
    })
    expect((await mock.api.get('/connected_accounts')).body).toMatchObject({ total_size: 0 })
  })

  it('while a token is obtained for an update: the update is refused, and the account keeps the new type', async ({
    startMock,
  }) => {
    const mock = await startMock({ seed: { connectors: [file('WORKSPACE_DWD')] } })
    const { id } = await createAccount(mock, { connector: 'app' })
    const { environment } = mock
    const thirdParty = changing(mock, () => put(mock, file('API_KEY')))
    const body = { id, connected_account: { authorization_details: { workspace_dwd: { subject: 's' } } } }
    const call = { environment, thirdParty, body, trace: new RequestTrace() } as Call<'update_connected_account'>
    await expect(updateConnectedAccount(call)).rejects.toThrow('an account of type API_KEY takes static_auth only')
    expect(await authOf(mock, id)).toMatchObject({ authorization_type: 'API_KEY', status: 'PENDING_AUTH' })
  })
})

/** A third party whose connector changes its type while a token is obtained from it. */
function changing({ environment }: TestToolmock, change: () => PromiseLike<unknown>): ThirdParty {
  const obtain = async <R>(_connector: Connector, _of: Account, conclude: (answer: TokenResponse) => R): Promise<R> => {
    await change()
    const credentials = { workspace_dwd: { subject: 's', access_token: 'at_1', scopes: [] } }
    return environment.model.transact(() => conclude({ granted: true, credentials, lifetime_ms: 1000 }))
  }
  return { obtain } as unknown as ThirdParty
}
