import type { ExplanationDocument } from '../../src/journal/request-journal/explain.ts'
import type { Response } from 'supertest'
import { expect, it } from 'vitest'
import { pretty } from '../../.build/generate/pretty.ts'
import { ROOT } from '../../.build/project.ts'
import type { JsonObject, JsonValue } from '../../src/model/domain/json.ts'
import { ADA, createAccount, createActive, pendingRequest, TOKENS } from '../support/accounts.ts'
import { type TestOptions, type TestToolmock, withToolmock } from '../support/toolmock.ts'
import { TWELVE_SEEDS } from '../support/twelve-connectors.ts'
import { components, member } from './document.ts'

type Provoke = (mock: TestToolmock) => Promise<Response>

const EXECUTE = { ...ADA, tool_name: 'mail_send_message', tool_input: { to: 'grace@example.com', subject: 'Hello' } }

const IMPATIENT = {
  connector: 'impatient',
  display_name: 'Impatient',
  authorization_type: 'NO_AUTH',
  tools: [{ name: 'ask', description: 'Asks.', call: { method: 'GET', path: '/v1/ask', timeout: '50ms' } }],
}

/** For each example of an error a request that causes it. */
const PROVOKED: Readonly<Record<string, Provoke | [TestOptions, Provoke]>> = {
  TokenInvalidRequest: (mock) => token(mock, { grant_type: '' }),
  TokenUnsupportedGrantType: (mock) => token(mock, { grant_type: 'password' }),
  TokenInvalidClient: (mock) => token(mock, { client_secret: 'wrong' }),
  ValidationFailed: ({ api }) => api.get('/connected_accounts', { page_size: '500' }),
  UnknownParameter: [{ strict: true }, ({ api }) => api.get('/connected_accounts', { pagesize: '5' })],
  SearchTextTooShort: ({ api }) => api.get('/connected_accounts:search', { query: 'ad' }),
  InvalidProxyUrl: ({ api }) =>
    api.post('/custom-providers', { display_name: 'Acme Notes', proxy_url: 'http://proxy.acme.example' }),
  MalformedBody: ({ api }) => api.post('/connected_accounts', []),
  UnsupportedContentType: async ({ http, signIn }) => {
    const bearer = `Bearer ${await signIn()}`
    return http('post', '/api/v1/connected_accounts').set('Authorization', bearer).type('text/plain').send('{}')
  },
  MissingLocator: ({ api }) => api.get('/connected_accounts/details', { connector: 'mail' }),
  AmbiguousLocator: async (mock) => {
    for (const user_id of ['user_1', 'user_2']) await createAccount(mock, { user_id })
    return mock.api.get('/connected_accounts/details', ADA)
  },
  ContradictingLocator: async (mock) => {
    const { id } = await createAccount(mock)
    return mock.api.get('/connected_accounts/details', { id, connector: 'weather' })
  },
  InvalidConnector: [
    { seeds: TWELVE_SEEDS },
    ({ api }) => api.post('/connected_accounts', { ...ADA, connector: 'mial' }),
  ],
  InvalidAuthorizationDetails: ({ api }) =>
    api.post('/connected_accounts', {
      ...ADA,
      connected_account: { authorization_details: { static_auth: { details: { api_key: 'key_1' } } } },
    }),
  InvalidPageToken: async (mock) => {
    for (const user_id of ['user_1', 'user_2']) await createAccount(mock, { user_id })
    const { body } = await mock.api.get('/connected_accounts', { page_size: '1' })
    return mock.api.get('/connected_accounts', { page_token: body.next_page_token, connector: 'mail' })
  },
  InvalidToolInput: async (mock) => {
    await createActive(mock)
    return mock.api.post('/execute_tool', { ...EXECUTE, tool_input: { to: 'grace@example.com' } })
  },
  AccountNotActive: async (mock) => {
    const { id } = await createActive(mock)
    await mock.http('post', `/_mock/accounts/${id}/expire`)
    return mock.api.post('/execute_tool', EXECUTE)
  },
  ConnectionDisabled: async (mock) => {
    await createActive(mock)
    const { body } = await mock.api.get('/connections')
    const { id } = body.connections.find(({ key_id }: { key_id: string }) => key_id === 'mail')
    await mock.http('post', `/_mock/connections/${id}/disable`)
    return mock.api.post('/execute_tool', EXECUTE)
  },
  DuplicateIdentifier: [
    { mcp: true },
    async ({ api }) => {
      await api.post('/mcp/configs', { name: 'support-agent' })
      return api.post('/mcp/configs', { name: 'support-agent' })
    },
  ],
  UnknownConnection: [
    { mcp: true, seeds: TWELVE_SEEDS },
    ({ api }) => api.post('/mcp/configs', { name: 'a', connection_tool_mappings: [{ connection_name: 'mial' }] }),
  ],
  UnknownConfig: [
    { mcp: true },
    async ({ api }) => {
      await api.post('/mcp/configs', { name: 'support-agent' })
      return api.post('/mcp/instances', { config_name: 'suport-agent', user_identifier: ADA.identifier })
    },
  ],
  McpInstanceNotFound: [{ mcp: true }, ({ api }) => api.get('/mcp/instances/inst_1')],
  McpConfigNotFound: [{ mcp: true }, ({ api }) => api.get('/mcp/configs/cfg_1')],
  ConnectionNotFound: [
    { mcp: true },
    ({ api }) => api.post('/mcp/connections/mial/tokens', { identifier: ADA.identifier }),
  ],
  Unauthenticated: ({ http }) => http('get', '/api/v1/connected_accounts'),
  IdentifierMismatch: async (mock) => {
    const auth_request_id = await pendingRequest(mock, ADA)
    return mock.api.post('/connected_accounts/user/verify', { auth_request_id, identifier: 'grace@example.com' })
  },
  AccountNotFound: ({ api }) => api.get('/connected_accounts/details', { id: 'ca_unknown' }),
  AuthRequestNotFound: ({ api }) =>
    api.post('/connected_accounts/user/verify', { auth_request_id: 'bm9ib2R5', identifier: ADA.identifier }),
  ProviderNotFound: ({ api }) => api.delete('/custom-providers/acme-notes'),
  ToolNotFound: async (mock) => {
    await createActive(mock)
    return mock.api.post('/execute_tool', { ...EXECUTE, tool_name: 'mail_fly' })
  },
  AccountAlreadyExists: async (mock) => {
    await createAccount(mock)
    return mock.api.post('/connected_accounts', ADA)
  },
  BodyTooLarge: ({ api }) => api.post('/connected_accounts', { ...ADA, user_id: 'x'.repeat(2 ** 20) }),
  ToolUnauthorized: (mock) => executed(mock, { respond: { status: 401, body: { error: 'token_revoked' } } }),
  ToolForbidden: (mock) => executed(mock, { respond: { status: 403, body: { error: 'missing_scope' } } }),
  ToolRateLimited: (mock) =>
    executed(mock, {
      respond: { status: 429, headers: { 'Retry-After': '30' }, body: { error: 'too_many_requests' } },
    }),
  ToolFailed: async (mock) => {
    await createActive(mock)
    return mock.api.post('/execute_tool', {
      ...EXECUTE,
      tool_input: { to: 'someone@blocked.example', subject: 'Hello' },
    })
  },
  ToolTimedOut: [
    { seed: { connectors: [IMPATIENT] } },
    (mock) => executed(mock, { timeout: {} }, { connector: 'impatient', identifier: ADA.identifier, tool_name: 'ask' }),
  ],
}

/** Errors of requests that are of no operation, which the examples of the document leave out. */
const GENERAL: Readonly<Record<string, Provoke>> = {
  PathNotFound: ({ api }) => api.get('/connected_acounts'),
  MethodNotAllowed: async (mock) =>
    mock.http('patch', '/api/v1/connected_accounts').set('Authorization', `Bearer ${await mock.signIn()}`),
}

/** What the reference of errors shows: each request with its answer and explanation. `vitest -u` writes it, and `npm run generate` reads it. */
const RECORDED = '.build/generate/recorded/errors.json'

const examples = errorExamples()
const recorded: Record<string, unknown> = {}

it('are all produced here', () => {
  expect(Object.keys(PROVOKED).sort()).toEqual([...examples.keys()].sort())
})

it.each([...examples])('%s is the answer of the mock', async (name, example) => {
  const provoked = PROVOKED[name] ?? []
  const [options, provoke] = typeof provoked === 'function' ? [{}, provoked] : provoked
  await withToolmock(options ?? {}, async (mock) => {
    const answer = await provoke!(mock)
    expect(withoutRandomValues(answer.body)).toEqual(withoutRandomValues(example))
    recorded[name] = await recordOf(mock, answer)
  })
})

it('and general ones are explained as docs/errors.md shows', async () => {
  for (const [name, provoke] of Object.entries(GENERAL))
    await withToolmock({}, async (mock) => {
      recorded[name] = await recordOf(mock, await provoke(mock))
    })
  const text = await pretty(ROOT, RECORDED, JSON.stringify(recorded))
  await expect(text).toMatchFileSnapshot(`${ROOT}${RECORDED}`)
})

/** Bodies that were sent and that the journal does not have, because the mock did not read them. */
const UNREAD: Readonly<Record<string, string>> = {
  UNSUPPORTED_CONTENT_TYPE: '{}',
  BODY_TOO_LARGE: 'a body of more than 1 MiB',
}

/** A request as it was sent, its answer, and why it got that. */
async function recordOf({ http }: TestToolmock, { body, status, headers }: Response): Promise<JsonValue> {
  const at = `/_mock/requests/${headers['x-request-id']}`
  const { method, path, query, request: sent, operation } = (await http('get', at)).body.request
  const { cause, because, actions, facts } = (await http('get', `${at}/explain`)).body as ExplanationDocument
  const said = [cause.map((part) => part.text).join(''), ...(because === null ? [] : [because])].join('\n')
  const advice = actions.map((action) => action.text)
  const request = {
    method,
    path,
    query,
    headers: headersOf(sent.headers),
    body: sent.body ?? UNREAD[body.details?.[0]?.error_code] ?? null,
    operation,
  }
  return withoutRandomValues({ request, status, answer: body, because: said, facts: [...facts], advice })
}

/** The headers that decide about an error: whether there is a token, and the type of the body. */
function headersOf({ authorization, 'content-type': type }: Readonly<Record<string, string>>): string[] {
  const [scheme, token] = authorization?.split(' ') ?? []
  return [
    ...(scheme === undefined ? [] : [`Authorization: ${scheme}${token === undefined ? '' : ' TOKEN'}`]),
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
  ]
}

/** The error examples of the document by name. */
function errorExamples(): Map<string, JsonObject> {
  const shown = components('examples').map(([name, example]) => [name, member(example, 'value')] as const)
  return new Map(shown.filter(([, value]) => 'code' in value || 'error' in value))
}

/** Replaces what differs from run to run: ids, tokens of links, ports and real times. */
function withoutRandomValues(value: JsonValue): JsonValue {
  const text = JSON.stringify(value)
    .replaceAll(/\b(req|exec|ca)_[a-z0-9]{20}\b/g, '$1_…')
    .replaceAll(/(?<![\w-])[\w-]{43}(?![\w-])/g, '…')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:8665')
    .replaceAll(/ after \d+ ms/g, ' after … ms')
  return JSON.parse(text) as JsonValue
}

async function token({ http }: TestToolmock, changes: object): Promise<Response> {
  const form = { grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'test_secret', ...changes }
  return http('post', '/oauth/token').type('form').send(form)
}

type Named = typeof ADA & { tool_name: string }

/** Executes a tool while a scenario has this effect on the third party. */
async function executed(mock: TestToolmock, effect: object, body: Named = EXECUTE): Promise<Response> {
  const { connector, identifier } = body
  await createActive(mock, { connector, identifier }, connector === ADA.connector ? TOKENS : {})
  const scenario = { name: 'failing', rules: [{ name: 'fails', at: 'third_party', do: [effect] }] }
  await mock.http('put', '/_mock/scenarios/failing').send(scenario)
  await mock.http('post', '/_mock/scenarios/failing/start')
  return mock.api.post('/execute_tool', body)
}
