import { describe, expect } from 'vitest'
import {
  ADA,
  authOf,
  createAccount,
  createActive,
  detailsOf,
  decide,
  linkFor,
  pendingRequest,
  TOKENS,
  verify,
} from '../../support/accounts.ts'
import { maskText } from '../../../src/model/domain/masking.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { ada, appSeed, type AppTool, run } from './app-seed.ts'

const LINK = '/connected_accounts/magic_link'

interface Entry {
  account: string | null
  agent_run_id: string | null
  execution: string | null
  due: object[]
  account_state: { status: string } | null
  transitions: { event: string; from: string; to: string }[]
  findings: { kind: string; code: string; field: string; allowed: string; did_you_mean: string | null }[]
}

/** The last request in the request journal. */
async function lastEntry({ http }: TestToolmock): Promise<Entry> {
  return ((await http('get', '/_mock/requests')).body as { requests: Entry[] }).requests.at(-1)!
}

/** The transitions of the last request: `event: from > to`. */
async function lastMove(mock: TestToolmock): Promise<string[]> {
  return (await lastEntry(mock)).transitions.map(({ event, from, to }) => `${event}: ${from} > ${to}`)
}

describe('the request journal records', () => {
  it('the account that a magic link creates, and the existing one of a link', async ({ mock }) => {
    await linkFor(mock, ADA)
    const created = await lastEntry(mock)
    expect(created.account_state).toMatchObject({ identifier: ADA.identifier, status: 'PENDING_AUTH' })
    expect(await lastMove(mock)).toEqual(['link_requested: none > PENDING_AUTH'])
    await linkFor(mock, { id: created.account })
    expect((await lastEntry(mock)).account).toBe(created.account)
    expect(await lastMove(mock)).toEqual(['link_requested: PENDING_AUTH > PENDING_AUTH'])
  })

  it('the account of a link that is refused, if it exists', async ({ startMock }) => {
    const mock = await startMock({ seed: { connections: [{ key_id: 'mail', enabled: false }] } })
    await mock.api.post(LINK, ADA)
    expect((await lastEntry(mock)).account).toBeNull()
    const { id } = await createActive(mock)
    await mock.api.post(LINK, { id })
    expect((await lastEntry(mock)).account).toBe(id)
  })

  it('consents and verifications', async ({ mock }) => {
    const request = await pendingRequest(mock)
    await verify(mock, request, 'eve@example.com')
    expect(await lastMove(mock)).toEqual(['verify_refused: PENDING_VERIFICATION > PENDING_VERIFICATION'])
    await verify(mock, request)
    expect(await lastMove(mock)).toEqual(['verified: PENDING_VERIFICATION > ACTIVE'])
  })

  it('how an account is created, updated and deleted', async ({ mock }) => {
    const { id } = await createAccount(mock)
    expect((await lastEntry(mock)).account).toBe(id)
    expect(await lastMove(mock)).toEqual(['created_without_credentials: none > PENDING_AUTH'])
    await mock.api.put('/connected_accounts', { id, connected_account: { authorization_details: TOKENS } })
    expect(await lastMove(mock)).toEqual(['credentials_updated: PENDING_AUTH > ACTIVE'])
    await mock.api.put('/connected_accounts', { id, connected_account: { api_config: { timeout: 1 } } })
    expect(await lastMove(mock)).toEqual([])
    await mock.api.post('/connected_accounts:delete', { id })
    expect(await lastMove(mock)).toEqual(['deleted: ACTIVE > none'])
    expect((await lastEntry(mock)).account).toBe(id)
    await createAccount(mock, { connector: 'encyclopedia' })
    expect(await lastMove(mock)).toEqual(['created_with_credentials: none > ACTIVE'])
  })

  it('the accounts that a deleted provider leaves without access', async ({ mock }) => {
    const { body } = await mock.api.post('/custom-providers', {
      display_name: 'Acme',
      auth_patterns: [{ type: 'API_KEY' }],
    })
    await createAccount(mock, { connector: body.provider.identifier })
    await mock.api.delete(`/custom-providers/${body.provider.identifier}`)
    expect(await lastMove(mock)).toEqual(['provider_deleted: PENDING_AUTH > DISCONNECTED'])
  })

  it.for([
    [
      'connected_account.authorization_type',
      { connector: 'mail', connected_account: { authorization_type: 'SOMETHING' } },
      'is ignored: it is not an authorization type of the service',
    ],
    [
      'connected_account.authorization_details.oauth_token',
      { connector: 'mail', connected_account: { authorization_details: { oauth_token: {} } } },
      'is ignored: it has none of its fields',
    ],
    [
      'connected_account.authorization_details.trusted_idp.db_user',
      { connector: 'warehouse', connected_account: { authorization_details: { trusted_idp: { db_user: 'reader' } } } },
      'is ignored: connector warehouse is a serverless workgroup, which has no database users',
    ],
  ])('a warning of %s, which has no effect', async ([field, body, description], { mock }) => {
    await createAccount(mock, body)
    const { findings } = await lastEntry(mock)
    expect(findings.filter((each) => each.field === field)).toMatchObject([{ kind: 'warning', allowed: description }])
  })
})

describe('creation order', () => {
  const order = async ({ api }: TestToolmock): Promise<string[]> =>
    (await api.get('/connected_accounts')).body.connected_accounts.map((each: typeof ADA) => each.identifier)

  it('counts accounts that are created and those that a magic link creates, and links of an account do not change it', async ({
    mock,
  }) => {
    await createAccount(mock, { identifier: 'a' })
    await linkFor(mock, { connector: 'mail', identifier: 'b' })
    await createAccount(mock, { identifier: 'c' })
    await linkFor(mock, { connector: 'mail', identifier: 'a' })
    await decide(mock, await linkFor(mock, { connector: 'mail', identifier: 'b' }))
    expect(await order(mock)).toEqual(['a', 'b', 'c'])
  })
})

describe('a refusal names what is wrong and what is allowed', () => {
  it.for<[string, object, string, string]>([
    [
      LINK,
      { id: 'ca_none' },
      'id must be the id of an account; send connector and identifier to create one',
      'existing_account',
    ],
    [
      LINK,
      { ...ADA, user_verify_url: 'see:http://a' },
      'user_verify_url must be an absolute http or https URL; found "see:http://a"',
      'http_url',
    ],
    [
      '/connected_accounts',
      { ...ADA, connected_account: { authorization_type: 'BASIC' } },
      'connected_account.authorization_type must be OAUTH, the type of connector mail; found BASIC',
      'authorization_type',
    ],
    [
      '/execute_tool',
      { ...ADA, tool_name: 'mail_list_messages', tool_input: { a: 1 }, params: { a: 2 } },
      'params must be equal to tool_input, which it is another name for; send one of them',
      'alias',
    ],
  ])('POST %s with %j', async ([path, body, message, constraint], { mock: { api } }) => {
    const answer = await api.post(path, body)
    expect([answer.status, answer.body.message]).toEqual([400, message])
    const [{ field_violations }] = answer.body.details.map(
      (each: { validation_error_info: object }) => each.validation_error_info,
    )
    expect(field_violations).toMatchObject([{ constraint }])
  })

  it.for<[string, string, string]>([
    [
      '/connected_accounts?connector=mail&connection_names=mail',
      'connection_names must not be sent beside connector',
      'exclusive',
    ],
    [
      '/connected_accounts:search?query=%20ab%20',
      'query must have at least 3 characters after trimming; found 2',
      'minLength',
    ],
  ])('GET %s', async ([path, message, constraint], { mock: { api } }) => {
    const { body } = await api.get(path)
    expect(body).toMatchObject({
      message,
      details: [{ validation_error_info: { field_violations: [{ constraint }] } }],
    })
  })

  it('of a second account in a scope', async ({ mock }) => {
    await createAccount(mock)
    const { body } = await mock.api.post('/connected_accounts', ADA)
    expect(body.message).toBe(
      'a connected account with identifier "ada@example.com" at connector "mail" already exists in this scope',
    )
  })

  it('of an auth request that is over, and of another identifier', async ({ mock }) => {
    const OVER = 'auth request not found or no longer valid: '
    const request = await pendingRequest(mock)
    const message = async (id: string, identifier?: string) => (await verify(mock, id, identifier)).body.message
    expect(await message(request, 'eve')).toBe(
      'identifier is not the one that the magic link was made for; the request stays pending',
    )
    await verify(mock, request)
    expect(await message(request)).toBe(`${OVER}this auth_request_id was verified before; each id works once`)
    expect(await message('none')).toBe(`${OVER}there is no pending flow with this auth_request_id`)
    const expired = await pendingRequest(mock)
    mock.time.advance('10m')
    expect(await message(expired)).toBe(
      `${OVER}this auth_request_id has expired; send the user through a new magic link`,
    )
    const [first, second] = [await pendingRequest(mock), await pendingRequest(mock)]
    expect(await message(first)).toBe(
      `${OVER}this auth_request_id was superseded by a later consent of the same account`,
    )
    const [account] = (await mock.api.get('/connected_accounts')).body.connected_accounts
    await mock.http('post', `/_mock/accounts/${account.id}/disconnect`)
    expect(await message(second)).toBe(
      `${OVER}this auth_request_id ended when its account was disconnected or got another authorization type; send the user through a new magic link`,
    )
  })

  it('of unknown tools and providers', async ({ mock }) => {
    const seed = { connectors: [{ connector: 'plain', authorization_type: 'NO_AUTH' }] }
    expect((await mock.http('post', '/_mock/seed').send(seed)).status).toBe(200)
    await createAccount(mock, { connector: 'plain' })
    const call = { ...ADA, connector: 'plain', tool_name: 'x' }
    expect((await mock.api.post('/execute_tool', call)).body.message).toBe(
      'tool not found: connector plain has no "x"; it has none',
    )
    const { body } = await mock.api.delete('/custom-providers/acme')
    expect(body.message).toBe('there is no custom provider "acme"')
  })
})

describe('the call of a tool', () => {
  const send = (parts: Partial<AppTool>): object =>
    appSeed([{ name: 'send', answers: { status: 200, body: {} }, ...parts }])
  const TO = { type: 'object', properties: { to: { type: 'string' } } }
  const body = { to: '{{input.to}}' }

  it('records its agent run', async ({ startMock }) => {
    const mock = await startMock({ seed: send({}) })
    const call = { connector: 'app', identifier: 'ada', tool_name: 'send' }
    for (const [agent_run_id, noted] of [
      ['run_1', 'run_1'],
      ['', null],
    ]) {
      await mock.api.post('/execute_tool', { ...call, agent_run_id })
      expect((await lastEntry(mock)).agent_run_id).toBe(noted)
    }
  })

  it('records inputs that the schema does not name and the call does not read, with suggestions', async ({
    startMock,
  }) => {
    const mock = await startMock({ seed: send({ input_schema: TO, call: { body } }) })
    await run(mock, 'send', { to: 'x', tp: 'y', remark: 'z' })
    const rule = 'is ignored: the tool send has no input of that name'
    expect((await lastEntry(mock)).findings).toMatchObject([
      { kind: 'violation', field: 'tool_input.tp', allowed: rule, did_you_mean: 'to' },
      { kind: 'warning', field: 'tool_input.remark', allowed: rule },
    ])
  })

  it('records them where the account is not active', async ({ startMock }) => {
    const mock = await startMock({ seed: send({ input_schema: TO, call: { body } }) })
    await mock.http('post', `/_mock/accounts/${(await ada(mock)).id as string}/expire`)
    expect((await run(mock, 'send', { tp: 'y' })).body.code).toBe(9)
    expect((await lastEntry(mock)).findings).toMatchObject([{ field: 'tool_input.tp', kind: 'violation' }])
  })

  it('records an input whose name is a prefix of one that the call reads', async ({ startMock }) => {
    const mock = await startMock({ seed: send({ input_schema: TO, call: { body } }) })
    await run(mock, 'send', { t: 'x' })
    expect((await lastEntry(mock)).findings).toMatchObject([{ field: 'tool_input.t', kind: 'warning' }])
  })

  it('records at most twenty of them', async ({ startMock }) => {
    const mock = await startMock({ seed: send({ input_schema: TO, call: { body } }) })
    await run(mock, 'send', Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`remark_${at}`, ''])))
    expect((await lastEntry(mock)).findings).toHaveLength(20)
  })

  it.for<[string, Partial<AppTool>]>([
    [
      'its schema names them',
      { input_schema: { ...TO, properties: { ...TO.properties, remark: {} } }, call: { body } },
    ],
    ['its schema takes others', { input_schema: { ...TO, additionalProperties: true }, call: { body } }],
    ['its schema names none', { input_schema: { type: 'object' }, call: { body } }],
    ['its call reads the input as a whole', { input_schema: TO, call: { body: '{{input}}' } }],
  ])('records no inputs where %s', async ([_why, tool], { startMock }) => {
    const mock = await startMock({ seed: send(tool) })
    await run(mock, 'send', { to: 'x', remark: 'z' })
    expect((await lastEntry(mock)).findings).toEqual([])
  })

  it('is refused with everything that is wrong with its input', () => {
    const input_schema = { ...TO, required: ['to', 'subject'] }
    const tool = { name: 'send', input_schema, call: { path: '/items/{{input.to}}' } }
    const responders = [{ on: { path: '/items/*' }, respond: { status: 200, body: {} } }]
    return withToolmock({ seed: appSeed([tool], { responders }) }, async (mock) => {
      const { body: invalid } = await run(mock, 'send')
      expect(invalid.message).toBe('tool_input.to is required; tool_input.subject is required')
      const { body: leaving } = await run(mock, 'send', { to: '..', subject: '' })
      expect(leaving.message).toMatch(/^tool_input must have other values: ./)
      expect(leaving.details[0]).toMatchObject({
        error_code: 'INVALID_TOOL_INPUT',
        validation_error_info: { field_violations: [{ field: 'tool_input', constraint: 'path' }] },
      })
      expect((await run(mock, 'sent')).body.message).toBe('tool not found: connector app has no "sent"; it has send')
    })
  })
})

const tokensOf = (scope: object) => ({ oauth_token: { access_token: JSON.stringify(scope) } })

it('a request of the proxy is for the account of its scope, and has an execution id', async ({ mock }) => {
  const scopes = [{ organization_id: 'org_1' }, { organization_id: 'org_2', user_id: 'usr_2' }, { user_id: 'usr_3' }]
  const token = await mock.signIn()
  const ids: string[] = []
  for (const scope of scopes) ids.push((await createActive(mock, scope, tokensOf(scope))).id)
  for (const [at, scope] of scopes.entries()) {
    const headers = { connection_name: 'mail', identifier: ADA.identifier, ...scope }
    await mock.http('get', '/proxy/v1/messages').set('Authorization', `Bearer ${token}`).set(headers)
    const execution = expect.stringMatching(/^exec_\w{20}$/) as string
    expect(await lastEntry(mock)).toMatchObject({ account: ids[at], execution })
  }
})

it('a request of the proxy records misspelt headers that name an account', async ({ mock }) => {
  const token = await mock.signIn()
  const headers = { connection_name: 'mail', identifer: 'ada', organisation_id: 'org_1', userid: 'usr_1' }
  await mock.http('get', '/proxy/v1/messages').set('Authorization', `Bearer ${token}`).set(headers)
  const { findings } = await lastEntry(mock)
  const misspelt = findings.filter(({ did_you_mean }) => did_you_mean !== null)
  expect(misspelt.map((each) => `${each.field} ${each.allowed}: ${each.did_you_mean ?? ''}`).sort()).toEqual([
    'identifer names no account: identifier',
    'organisation_id names no account: organization_id',
    'userid names no account: user_id',
  ])
})

describe('a custom provider', () => {
  const body = (display_name: string) => ({ display_name, auth_patterns: [{ type: 'API_KEY' }] })

  it('has an id, an identifier that can be read, and a connection (G37, G38)', async ({ mock: { api } }) => {
    const { provider } = (await api.post('/custom-providers', body('Acme'))).body
    expect(provider.id).toMatch(/^prv_[a-z0-9]{20}$/)
    expect(provider.identifier).toMatch(/^acme-[a-z0-9]{8}$/)
    const { connections } = (await api.get('/connections')).body
    expect(connections.at(-1)).toEqual({
      id: expect.stringMatching(/^conn_[a-z0-9]{20}$/),
      key_id: provider.identifier,
      organization_id: '',
      organization_name: '',
      domains: [],
      enabled: true,
      provider: 'CUSTOM',
      provider_key: provider.identifier,
      status: 'COMPLETED',
      type: 'API_KEY',
      mcp_server_url: '',
    })
  })

  it('is updated and deleted without effect on others', async ({ mock: { api } }) => {
    const made = [await api.post('/custom-providers', body('Acme')), await api.post('/custom-providers', body('Beta'))]
    const [acme, beta] = made.map((each) => each.body.provider)
    const all = async () => (await api.get('/connections')).body.connections
    const before = await all()
    const changed = await api.put(`/custom-providers/${beta.identifier}`, { auth_patterns: [{ type: 'OAUTH' }] })
    expect(changed.body.provider).toEqual({ ...beta, auth_patterns: [{ type: 'OAUTH' }] })
    expect(await all()).toEqual([...before.slice(0, -1), { ...before.at(-1), type: 'OAUTH' }])
    await api.delete(`/custom-providers/${beta.identifier}`)
    expect(await all()).toEqual(before.slice(0, -1))
    expect((await api.put(`/custom-providers/${acme.identifier}`, {})).body.provider).toEqual(acme)
    expect((await api.put(`/custom-providers/${beta.identifier}`, {})).status).toBe(404)
  })
})

describe('POST /_mock/accounts/{id}/{event}', () => {
  const cause = ({ http }: TestToolmock, id: string, event: string) => http('post', `/_mock/accounts/${id}/${event}`)

  it.for([
    ['mail', 'revoke_refresh_token', 'PENDING_AUTH and has no refresh token', ['expire', 'disconnect']],
    ['weather', 'expire_access_token', 'PENDING_AUTH and has no access token that expires', ['expire', 'disconnect']],
    ['encyclopedia', 'expire_access_token', 'ACTIVE and has no access token that expires', ['expire', 'disconnect']],
  ])('of an account at %s refuses %s: it is %s', async ([connector, event, state, allowed], { mock }) => {
    const { id } = await createAccount(mock, { connector })
    const message = `connected account ${id} is ${state}, so ${event} is not allowed; allowed: ${allowed.join(', ')}`
    // As the request journal shows it where a scenario tries the event.
    expect(maskText(message)).toBe(message)
    expect((await cause(mock, id, event)).body.error).toMatchObject({
      code: 'ILLEGAL_MOVE',
      message,
      details: [{ from: state.split(' ')[0], event, allowed }],
    })
    expect(await detailsOf(mock, id)).toMatchObject({ status: state.split(' ')[0] })
  })

  it('refuses to expire what has expired, and names the one event that is left', async ({ mock }) => {
    const { id } = await createAccount(mock)
    expect((await cause(mock, id, 'expire')).status).toBe(200)
    expect((await cause(mock, id, 'expire')).body.error.message).toBe(
      `connected account ${id} is EXPIRED and has no such move, so expire is not allowed; allowed: disconnect`,
    )
  })

  it.for([
    ['workspace', 'workspace_dwd', 'token_expires_at'],
    ['warehouse', 'trusted_idp', 'expiry'],
  ])('expire_access_token at %s ends the token in %s.%s too (2.2)', async ([connector, kind, field], { mock }) => {
    const { id } = await createAccount(mock, { connector })
    mock.time.advance('1m')
    expect((await cause(mock, id, 'expire_access_token')).status).toBe(200)
    const now = '2026-01-01T00:01:00.000Z'
    const details = await detailsOf(mock, id)
    expect(details).toMatchObject({ status: 'ACTIVE', token_expires_at: now })
    expect(details.authorization_details[kind][field]).toBe(now)
  })

  it('expire_access_token makes an account without renewal EXPIRED, already in its answer', async ({ mock }) => {
    const { id } = await createActive(mock, {}, { oauth_token: { access_token: 'at' } })
    expect((await cause(mock, id, 'expire_access_token')).body.account).toMatchObject({ id, status: 'EXPIRED' })
  })

  it('revoke_refresh_token has the third party refuse the next renewal, and that of no other account', async ({
    mock,
  }) => {
    const revoked = await createActive(mock)
    const other = await createActive(
      mock,
      { identifier: 'eve' },
      { oauth_token: { access_token: 'at_2', refresh_token: 'rt_2' } },
    )
    expect((await cause(mock, revoked.id, 'revoke_refresh_token')).status).toBe(200)
    for (const { id } of [revoked, other]) await cause(mock, id, 'expire_access_token')
    expect(await authOf(mock, revoked.id)).toMatchObject({ status: 'EXPIRED' })
    expect(await authOf(mock, other.id)).toMatchObject({ status: 'ACTIVE' })
  })

  it('expire_access_token has the third party refuse the token from then on', async ({ mock }) => {
    const { id } = await createActive(mock)
    const call = () => mock.http('get', '/third-party/mail/api/v1/messages').set('Authorization', 'Bearer at_1')
    expect((await call()).status).toBe(200)
    await cause(mock, id, 'expire_access_token')
    expect((await call()).status).toBe(401)
  })

  it('expire_access_token does not change the expiry of an expired token', async ({ mock }) => {
    const { id } = await createActive(mock)
    mock.time.advance('2h')
    expect((await cause(mock, id, 'expire_access_token')).status).toBe(200)
    await mock.http('put', '/_mock/clock').send({ now: '2026-01-01T01:30:00Z' })
    const call = mock.http('get', '/third-party/mail/api/v1/messages').set('Authorization', 'Bearer at_1')
    expect((await call).status).toBe(401)
  })

  it('an auth request that is not verified in time drops its pending credentials, which the next request records (G32)', async ({
    mock,
  }) => {
    await pendingRequest(mock)
    const [{ id }] = (await mock.api.get('/connected_accounts')).body.connected_accounts
    mock.time.advance('9m59s999ms')
    expect(await detailsOf(mock, id)).toMatchObject({ status: 'PENDING_VERIFICATION' })
    mock.time.advance('1ms')
    expect(await detailsOf(mock, id)).toMatchObject({ status: 'PENDING_AUTH' })
    expect((await lastEntry(mock)).due).toMatchObject([
      {
        account_id: id,
        event: 'auth_request_expired',
        from: 'PENDING_VERIFICATION',
        to: 'PENDING_AUTH',
        at: '2026-01-01T00:10:00.000Z',
      },
    ])
    expect(mock.environment.model.tables.accounts.get(id)).not.toHaveProperty('pending')
  })
})

it('PUT /connected_accounts answers 404 when the account is deleted before its credentials arrive', async ({
  mock,
}) => {
  const { id } = await createAccount(mock, { connector: 'workspace' })
  const authorization_details = { workspace_dwd: { subject: 'eve@example.com' } }
  const [answer, deleted] = await Promise.all([
    mock.api.put('/connected_accounts', { id, connected_account: { authorization_details } }),
    mock.api.post('/connected_accounts:delete', { id }),
  ])
  expect([answer.status, deleted.status]).toEqual([404, 200])
  expect(answer.body).toMatchObject({ details: [{ error_code: 'ACCOUNT_NOT_FOUND' }] })
})
