import { expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../../src/app/document-checks.ts'
import { documentText } from '../../../src/files/document-text.ts'
import { parseConnector } from '../../../src/files/read.ts'
import type { JsonObject } from '../../../src/model/domain/json.ts'
import { documentsOf } from '../../../src/compare/record/documents.ts'
import type { Recorded, RecordedBody } from '../../../src/compare/record/recorded.ts'
import { Secrets } from '../../../src/compare/record/secrets.ts'

const bodyOf = (value: JsonObject): RecordedBody => {
  const bytes = Buffer.from(JSON.stringify(value))
  return { bytes, size: bytes.length }
}

function recorded(method: string, target: string, asked: JsonObject, status: number, answered: JsonObject): Recorded {
  const headers = [['content-type', 'application/json']] as const
  return {
    ...{ startedAt: 0, durationMs: 1, method, target, request: { headers, body: bodyOf(asked) } },
    response: { status, reason: '', headers, body: bodyOf(answered), isTorn: false },
  }
}

/** A created account of a connector that asks for these fields, as it was recorded. */
function created(details: JsonObject): Recorded {
  const account = { connector: 'vault', identifier: 'ada@example.com' }
  const asked = { ...account, connected_account: { authorization_details: { static_auth: { details } } } }
  const answered = { connected_account: { id: 'ca_1', ...account, authorization_type: 'CUSTOM' } }
  return recorded('POST', '/api/v1/connected_accounts', asked, 201, answered)
}

it.each([
  [
    { api_key: 'k-1', tenant_id: 't-1' },
    { 'X-API-Key': '{{credentials.api_key}}', 'X-Tenant-Id': '{{credentials.tenant_id}}' },
  ],
  [{}, { 'X-API-Key': '{{credentials.api_key}}' }],
])('a connector of type CUSTOM sends the recorded fields %j in headers of their names', async (details, headers) => {
  const secrets = new Secrets({ names: [], maskIdentifiers: false })
  const { connectors } = documentsOf([created(details)], secrets)
  const text = documentText(connectors.get('vault')!, 'recorded')
  const { credentials } = await parseConnector(text, 'vault.yaml', DOCUMENT_CHECKS)
  expect(credentials.send).toEqual({ headers, query: {} })
})

it('a connector has the type of its accounts, where its connection has the type of several', () => {
  const connections = [{ id: 'conn_1', key_id: 'vault', type: 'API_KEY' }]
  const listed = recorded('GET', '/api/v1/connections', {}, 200, { connections })
  const secrets = new Secrets({ names: [], maskIdentifiers: false })
  const { connectors } = documentsOf([listed, created({})], secrets)
  expect(connectors.get('vault')).toMatchObject({ authorization_type: 'CUSTOM' })
})

it('a connector of delegated access has the scopes that its accounts show', () => {
  const account = { id: 'ca_1', connector: 'vault', identifier: 'ada@example.com', authorization_type: 'WORKSPACE_DWD' }
  const authorization_details = { workspace_dwd: { subject: 'ada@example.com', scopes: ['calendar'] } }
  const answered = { connected_account: { ...account, authorization_details } }
  const shown = recorded('GET', '/api/v1/connected_accounts/details?id=ca_1', {}, 200, answered)
  const { connectors } = documentsOf([shown], new Secrets({ names: [], maskIdentifiers: false }))
  expect(connectors.get('vault')).toMatchObject({ oauth: { scopes: ['calendar'] } })
})

it.each([
  [
    'tools',
    '/tools',
    ['calendar', 'mail', 'vault'].map((provider) => ({ provider, definition: { name: `${provider}_a` } })),
  ],
  ['providers', '/providers', ['calendar', 'mail', 'vault'].map((identifier) => ({ identifier }))],
])('connectors are in the order in which the service lists %s, whichever was used first', (key, path, items) => {
  const account = { connector: 'calendar', identifier: 'ada@example.com' }
  const second = recorded('POST', '/api/v1/connected_accounts', account, 201, {
    connected_account: { id: 'ca_2', ...account, authorization_type: 'OAUTH' },
  })
  const listed = recorded('GET', `/api/v1${path}`, {}, 200, { [key]: items })
  const { seed } = documentsOf([created({}), second, listed], new Secrets({ names: [], maskIdentifiers: false }))
  expect((seed['connectors'] as string[]).filter((name) => name !== 'mail')).toEqual(['calendar', 'vault'])
})

it('a connector of which a magic link alone was recorded is in the seed, so that the link can be replayed', () => {
  const link = { link: 'https://service.example/magic/x', expiry: '2026-01-01T00:15:00.000Z' }
  const asked = { connector: 'mail', identifier: 'ada@example.com' }
  const linked = recorded('POST', '/api/v1/connected_accounts/magic_link', asked, 200, link)
  const { seed } = documentsOf([linked], new Secrets({ names: [], maskIdentifiers: false }))
  expect(seed).toEqual({ connectors: ['mail'] })
})

it('connectors whose names differ in a blank, hyphen, colon or case have a file each, and names that are not allowed none', () => {
  const account = (connector: string, id: string): Recorded =>
    recorded('GET', `/api/v1/connected_accounts/details?id=${id}`, {}, 200, {
      connected_account: { id, connector, identifier: 'ada@example.com', authorization_type: 'OAUTH' },
    })
  const names = ['my mail', 'my-mail', 'my:mail', 'My mail', 'my/mail', 'm'.repeat(300)]
  const { seed, connectors, notes } = documentsOf(
    names.map((name, at) => account(name, `ca_${at}`)),
    new Secrets({ names: [], maskIdentifiers: false }),
  )
  expect([...connectors.keys()]).toEqual(['my-mail', 'my-mail_2', 'my-mail_3', 'My-mail_4'])
  expect((seed['accounts'] as JsonObject[]).map(({ connector }) => connector)).toEqual(names.slice(0, 4))
  expect(notes).toEqual([
    'left out: "my/mail", a name that the service does not take',
    expect.stringMatching(/^left out: "m+….*, a name that the service does not take$/),
  ])
})

it('answers that would make a file too large for the mock are left out, with a note', () => {
  const call = (letter: string): Recorded =>
    recorded(
      ...(['POST', '/api/v1/execute_tool'] as const),
      { connector: 'mail', identifier: 'ada', tool_name: 'mail_get', tool_input: { letter } },
      ...([200, { data: { text: letter.repeat(4_800_000) }, execution_id: 'x' }] as const),
    )
  const { connectors, notes } = documentsOf([call('a'), call('b')], new Secrets({ names: [], maskIdentifiers: false }))
  expect(connectors.get('mail')).toMatchObject({ responders: [{ on: { body: { letter: 'a' } } }, { respond: {} }] })
  expect(notes).toEqual(['left out: an answer of mail_get, with which its file would be too large for the mock'])
})

it('a tool has what lists showed of it, and its third party fails with the same words', async () => {
  const definition = {
    ...{ name: 'vault_open', display_name: 'Open', description: 'Opens it.', input_schema: { type: 'object' } },
    ...{ output_schema: { type: 'object', required: ['door'] }, annotations: { read_only_hint: true, title: 'Open' } },
  }
  const listed = recorded('GET', '/api/v1/tools', {}, 200, { tools: [{ provider: 'vault', definition }] })
  const call = (code: string, status: number) => {
    const asked = { connector: 'vault', identifier: 'ada@example.com', tool_name: 'vault_open', tool_input: { code } }
    const tool_error_info = { tool_error_code: code, tool_error_message: `it said ${code}` }
    return recorded('POST', '/api/v1/execute_tool', asked, status, {
      details: [{ error_code: 'TOOL_ERROR', tool_error_info }],
    })
  }
  const calls = [call('missing_scope', 403), call('422', 500), call('unusable_answer', 500), call('unauthorized', 401)]
  const secrets = new Secrets({ names: [], maskIdentifiers: false })
  const { connectors } = documentsOf([created({}), listed, ...calls], secrets)
  const text = documentText(connectors.get('vault')!, 'recorded')
  const { tools, responders } = await parseConnector(text, 'vault.yaml', DOCUMENT_CHECKS)
  expect(tools).toMatchObject([{ ...definition, annotations: { read_only_hint: true } }])
  expect(responders.map(({ answers: [answer] }) => answer)).toMatchObject([
    { status: 403, body: { code: 'missing_scope', message: 'it said missing_scope' } },
    { status: 422, body: { message: 'it said 422' } },
    { status: 404 },
  ])
})

it('several connections of one provider are one connector, whose answers tell their accounts apart', () => {
  const connections = ['vault-eu', 'vault', 'notes'].map((key_id) => ({
    ...{ id: `conn_${key_id}`, key_id, type: 'API_KEY' },
    provider_key: key_id === 'notes' ? 'notes' : 'vault',
  }))
  const call = (connector: string, secret: string): Recorded => {
    const asked = { connector, identifier: 'ada@example.com', tool_name: 'vault_read', tool_input: {} }
    return recorded('POST', '/api/v1/execute_tool', asked, 200, { data: { secret }, execution_id: 'exec_1' })
  }
  const exchanges = [
    recorded('GET', '/api/v1/connections', {}, 200, { connections }),
    call('vault-eu', 'of eu'),
    call('vault', 'of us'),
  ]
  const { seed, connectors } = documentsOf(exchanges, new Secrets({ names: [], maskIdentifiers: false }))
  expect([...connectors.keys()]).toEqual(['vault'])
  expect(seed).toMatchObject({
    connectors: ['vault'],
    connections: [
      { key_id: 'vault-eu', provider_key: 'vault' },
      { key_id: 'vault', provider_key: 'vault' },
      { key_id: 'notes', type: 'API_KEY' },
    ],
    accounts: [{ connector: 'vault-eu' }, { connector: 'vault' }],
  })
  expect((seed['connections'] as JsonObject[])[0]).not.toHaveProperty('type')
  const { tools, responders } = connectors.get('vault') as { tools: JsonObject[]; responders: { on: JsonObject }[] }
  expect(tools).toHaveLength(1)
  expect(responders.slice(0, 2).map(({ on }) => on['account'])).toMatchObject([
    { connector: 'vault-eu' },
    { connector: 'vault' },
  ])
})

it.each([
  ['JSON', (text: string) => text],
  ['an event', (text: string) => `event: message\ndata: ${text}\n\n`],
])('MCP that answers %s: its settings, its tools and what they answered are kept', (_form, written) => {
  const mcp = (method: string, params: JsonObject, result: JsonObject, headers: [string, string][] = []): Recorded => {
    const bytes = Buffer.from(written(JSON.stringify({ jsonrpc: '2.0', id: 1, result })))
    const sent = recorded('POST', '/mcp/v3/connections/poll', { method, params }, 200, {})
    const request = { ...sent.request, headers: [...sent.request.headers, ['identifier', 'ada@example.com'] as const] }
    return { ...sent, request, response: { ...sent.response!, headers, body: { bytes, size: bytes.length } } }
  }
  const outputSchema = { type: 'object', required: ['state'], properties: { state: { type: 'string' } } }
  const tool = {
    name: 'poll_state',
    inputSchema: { type: 'object' },
    outputSchema,
    annotations: { readOnlyHint: true },
  }
  const call = (state: string) =>
    mcp('tools/call', { name: 'poll_state', arguments: {} }, { content: [], structuredContent: { state } })
  const exchanges = [
    mcp('initialize', {}, { protocolVersion: '2025-06-18' }, [['mcp-session-id', 'session-1']]),
    mcp('tools/list', {}, { tools: [tool, { ...tool, name: 'poll_stop' }], nextCursor: 'next' }),
    mcp('tools/list', { cursor: 'next' }, { tools: [{ ...tool, name: 'poll_rest' }] }),
    call('queued'),
    call('done'),
  ]
  const { seed, connectors } = documentsOf(exchanges, new Secrets({ names: [], maskIdentifiers: false }))
  expect(seed).toMatchObject({
    settings: { virtual_mcp: true, mcp: { page_size: 2, sessions: true } },
    connectors: ['poll'],
    accounts: [{ connector: 'poll', identifier: 'ada@example.com', status: 'ACTIVE' }],
  })
  const { tools, responders } = connectors.get('poll') as { tools: JsonObject[]; responders: JsonObject[] }
  expect(tools.map(({ name }) => name)).toEqual(['poll_state', 'poll_stop', 'poll_rest'])
  expect(tools[0]).toMatchObject({ output_schema: outputSchema, annotations: { read_only_hint: true } })
  expect(responders[0]).toMatchObject({ sequence: [{ body: { state: 'queued' } }, { body: { state: 'done' } }] })
})
