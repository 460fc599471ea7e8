import { describe, expect } from 'vitest'
import { it, type TestOptions, withToolmock } from '../../support/toolmock.ts'
import { createEnvironment } from '../../support/registry.ts'

const VOCABULARY = {
  WORKSPACE_DWD: 'ACME_DWD',
  workspace_dwd: 'acme_dwd',
  TRACKER_OAUTH1: 'FOO_OAUTH1',
  ACTIVE: 'LIVE',
  connector: 'app',
  VALIDATION_FAILED: 'BAD_REQUEST',
}

const withVocabulary = (vocabulary: Record<string, string> = VOCABULARY, rest: TestOptions = {}): TestOptions => ({
  ...rest,
  seed: { settings: { vocabulary } },
})

const ACCOUNT = { app: 'workspace', identifier: 'ada@example.com' }

describe('a vocabulary in requests and answers', () => {
  it('reads fields and values in the words of the wire and answers in them', async ({ startMock }) => {
    const { api } = await startMock(withVocabulary())
    const answer = await api.post('/connected_accounts', {
      ...ACCOUNT,
      connected_account: {
        authorization_type: 'ACME_DWD',
        authorization_details: { acme_dwd: { subject: 'boss@example.com' } },
      },
    })
    expect(answer.status).toBe(201)
    expect(answer.body.connected_account).toMatchObject({
      app: 'workspace',
      authorization_type: 'ACME_DWD',
      status: 'LIVE',
      authorization_details: { acme_dwd: { subject: 'boss@example.com' } },
    })
    expect(answer.text).not.toContain('"connector"')
  })

  it('keeps the document’s words inside', async ({ startMock }) => {
    const { api, environment } = await startMock(withVocabulary())
    const { body } = await api.post('/connected_accounts', ACCOUNT)
    const stored = environment.model.tables.accounts.get(String(body.connected_account.id))
    expect(stored).toMatchObject({ connector: 'workspace', authorization_type: 'WORKSPACE_DWD', status: 'ACTIVE' })
  })

  it('answers every account and connection of a list in the words of the wire', async ({ startMock }) => {
    const { api } = await startMock(withVocabulary())
    const accounts = await api.get('/connected_accounts', { page_size: 100 })
    const connections = await api.get('/connections')
    const types = connections.body.connections.map(({ type }: { type: string }) => type)
    expect(types).toEqual(expect.arrayContaining(['ACME_DWD', 'FOO_OAUTH1', 'OAUTH']))
    for (const word of ['WORKSPACE_DWD', 'TRACKER_OAUTH1', '"ACTIVE"', '"connector"']) {
      expect(accounts.text + connections.text).not.toContain(word)
    }
  })

  it('reads query parameters in the words of the wire, dotted names part by part', async ({ startMock }) => {
    const { api } = await startMock(withVocabulary())
    await api.post('/connected_accounts', ACCOUNT)
    const details = await api.get('/connected_accounts/details', ACCOUNT)
    const tools = await api.get('/tools', { 'filter.app': 'workspace', page_size: 100 })
    const all = await api.get('/tools', { page_size: 100 })
    expect(details.body.connected_account).toMatchObject(ACCOUNT)
    expect(tools.body.total_size).toBeGreaterThan(0)
    expect(tools.body.total_size).toBeLessThan(all.body.total_size)
  })

  it('knows the type of a custom provider’s pattern by its word', async ({ startMock }) => {
    const { api } = await startMock(withVocabulary())
    const pattern = { type: 'ACME_DWD', label: 'WORKSPACE_DWD', extra: { type: 'ACME_DWD' } }
    const { body } = await api.post('/custom-providers', { display_name: 'Mine', auth_patterns: [pattern] })
    const { identifier } = body.provider
    const account = await api.post('/connected_accounts', { app: identifier, identifier: 'ada@example.com' })
    expect(body.provider.auth_patterns).toEqual([pattern])
    expect(account.body.connected_account.authorization_type).toBe('ACME_DWD')
  })

  it('swaps two words', async ({ startMock }) => {
    const { api } = await startMock(withVocabulary({ connector: 'provider', provider: 'connector' }))
    const { body } = await api.post('/connected_accounts', { provider: 'mail', identifier: 'provider' })
    expect(body.connected_account).toMatchObject({ provider: 'mail', connector: 'mail', identifier: 'provider' })
    expect((await api.post('/connected_accounts', { connector: 'mail', identifier: 'x' })).status).toBe(400)
  })

  it('does not apply to the token endpoint, which follows RFC 6749', async ({ startMock }) => {
    const { http, app, api } = await startMock(withVocabulary({ access_token: 'token' }))
    const { id, secret } = app.client
    const form = { client_id: id, client_secret: secret, grant_type: 'client_credentials' }
    const token = await http('post', '/oauth/token').type('form').send(form)
    const sent = { oauth_token: { token: 'abc' } }
    const account = { connector: 'mail', identifier: 'x', connected_account: { authorization_details: sent } }
    const created = await api.post('/connected_accounts', account)
    expect(Object.keys(token.body)).toContain('access_token')
    expect(created.body.connected_account.authorization_details.oauth_token.token).toBe('abc')
  })

  it('belongs only to its environment', async ({ startMock }) => {
    const { app, environment, http } = await startMock(withVocabulary())
    const client = { id: 'plain', client_secret: 'secret' }
    const token = { id: 'plain-token', client_id: 'plain', expires_at: '2099-01-01T00:00:00.000Z' }
    const { connections, connectors } = environment.model.tables
    const { model } = createEnvironment(app.services.registry, 'plain', { clients: [client] })
    model.transact(() => {
      model.tables.bearer_tokens.put(token)
      for (const row of connections.values()) model.tables.connections.put(row)
      for (const row of connectors.values()) model.tables.connectors.put(row)
    })
    const answer = await http('get', '/api/v1/connections').set('Authorization', 'Bearer plain-token')
    expect(answer.text).toContain('"WORKSPACE_DWD"')
    expect(answer.text).not.toContain('ACME_DWD')
  })
})

it('what is not a word: free-form objects and free strings stay as they are', async ({ startMock }) => {
  const { api } = await startMock(withVocabulary())
  const api_config = { connector: 'ACTIVE', app: ['ACME_DWD'], workspace_dwd: { status: 'ACTIVE' }, __proto__x: 1 }
  const details = { api_key: 'ACTIVE', connector: 'x', acme_dwd: 'WORKSPACE_DWD' }
  const { body } = await api.post('/connected_accounts', {
    app: 'helpdesk',
    identifier: 'ACTIVE',
    organization_id: 'ACME_DWD',
    connected_account: { api_config, authorization_details: { static_auth: { details } } },
  })
  const answer = await api.get('/connected_accounts/auth', { id: body.connected_account.id })
  expect(answer.body.connected_account.identifier).toBe('ACTIVE')
  expect(answer.body.connected_account.api_config).toEqual(api_config)
  expect(answer.body.connected_account.authorization_details.static_auth.details).toEqual(details)
})

it('what is not a word: the metadata of a provider stays as it is', async ({ startMock }) => {
  const { api } = await startMock(withVocabulary())
  const metadata = { connector: 'ACTIVE', app: 'ACME_DWD' }
  const { body } = await api.post('/custom-providers', { display_name: 'ACTIVE', metadata })
  expect(body.provider).toMatchObject({ display_name: 'ACTIVE', metadata })
})

it('what is not a word: schema, input and result of a tool stay as they are', async () => {
  const words = { to: 'x', name: 'title', input_schema: 'schema', data: 'result', id: 'key' }
  const { to: _to, ...vocabulary } = words
  await withToolmock(withVocabulary(vocabulary), async ({ api }) => {
    const tools = await api.get('/tools', { 'filter.tool_name': 'mail_send_message' })
    const { definition } = tools.body.tools[0]
    expect(definition.title).toBe('mail_send_message')
    expect(definition.schema.properties).toHaveProperty('to')
    const sent = await api.post('/connected_accounts', {
      connector: 'mail',
      identifier: 'new@example.com',
      connected_account: { authorization_details: { oauth_token: { access_token: 'abc' } } },
    })
    const tool_input = { to: 'a@example.com', subject: 'id', body: 'x' }
    const run = await api.post('/execute_tool', {
      tool_name: 'mail_send_message',
      connected_account_id: sent.body.connected_account.key,
      tool_input,
    })
    expect(run.status).toBe(200)
    expect(run.body.result).toHaveProperty('message_id')
  })
})

it('what is not a word: a text about a tool’s input names it as it was sent', async ({ startMock }) => {
  const { api } = await startMock(withVocabulary({ subject: 'about', tool_input: 'input' }))
  const { body } = await api.post('/connected_accounts', {
    connector: 'mail',
    identifier: 'new@example.com',
    connected_account: { authorization_details: { oauth_token: { access_token: 'abc' } } },
  })
  const answer = await api.post('/execute_tool', {
    tool_name: 'mail_send_message',
    connected_account_id: body.connected_account.id,
    input: { to: 'a@example.com' },
  })
  expect(answer.status).toBe(400)
  expect(fieldsOf(answer.body)).toEqual(['input.subject'])
  expect(answer.body.message).toContain('input.subject')
  expect(answer.body.message).not.toContain('tool_input')
})

describe('the document’s own word where the wire has another', () => {
  const sent = { ...ACCOUNT, connected_account: { authorization_details: { workspace_dwd: { subject: 'boss@x' } } } }

  it('is an unknown field: ignored, and a warning has the name that was sent', async ({ startMock }) => {
    const { api, app, environment } = await startMock(withVocabulary())
    const answer = await api.post('/connected_accounts', sent)
    expect(answer.body.connected_account.authorization_details.acme_dwd.subject).toBe('ada@example.com')
    const entry = app.services.journals.of(environment).query().at(-1)
    expect(entry?.findings).toMatchObject([
      { field: 'connected_account.authorization_details.workspace_dwd', kind: 'warning', code: 'unread' },
    ])
  })

  it('has one word for several error codes', async () => {
    const words = { ACCOUNT_NOT_FOUND: 'GONE', PROVIDER_NOT_FOUND: 'GONE' }
    await withToolmock(withVocabulary(words), async ({ api }) => {
      const answers = [
        await api.get('/connected_accounts/details', { id: 'ca_x' }),
        await api.delete('/custom-providers/x'),
      ]
      expect(answers.map(({ body }) => body.details[0].error_code)).toEqual(['GONE', 'GONE'])
    })
  })

  it('is refused in strict mode, with the name that was sent', async ({ startMock }) => {
    const { api } = await startMock(withVocabulary(VOCABULARY, { strict: true }))
    const answer = await api.post('/connected_accounts', { ...sent, organization_id: 'org' })
    expect(answer.status).toBe(400)
    expect(fieldsOf(answer.body)).toEqual(['connected_account.authorization_details.workspace_dwd'])
  })

  it('does not replace the word of the wire', async ({ startMock }) => {
    const { api } = await startMock(withVocabulary())
    const answer = await api.post('/connected_accounts', { connector: 'workspace', identifier: 'ada@example.com' })
    const query = await api.get('/connected_accounts/details', { connector: 'workspace', identifier: 'x' })
    expect(answer.status).toBe(400)
    expect(fieldsOf(answer.body)).toEqual(['app'])
    expect(query.status).toBe(400)
  })

  it('is no longer a value of the enumeration', async ({ startMock }) => {
    const { api, app, environment } = await startMock(withVocabulary())
    const connected_account = { authorization_type: 'WORKSPACE_DWD' }
    const wrong = await api.post('/connected_accounts', { app: 'mail', identifier: 'a', connected_account })
    const entry = app.services.journals.of(environment).query().at(-1)
    const other = { authorization_type: 'ACME_DWD' }
    const refused = await api.post('/connected_accounts', { app: 'mail', identifier: 'b', connected_account: other })
    expect(wrong.status).toBe(201)
    expect(entry?.findings).toMatchObject([{ field: 'connected_account.authorization_type', code: 'ignored' }])
    expect(refused.status).toBe(400)
    expect(refused.body.message).toContain('ACME_DWD')
  })
})

describe('errors in the words of the wire', () => {
  it('translates codes, paths and descriptions', async ({ startMock }) => {
    const { api } = await startMock(withVocabulary())
    const wrong = { authorization_details: { acme_dwd: { subject: 7 } } }
    const answer = await api.post('/connected_accounts', { ...ACCOUNT, connected_account: wrong })
    expect(answer.status).toBe(400)
    expect(answer.body.details[0].error_code).toBe('BAD_REQUEST')
    expect(fieldsOf(answer.body)).toEqual(['connected_account.authorization_details.acme_dwd.subject'])
    expect(answer.body.message).toContain('authorization_details.acme_dwd.subject')
  })

  it('names the parameters of a query', async ({ startMock }) => {
    const { api } = await startMock(withVocabulary({ page_size: 'limit' }))
    const answer = await api.get('/connected_accounts', { limit: 'many' })
    expect(fieldsOf(answer.body)).toEqual(['limit'])
    expect(answer.body.message).toMatch(/^limit must be /)
  })

  it('translates states, and keeps the caller’s own strings unchanged', async ({ startMock }) => {
    const { api } = await startMock(withVocabulary({ EXPIRED: 'STALE', PENDING_AUTH: 'WAITING', connector: 'app' }))
    const created = await api.post('/connected_accounts', { app: 'mail', identifier: 'a' })
    const run = await api.post('/execute_tool', {
      connected_account_id: created.body.connected_account.id,
      tool_name: 'mail_send_message',
      tool_input: { to: 'a@b.example', subject: 'b' },
    })
    const unknown = await api.post('/connected_accounts', { app: 'EXPIRED', identifier: 'a' })
    expect(run.body.message).toContain('WAITING')
    expect(run.body.message).not.toContain('PENDING_AUTH')
    expect(unknown.body.message).toMatch(/^app "EXPIRED"|"EXPIRED"/)
    expect(unknown.body.message).not.toContain('STALE')
  })

  it('reports an unreadable body in the words of the wire too', async ({ startMock }) => {
    const { http, signIn } = await startMock(withVocabulary({ message: 'text', MALFORMED_BODY: 'NO_JSON' }))
    const token = await signIn()
    const answer = await http('post', '/api/v1/connected_accounts')
      .set('Authorization', `Bearer ${token}`)
      .type('json')
      .send('{')
    expect(answer.status).toBe(400)
    expect(answer.body.details[0].error_code).toBe('NO_JSON')
    expect(answer.body).toHaveProperty('text')
  })
})

interface ErrorBody {
  details: [{ validation_error_info: { field_violations: { field: string }[] } }]
}

function fieldsOf(body: ErrorBody): string[] {
  return body.details[0].validation_error_info.field_violations.map(({ field }) => field)
}

it('leaves the names of the headers of the proxy as they are', async ({ startMock }) => {
  const { http, signIn } = await startMock(withVocabulary({ identifier: 'account_name' }))
  const answer = await http('get', '/proxy/v1/messages')
    .set('Authorization', `Bearer ${await signIn()}`)
    .set('connection_name', 'mail')
  const rule = 'send connected_account_id, or connection_name and identifier with organization_id or user_id'
  expect(answer.body).toMatchObject({
    message: `identifier is required: ${rule}`,
    details: [{ validation_error_info: { field_violations: [{ description: `is required: ${rule}` }] } }],
  })
})

describe('the journal of an environment with a vocabulary', () => {
  it('shows requests and answers in the words of the wire, and names the tool', async ({ startMock }) => {
    const mock = await startMock(withVocabulary({ tool_name: 'action', ACCOUNT_NOT_FOUND: 'GONE' }))
    await mock.api.post('/execute_tool', {
      action: 'mail_send_message',
      connected_account_id: 'ca_x',
      tool_input: {},
    })
    const entry = mock.app.services.journals.of(mock.environment).query().at(-1)
    expect(entry).toMatchObject({ tool: 'mail_send_message', request: { body: { action: 'mail_send_message' } } })
    expect(JSON.stringify(entry?.response.body)).toContain('"GONE"')
  })

  it('masks secrets under any name of the wire', async ({ startMock }) => {
    const mock = await startMock(withVocabulary({ access_token: 'key', details: 'parts', static_auth: 'fixed' }))
    const oauth = { oauth_token: { key: 'secret-1' } }
    const fixed = { fixed: { parts: { plain: 'secret-2' } } }
    const sent = [
      { connector: 'mail', identifier: 'a', connected_account: { authorization_details: oauth } },
      { connector: 'helpdesk', identifier: 'a', connected_account: { authorization_details: fixed } },
    ]
    for (const account of sent) expect((await mock.api.post('/connected_accounts', account)).status).toBe(201)
    expect(JSON.stringify(mock.app.services.journals.of(mock.environment).query())).not.toMatch(/secret-\d/)
  })
})

describe('pages and redirects', () => {
  const words = { auth_request_id: 'flow_id', state: 'echo', user_verify_url: 'callback_url', link: 'url' }

  it('go back to the application with parameters named as the wire names the fields', async ({ startMock }) => {
    const { api, follow } = await startMock(withVocabulary(words))
    const asked = {
      connector: 'mail',
      identifier: 'ada@example.com',
      callback_url: 'https://app.example/',
      echo: 's',
    }
    const { body } = await api.post('/connected_accounts/magic_link', asked)
    const denied = await follow(String(body.url), { decision: 'deny' })
    const approved = await follow(String(body.url), { decision: 'approve' })
    const back = new URL(String(approved.headers.location)).searchParams
    const sent = { flow_id: back.get('flow_id'), identifier: 'ada@example.com' }
    expect(String(denied.headers.location)).toContain('echo=s')
    expect([...back.keys()].sort()).toEqual(['echo', 'flow_id'])
    expect((await api.post('/connected_accounts/user/verify', sent)).status).toBe(200)
  })

  it('name fields in the words of the wire', async () => {
    const seed = { settings: { require_user_verification: true, vocabulary: words } }
    await withToolmock({ seed }, async ({ api, follow }) => {
      const { body } = await api.post('/connected_accounts/magic_link', { connector: 'mail', identifier: 'a' })
      const page = await follow(String(body.url), { decision: 'approve' })
      expect(page.status).toBe(400)
      expect(page.text).toContain('callback_url')
      expect(page.text).not.toContain('user_verify_url')
    })
  })

  it('keep names and credentials of a connector unchanged', async () => {
    const mapped = { access_token: 'token', details: 'parts', status: 'phase', name: 'title' }
    await withToolmock(withVocabulary(mapped), async ({ api, follow }) => {
      const { body } = await api.post('/connected_accounts/magic_link', { connector: 'helpdesk', identifier: 'status' })
      const form = await follow(String(body.link))
      expect(form.text).toContain('<bdi>status</bdi>')
      expect(form.text).not.toContain('phase')
    })
  })
})
