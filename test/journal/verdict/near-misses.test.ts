import { describe, expect } from 'vitest'
import { ADA, createActive, decide, linkFor, pendingRequest, verify } from '../../support/accounts.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { verdictOf } from '../../../src/journal/verdict/verdict.ts'
import { contractOf, control, coverageOf } from './reports.ts'

type Ask = (mock: TestToolmock) => Promise<unknown>

const SECRETS = { client_id: 'test_client', client_secret: 'test_secret' }
const MESSAGE = { to: 'grace@example.com', subject: 'Hello' }
const execute =
  (more: object): Ask =>
  ({ api }) =>
    api.post('/execute_tool', { ...ADA, tool_name: 'mail_send_message', tool_input: MESSAGE, ...more })
const get =
  (path: string, query: string): Ask =>
  ({ api }) =>
    api.get(path, query)
const link =
  (body: object): Ask =>
  ({ api }) =>
    api.post('/connected_accounts/magic_link', body)
const proxy =
  (headers: Record<string, string>): Ask =>
  async (mock) => {
    const token = await mock.signIn()
    await mock.http('get', '/proxy/v1/messages').set('Authorization', `Bearer ${token}`).set(headers)
  }
const nearMiss = (what: string, did_you_mean: string) => ({ allowed: `names no ${what}`, did_you_mean })

describe('a near miss of a known name is a violation', () => {
  it.for<[string, Ask, string, string, object]>([
    [
      'a tool in another case',
      execute({ tool_name: 'mailSendMessage' }),
      'execute_tool tool_name',
      '"mailSendMessage"',
      nearMiss('tool', 'mail_send_message'),
    ],
    [
      'the connector of a tool call',
      execute({ connector: 'Mail' }),
      'execute_tool connector',
      '"Mail"',
      nearMiss('connector', 'mail'),
    ],
    [
      'the connector of a new account',
      ({ api }) => api.post('/connected_accounts', { ...ADA, connector: 'maill' }),
      'create_connected_account connector',
      '"maill"',
      nearMiss('connector', 'mail'),
    ],
    [
      'the connector of a link',
      link({ ...ADA, connector: 'help-desk' }),
      'create_magic_link connector',
      '"help-desk"',
      nearMiss('connector', 'helpdesk'),
    ],
    [
      'the connector of a locator',
      get('/connected_accounts/details', 'connector=mial&identifier=ada'),
      'get_connected_account_details connector',
      '"mial"',
      nearMiss('connector', 'mail'),
    ],
    [
      'the connector of a filter',
      get('/connected_accounts', 'connector=MAIL'),
      'list_connected_accounts connector',
      '"MAIL"',
      nearMiss('connector', 'mail'),
    ],
    [
      'the provider of a filter',
      get('/connected_accounts', 'provider=wether'),
      'list_connected_accounts provider',
      '"wether"',
      nearMiss('connector', 'weather'),
    ],
    [
      'a connection name',
      get('/connected_accounts', 'connection_names=mail&connection_names=code-hosting'),
      'list_connected_accounts connection_names',
      '"code-hosting"',
      nearMiss('connector', 'code_hosting'),
    ],
    [
      'a connection name of scoped tools',
      get('/tools/scoped', 'identifier=ada&filter.connection_names=trackr'),
      'list_scoped_tools filter.connection_names',
      '"trackr"',
      nearMiss('connector', 'tracker'),
    ],
    [
      'a tool name of a list',
      get('/tools', 'filter.tool_name=mail_send-message'),
      'list_tools filter.tool_name',
      '"mail_send-message"',
      nearMiss('tool', 'mail_send_message'),
    ],
    [
      'a provider of a list',
      get('/providers', 'filter.identifier=leger'),
      'list_providers filter.identifier',
      '"leger"',
      nearMiss('connector', 'ledger'),
    ],
    [
      'the connection name of the proxy',
      proxy({ connection_name: 'mial', identifier: 'ada' }),
      'proxy_request connection_name',
      '"mial"',
      nearMiss('connector', 'mail'),
    ],
  ])('%s', async ([_what, ask, where, found, meant], { mock }) => {
    await createActive(mock)
    await ask(mock)
    const { ok, total } = await contractOf(mock)
    expect(ok).toBe(false)
    expect(total.violations.map((each) => `${each.operation} ${each.field}`)).toEqual([where])
    expect(total.violations[0]).toMatchObject({
      code: 'near_miss',
      found,
      ...meant,
      basis: 'choice:G6',
      count: 1,
    })
  })

  it.for<[string, Ask]>([
    ['a tool of another connector', execute({ tool_name: 'weather_get_forecast' })],
    ['a tool that is nothing like a known one', execute({ tool_name: 'calendar_create_event' })],
    ['a connector that is nothing like a known one', get('/connected_accounts', 'connector=calendar')],
    ['no connector', get('/connected_accounts', 'connector=')],
    ['a value that names no connector', execute({ agent_run_id: 'mial' })],
  ])('%s is not a near miss', async ([_what, ask], { mock }) => {
    await createActive(mock)
    await ask(mock)
    expect((await contractOf(mock)).total.violations).toEqual([])
  })

  it('the name of a sign-on connection is not a near miss, and is never the suggestion for another name', async () => {
    const connections = [{ key_id: 'mail2', type: 'OIDC' }]
    await withToolmock({ seed: { connections } }, async (mock) => {
      await get('/connected_accounts', 'connector=mail2')(mock)
      await get('/connected_accounts', 'connector=globex-saml')(mock)
      expect((await contractOf(mock)).total.violations).toEqual([])
    })
  })

  it('an input of a tool is a violation too', async ({ mock }) => {
    await createActive(mock)
    await execute({ tool_input: { ...MESSAGE, bodi: 'x' } })(mock)
    const { violations, warnings } = (await contractOf(mock)).total
    expect(violations).toMatchObject([{ field: 'tool_input.bodi', did_you_mean: 'body' }])
    expect(warnings).toEqual([])
  })

  it.for<[string, Ask, string]>([
    [
      'a field',
      ({ api }) => api.post('/connected_accounts', { Connector: 'mail', identifier: 'ada' }),
      'create_connected_account Connector VALIDATION_FAILED',
    ],
    ['half of a locator', link({ conector: 'mail', identifier: 'ada' }), 'create_magic_link conector MISSING_LOCATOR'],
    [
      'a query parameter',
      get('/connected_accounts/details', 'connector=mail&identifer=ada'),
      'get_connected_account_details identifer MISSING_LOCATOR',
    ],
    [
      'an input of a tool',
      execute({ tool_input: { to: 'grace@example.com', Subject: 'x' } }),
      'execute_tool tool_input.Subject INVALID_TOOL_INPUT',
    ],
    [
      'a field of the token request',
      ({ http }) =>
        http('post', '/oauth/token')
          .type('form')
          .send({ granttype: 'client_credentials', ...SECRETS }),
      'create_token granttype invalid_request',
    ],
    [
      'a credential of the token request',
      ({ http }) => {
        const { client_id: clientId, client_secret } = SECRETS
        return http('post', '/oauth/token')
          .type('form')
          .send({ grant_type: 'client_credentials', clientId, client_secret })
      },
      'create_token clientId invalid_client',
    ],
    [
      'a header of the proxy',
      proxy({ 'connection-name': 'mail', identifier: 'ada' }),
      'proxy_request connection-name MISSING_LOCATOR',
    ],
  ])(
    '%s with a misspelt name is one violation, although it is also missing',
    async ([_what, ask, expected], { mock }) => {
      await createActive(mock)
      await ask(mock)
      const { violations } = (await contractOf(mock)).total
      expect(violations.map((each) => `${each.operation} ${each.field} ${String(each.error_code)}`)).toEqual([expected])
    },
  )

  it('counts requests of the proxy', async ({ mock }) => {
    await proxy({ connection_name: 'mail', identifier: 'ada' })(mock)
    // The two before it obtained tokens.
    expect((await contractOf(mock)).total.requests).toBe(3)
  })
})

describe('an identifier that differs from a known one only by case or blanks is a warning', () => {
  it.for<[string, Ask, string, string]>([
    [
      'of a locator',
      get('/connected_accounts/details', 'connector=mail&identifier=Ada@Example.com'),
      'get_connected_account_details identifier',
      '"Ada@Example.com"',
    ],
    [
      'of a filter',
      get('/connected_accounts', 'identifier=ada@example.com%20'),
      'list_connected_accounts identifier',
      '"ada@example.com "',
    ],
    [
      'of a new account',
      ({ api }) => api.post('/connected_accounts', { ...ADA, identifier: ' ada@example.com' }),
      'create_connected_account identifier',
      '" ada@example.com"',
    ],
    [
      'of a new link',
      link({ ...ADA, identifier: 'ADA@example.com' }),
      'create_magic_link identifier',
      '"ADA@example.com"',
    ],
    [
      'of a filter of tools',
      get('/tools', 'filter.identifier=ADA@example.com'),
      'list_tools filter.identifier',
      '"ADA@example.com"',
    ],
    [
      'of the proxy',
      proxy({ connection_name: 'mail', identifier: 'Ada@example.com' }),
      'proxy_request identifier',
      '"Ada@example.com"',
    ],
  ])('%s', async ([_what, ask, where, found], { mock }) => {
    await createActive(mock)
    await ask(mock)
    const { ok, total } = await contractOf(mock)
    expect(ok).toBe(true)
    expect(total.warnings.map((each) => `${each.operation} ${each.field}`)).toEqual([where])
    const allowed = 'differs from the known "ada@example.com" by case or blanks alone'
    expect(total.warnings[0]).toMatchObject({ code: 'similar_identifier', found, allowed, basis: 'choice:G6' })
  })

  it('an identifier in lower case is a warning too where the known one has capitals', async ({ mock }) => {
    await createActive(mock, { identifier: 'Ada@Example.com' })
    await get('/connected_accounts', 'identifier=ada@example.com')(mock)
    expect((await contractOf(mock)).total.warnings).toMatchObject([
      { allowed: 'differs from the known "Ada@Example.com" by case or blanks alone' },
    ])
  })

  it('a known identifier, one that differs by a letter, and one like that of a deleted account lead to no warning', async ({
    mock,
  }) => {
    const { id } = await createActive(mock, { identifier: 'Ada@Example.com' })
    await get('/connected_accounts', 'identifier=Ada@Example.com')(mock)
    await get('/connected_accounts', 'identifier=ada2@example.com')(mock)
    await mock.api.post('/connected_accounts:delete', { id })
    await get('/connected_accounts', 'identifier=ada@example.com')(mock)
    expect((await contractOf(mock)).total.warnings).toEqual([])
  })
})

describe('a flow that ends without verification is a warning', () => {
  const unverified = async (mock: TestToolmock): Promise<void> => {
    await decide(mock, await linkFor(mock, { connector: 'mail', identifier: 'grace@example.com' }))
  }
  const warningsOf = async (mock: TestToolmock) => (await contractOf(mock)).total.warnings

  it('when the client sends a user_verify_url in another request', async ({ mock }) => {
    await unverified(mock)
    expect(await warningsOf(mock)).toEqual([])
    await linkFor(mock, { ...ADA, user_verify_url: 'http://localhost/verify' })
    expect(await warningsOf(mock)).toMatchObject([
      {
        code: 'unverified_flow',
        operation: 'create_magic_link',
        field: 'user_verify_url',
        found: null,
        allowed: expect.stringContaining(
          'there is no check that the person who gave consent is the user of the account',
        ),
        basis: 'document:4.7',
        count: 1,
        requests: [expect.any(String)],
      },
    ])
  })

  it('when the client verifies another flow, in every way that the flow can end', async ({ mock }) => {
    await verify(mock, await pendingRequest(mock))
    const opened = await linkFor(mock, { connector: 'weather', identifier: 'grace@example.com' })
    const id = opened.split('/').at(-1)!
    expect((await control(mock, 'post', `/links/${id}/complete`, { decision: 'approve' })).status).toBe(200)
    expect(await warningsOf(mock)).toMatchObject([{ code: 'unverified_flow', count: 1 }])
  })

  it('not when the flow was denied, or only another client of the environment verifies', async () => {
    const clients = ['one', 'two'].map((id) => ({ client_id: id, client_secret: 's' }))
    await withToolmock({ seed: { clients } }, async (mock) => {
      const link = await linkFor(mock, { connector: 'mail', identifier: 'grace@example.com' })
      await decide(mock, link, { decision: 'deny' })
      await unverified(mock)
      const form = { grant_type: 'client_credentials', client_id: 'two', client_secret: 's' }
      const { access_token } = (await mock.http('post', '/oauth/token').type('form').send(form)).body
      const asked = mock
        .http('post', '/api/v1/connected_accounts/magic_link')
        .set('Authorization', `Bearer ${access_token}`)
      expect((await asked.send({ ...ADA, user_verify_url: 'http://localhost/verify' })).status).toBe(200)
      expect(await warningsOf(mock)).toEqual([])
    })
  })

  it('in the total also when the client verifies in another environment', async ({ mock }) => {
    await unverified(mock)
    const { client_id, client_secret } = (await control(mock, 'post', '/environments', { name: 'other' })).body
    const form = { grant_type: 'client_credentials', client_id, client_secret }
    const { access_token } = (await mock.http('post', '/oauth/token').type('form').send(form)).body
    const asked = mock
      .http('post', '/api/v1/connected_accounts/magic_link')
      .set('Authorization', `Bearer ${access_token}`)
    expect((await asked.send({ ...ADA, user_verify_url: 'http://localhost/verify' })).status).toBe(200)
    expect(await warningsOf(mock)).toMatchObject([{ code: 'unverified_flow', count: 1 }])
  })
})

describe('--fail-on', () => {
  const verdict = async (mock: TestToolmock, failOn: 'warning' | 'unread' | undefined) =>
    verdictOf({ contract: await contractOf(mock), coverage: await coverageOf(mock) }, { failOn })

  it('warning turns every warning into a violation, unread only those of unread fields', async ({ mock }) => {
    await mock.api.post('/connected_accounts', { ...ADA, nickname: 'x' })
    await get('/connected_accounts', 'identifier=ADA@example.com')(mock)
    expect(await verdict(mock, undefined)).toMatchObject({ ok: true, reasons: [] })
    const [unread, similar] = [
      { sentence: expect.stringMatching(/nickname/) },
      { sentence: expect.stringMatching(/ADA/) },
    ]
    expect(await verdict(mock, 'unread')).toMatchObject({ ok: false, reasons: [unread], warnings: [similar] })
    expect(await verdict(mock, 'warning')).toMatchObject({ ok: false, reasons: [unread, similar], warnings: [] })
  })

  it('ignores allowed warnings, and names an unused allowance, which fails with warning only', async ({ mock }) => {
    await mock.api.post('/connected_accounts', { ...ADA, nickname: 'x' })
    const pair = { contract: await contractOf(mock), coverage: await coverageOf(mock) }
    const nickname = { operation: 'create_connected_account', field: 'nickname' }
    expect(verdictOf(pair, { failOn: 'warning', allow: [nickname] })).toMatchObject({ ok: true, allowed: [{}] })
    const unneeded = { operation: 'verify_user', field: null }
    const unused = [{ code: 'unused_allowance' }]
    const verdictWith = (failOn?: 'warning' | 'unread') => verdictOf(pair, { failOn, allow: [nickname, unneeded] })
    expect(verdictWith('warning')).toMatchObject({ ok: false, reasons: unused, warnings: [] })
    expect(verdictWith('unread')).toMatchObject({ ok: true, reasons: [], warnings: unused, allowed: [{}] })
    expect(verdictWith()).toMatchObject({ ok: true, reasons: [], warnings: [{}, {}, {}] })
  })
})
