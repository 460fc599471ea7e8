import { describe, expect, it } from 'vitest'
import { ACCOUNT_STATUSES } from '../../src/model/domain/account.ts'
import { AUTHORIZATION_TYPES, CONNECTION_TYPES } from '../../src/model/domain/authorization-type.ts'
import { CONNECTION_STATUSES } from '../../src/model/domain/connection.ts'
import { ERROR_CATALOGUE } from '../../src/model/domain/errors.ts'
import { ownMember } from '../../src/model/domain/json.ts'
import type { JsonObject } from '../../src/model/domain/json.ts'
import {
  components,
  entries,
  follow,
  judge,
  judgeBy,
  list,
  member,
  operations,
  reachable,
  strings,
  text,
} from './document.ts'

/** Method, path and every status of each operation: those of part 4, and more (G6, G7, G14, G15, G44). */
const DECLARED: Record<string, string> = {
  create_token: 'POST /oauth/token 200 400 401 413',
  list_connected_accounts: 'GET /api/v1/connected_accounts 200 400 401',
  update_connected_account: 'PUT /api/v1/connected_accounts 200 400 401 404 413',
  create_connected_account: 'POST /api/v1/connected_accounts 201 400 401 409 413',
  get_connected_account_auth: 'GET /api/v1/connected_accounts/auth 200 400 401 404',
  get_connected_account_details: 'GET /api/v1/connected_accounts/details 200 400 401 404',
  create_magic_link: 'POST /api/v1/connected_accounts/magic_link 200 400 401 413',
  verify_user: 'POST /api/v1/connected_accounts/user/verify 200 400 401 403 404 413',
  delete_connected_account: 'POST /api/v1/connected_accounts:delete 200 400 401 404 413',
  search_connected_accounts: 'GET /api/v1/connected_accounts:search 200 400 401',
  list_connections: 'GET /api/v1/connections 200 400 401',
  create_custom_provider: 'POST /api/v1/custom-providers 201 400 401 413',
  update_custom_provider: 'PUT /api/v1/custom-providers/{identifier} 200 400 401 404 413',
  delete_custom_provider: 'DELETE /api/v1/custom-providers/{identifier} 200 400 401 404',
  execute_tool: 'POST /api/v1/execute_tool 200 400 401 403 404 413 429 500 504',
  list_tools: 'GET /api/v1/tools 200 400 401',
  list_scoped_tools: 'GET /api/v1/tools/scoped 200 400 401',
  list_available_tools: 'GET /api/v1/tools/available 200 400 401 404',
  list_providers: 'GET /api/v1/providers 200 400 401',
  list_app_connections: 'GET /api/v1/connections/app 200 400 401',
  list_mcp_configs: 'GET /api/v1/mcp/configs 200 400 401',
  create_mcp_config: 'POST /api/v1/mcp/configs 201 400 401 413',
  get_mcp_config: 'GET /api/v1/mcp/configs/{config_id} 200 400 401 404',
  update_mcp_config: 'PUT /api/v1/mcp/configs/{config_id} 200 400 401 404 413',
  delete_mcp_config: 'DELETE /api/v1/mcp/configs/{config_id} 200 400 401 404',
  list_mcp_connected_accounts: 'POST /api/v1/mcp/configs/{config_id}/connected_accounts 200 400 401 404 413',
  create_mcp_config_token: 'POST /api/v1/mcp/configs/{mcp_config_id}/tokens 200 400 401 404 413',
  create_mcp_connection_token: 'POST /api/v1/mcp/connections/{key_id}/tokens 200 400 401 404 413',
  list_mcp_instances: 'GET /api/v1/mcp/instances 200 400 401',
  ensure_mcp_instance: 'POST /api/v1/mcp/instances 200 400 401 413',
  get_mcp_instance: 'GET /api/v1/mcp/instances/{instance_id} 200 400 401 404',
  update_mcp_instance: 'PATCH /api/v1/mcp/instances/{instance_id} 200 400 401 404 413',
  delete_mcp_instance: 'DELETE /api/v1/mcp/instances/{instance_id} 200 400 401 404',
  get_mcp_instance_auth_state: 'POST /api/v1/mcp/instances/{instance_id}:get_auth_state 200 400 401 404',
}

const schema = (name: string) => follow({ $ref: `#/components/schemas/${name}` })
const property = (name: string, field: string) => member(member(schema(name), 'properties'), field)

const reached = (pick: (operation: (typeof operations)[number]) => JsonObject[]) => [
  ...new Set(operations.flatMap(pick).flatMap((part) => [...reachable(part)])),
]
const requestSchemas = reached(({ object }) =>
  ownMember(object, 'requestBody') ? [member(object, 'requestBody')] : [],
)
const answerSchemas = reached(({ responses }) =>
  responses.filter(([status]) => status.startsWith('2')).map(([, response]) => response),
)

describe('the operations of the contract', () => {
  it('are those of this table, with exactly these methods, paths and statuses', () => {
    const found = operations.map(({ id, method, path, responses }) => {
      return [id, [method, path, ...responses.map(([status]) => status)].join(' ')]
    })
    expect(Object.fromEntries(found)).toEqual(DECLARED)
  })

  it.each(operations)('carry X-Request-Id on every answer: $id', ({ responses }) => {
    const without = responses.filter(([, response]) => !ownMember(member(response, 'headers'), 'X-Request-Id'))
    expect(without.map(([status]) => status)).toEqual([])
  })

  it.each(operations)('declare what HTTP servers answer in general: $id', ({ responses, transport }) => {
    const declared = [...responses, ...transport].map(([status]) => status)
    expect(declared).toEqual(expect.arrayContaining(['404', '405', '503', 'default']))
    expect(transport.flatMap(([, response]) => [...reachable(response)])).toContain('ErrorBody')
  })

  it.each(operations)('name the scheme on a 401: $id', ({ responses }) => {
    const refused = responses.find(([status]) => status === '401')?.[1]
    expect(refused && Object.keys(member(refused, 'headers'))).toContain('WWW-Authenticate')
  })

  it.each(['query', 'path'])('describe each %s parameter with a type', (place) => {
    const parameters = operations
      .flatMap((operation) => operation.parameters)
      .filter(({ in: where }) => where === place)
    expect(parameters.length).toBeGreaterThan(0)
    expect(parameters.filter((parameter) => !ownMember(follow(member(parameter, 'schema')), 'type'))).toEqual([])
  })
})

it.each([
  ['ErrorCode', schema('ErrorCode'), Object.keys(ERROR_CATALOGUE)],
  ['AuthorizationType', schema('AuthorizationType'), AUTHORIZATION_TYPES],
  ['AccountStatus', schema('AccountStatus'), ACCOUNT_STATUSES],
  ['Connection.status', property('Connection', 'status'), CONNECTION_STATUSES],
  ['Connection.type', property('Connection', 'type'), CONNECTION_TYPES],
])('the enumerations of the contract: list for %s what the domain knows, in its order', (_, holder, values) => {
  expect(strings(holder, 'enum')).toEqual([...values])
})

it('the enumerations of the contract: list every numeric code that the error catalogue uses', () => {
  const codes = [...new Set(Object.values(ERROR_CATALOGUE).map(({ code }) => code))].sort((a, b) => a - b)
  expect(ownMember(property('ErrorBody', 'code'), 'enum')).toEqual(codes)
})

it.each(requestSchemas)('the request schemas: let unknown fields through: %s', (name) => {
  expect(ownMember(schema(name), 'additionalProperties')).not.toBe(false)
  expect(ownMember(schema(name), 'unevaluatedProperties')).toBeUndefined()
})

it('the request schemas: accept any value in output-only fields, which are ignored', () => {
  const sent = {
    id: 1,
    status: 'NONSENSE',
    updated_at: {},
    authorization_details: { workspace_dwd: { scopes: 'x' } },
  }
  expect(judgeBy('ConnectedAccountInput', sent)).toEqual([])
})

const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'v']))
const provider = (fields: JsonObject) => ({ display_name: 'Notes', ...fields })

it.each([
  ['CreateProviderRequest', provider({ metadata: pairs(20) })],
  ['CreateProviderRequest', provider({ metadata: { ['k'.repeat(25)]: 'v'.repeat(256) } })],
  ['CreateProviderRequest', provider({ proxy_url: 'https://proxy.example' })],
  ['UpdateProviderRequest', {}],
  ['CreateConnectedAccountRequest', { connector: 'Az0 _:-', identifier: 'a' }],
  ['UpdateConnectedAccountRequest', { connected_account: {}, connector: '' }],
  ['CreateMagicLinkRequest', {}],
  ['ExecuteToolRequest', { tool_name: 't', params: { a: null } }],
])('the request schemas: accept what is inside the limits: %s %j', (name, value) => {
  expect(judgeBy(name, value)).toEqual([])
})

it.each<[string, unknown]>([
  ['CreateProviderRequest', {}],
  ['CreateProviderRequest', { display_name: '' }],
  ['CreateProviderRequest', { display_name: 'n'.repeat(201) }],
  ['CreateProviderRequest', provider({ metadata: pairs(21) })],
  ['CreateProviderRequest', provider({ metadata: { ab: 'v' } })],
  ['CreateProviderRequest', provider({ metadata: { ['k'.repeat(26)]: 'v' } })],
  ['CreateProviderRequest', provider({ metadata: { abc: '' } })],
  ['CreateProviderRequest', provider({ metadata: { abc: 'v'.repeat(257) } })],
  ['CreateProviderRequest', provider({ metadata: { abc: 1 } })],
  ['CreateProviderRequest', provider({ proxy_url: 'http://proxy.example' })],
  ['CreateProviderRequest', provider({ proxy_url: 'https://proxy.example/\nx' })],
  ['CreateProviderRequest', provider({ auth_patterns: ['OAUTH'] })],
  ['UpdateProviderRequest', { display_name: '' }],
  ['CreateConnectedAccountRequest', { connector: 'mail' }],
  ['CreateConnectedAccountRequest', { identifier: 'a' }],
  ['CreateConnectedAccountRequest', { connector: '', identifier: 'a' }],
  ['CreateConnectedAccountRequest', { connector: 'mail', identifier: '' }],
  ['CreateConnectedAccountRequest', { connector: 'mail/x', identifier: 'a' }],
  ['CreateConnectedAccountRequest', { connector: 'mail', identifier: 'a', connected_account: [] }],
  ['UpdateConnectedAccountRequest', { id: 'ca_1' }],
  ['UpdateConnectedAccountRequest', { id: 1, connected_account: {} }],
  ['UpdateConnectedAccountRequest', { id: 'ca_1', connected_account: { api_config: 'fast' } }],
  ['CreateMagicLinkRequest', { state: 5 }],
  ['VerifyUserRequest', { auth_request_id: 'abc' }],
  ['VerifyUserRequest', { auth_request_id: '', identifier: 'a' }],
  ['VerifyUserRequest', { auth_request_id: 'a+b=', identifier: 'a' }],
  ['VerifyUserRequest', { auth_request_id: 'abc', identifier: '' }],
  ['DeleteConnectedAccountRequest', { id: null }],
  ['ExecuteToolRequest', { tool_input: {} }],
  ['ExecuteToolRequest', { tool_name: '' }],
  ['ExecuteToolRequest', { tool_name: 't', tool_input: [] }],
  ['TokenRequest', { client_id: 'a', client_secret: 'b' }],
  ['TokenRequest', { grant_type: 'password' }],
])('the request schemas: refuse what is outside the limits: %s %j', (name, value) => {
  expect(judgeBy(name, value)).not.toEqual([])
})

it.each([
  ['list_connected_accounts', 'page_size', [0, 100], [-1, 101, 1.5, 'ten']],
  ['list_connected_accounts', 'connection_names', [Array(20).fill('a')], [Array(21).fill('a')]],
  ['search_connected_accounts', 'page_size', [1, 30], [0, 31]],
  ['search_connected_accounts', 'query', ['abc'], ['ab', '']],
  ['list_tools', 'page_size', [0, 1000], [-1, 1001]],
  ['get_connected_account_auth', 'connector', ['', 'a b'], ['a/b']],
])('the request schemas: bound the parameters: %s %s', (id, name, good, bad) => {
  const operation = operations.find((one) => one.id === id)
  const at = operation && list(operation.object, 'parameters').findIndex((one) => follow(one).name === name)
  const reference = operation && list(operation.object, 'parameters')[at ?? -1]
  const start = reference && ownMember(reference, '$ref')
  const schemaPointer = start
    ? `${text(reference, '$ref').slice(1)}/schema`
    : `${operation?.pointer}/parameters/${at}/schema`
  expect(good.flatMap((value) => judge(schemaPointer, value))).toEqual([])
  expect(bad.filter((value) => judge(schemaPointer, value).length === 0)).toEqual([])
})

describe('the answer schemas', () => {
  /** Objects whose shape the service does not define: settings, tool results, JSON Schemas, pairs. */
  const FREE = ['FreeFormObject', 'ProviderMetadata']
  const objects = answerSchemas.filter((name) => ownMember(schema(name), 'type') === 'object' && !FREE.includes(name))

  it.each(objects)('know every field of %s', (name) => {
    expect(ownMember(schema(name), 'additionalProperties')).toBe(false)
  })

  it.each(objects.filter((name) => !name.endsWith('AuthorizationDetails')))(
    'always have every field of %s (G53)',
    (name) => {
      const fields = ownMember(schema(name), 'properties') ? entries(member(schema(name), 'properties')) : []
      const settable = fields.filter(
        ([field]) => !['token_expires_at', 'last_used_at', 'expiry', 'updated_at'].includes(field),
      )
      expect(strings(schema(name), 'required')).toEqual(expect.arrayContaining(settable.map(([field]) => field)))
    },
  )

  it('never contain secrets that the document never returns', () => {
    const fields = answerSchemas.flatMap((name) => Object.keys(ownMember(schema(name), 'properties') ?? {}))
    expect(fields).not.toContain('secret_access_key')
    expect(fields).not.toContain('session_token')
  })

  it('hide every credential in get-details', () => {
    const details = [...reachable({ $ref: '#/components/schemas/PublicAuthorizationDetails' })]
    const fields = details.flatMap((name) => Object.keys(ownMember(schema(name), 'properties') ?? {}))
    const secret = ['access_token', 'refresh_token', 'details', 'access_key_id']
    expect(fields.filter((field) => secret.includes(field))).toEqual([])
  })

  it('give an account the same fields in each of its shapes, lists without api_config and authorization_details', () => {
    const [full, details, summary] = ['ConnectedAccount', 'ConnectedAccountDetails', 'ConnectedAccountSummary'].map(
      (name) => member(schema(name), 'properties'),
    )
    const { api_config, authorization_details, ...rest } = full ?? {}
    expect(summary).toEqual(rest)
    expect({ ...details, authorization_details }).toEqual({ ...rest, api_config, authorization_details })
  })

  it('allow one sub-object of authorization_details at most', () => {
    const both = { static_auth: { details: {} }, trusted_idp: { db_user: '', access_key_id: '' } }
    expect(judgeBy('AuthorizationDetails', both)).not.toEqual([])
  })
})

it.each(components('schemas').map(([name]) => name))('the shared schemas: compile and are described: %s', (name) => {
  expect(() => judgeBy(name, {})).not.toThrow()
  expect(text(schema(name), 'description')).not.toBe('')
})
