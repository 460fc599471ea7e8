import { answering, answersInsteadOfError, answersOtherError, type MutantTable } from '../mutant.ts'

const TOKEN = { token: 'a.b.c', expires_at: '2100-01-01T00:00:00.000Z' }

/** Wrong configs of MCP servers, and wrong session tokens. */
export const MCP_MUTANTS: MutantTable = {
  'mcp/list-pages: the first page of configs is said to be the last': answering(
    'list_mcp_configs',
    (body) => (body.next_page_token = ''),
  ),
  'mcp/list-page-size: a page of configs has at most 100 entries': ({ request }) =>
    request(({ path, query }) => {
      if (path === '/api/v1/mcp/configs' && query.get('page_size') === '31') query.set('page_size', '30')
    }),
  'mcp/list-name: filter.name finds a part of the name': ({ request }) =>
    request(({ query }) => {
      const name = query.get('filter.name')
      if (name === null) return
      query.delete('filter.name')
      query.set('search', name)
    }),
  'mcp/create: the id of a config has letters': answering('create_mcp_config', ({ config }) => (config.id = 'cfg_abc')),
  'mcp/create-duplicate: a name that is in use is a 409': answersOtherError(
    'create_mcp_config',
    'DUPLICATE_IDENTIFIER',
    'ACCOUNT_ALREADY_EXISTS',
  ),
  'mcp/get-missing: an unknown config is a 400': answersOtherError(
    'get_mcp_config',
    'MCP_CONFIG_NOT_FOUND',
    'VALIDATION_FAILED',
  ),
  'mcp/update-tools: an update sorts the tools of a connection': answering('update_mcp_config', ({ config }) => {
    for (const { tools } of config.connection_tool_mappings) tools.reverse()
  }),
  'mcp/update-description: an update without mappings removes them': ({ around }) =>
    around('update_mcp_config', (call, handler) =>
      handler({ ...call, body: { connection_tool_mappings: [], ...call.body } }),
    ),
  'mcp/delete: a deleted config can still be read': ({ around }) =>
    around('delete_mcp_config', () => ({ status: 200, body: {} })),
  'mcp/states: accounts are made without being asked for': ({ around }) =>
    around('list_mcp_connected_accounts', (call, handler) =>
      handler({ ...call, body: { ...call.body, include_auth_link: true } }),
    ),
  'mcp/states-links: there are no links, also where they are asked for': ({ around }) =>
    around('list_mcp_connected_accounts', (call, handler) =>
      handler({ ...call, body: { ...call.body, include_auth_link: false } }),
    ),
  'mcp/token: a token lives for a day': ({ around }) =>
    around('create_mcp_config_token', (call, handler) =>
      handler({ ...call, body: { ...call.body, expiry: '86400s' } }),
    ),
  'mcp/token-inactive: a user without an active account gets a token': answersInsteadOfError(
    'create_mcp_config_token',
    'ACCOUNT_NOT_ACTIVE',
    () => ({ status: 200, body: TOKEN }),
  ),
  'mcp/token-inactive: a user without an active account has sent an invalid request': answersOtherError(
    'create_mcp_config_token',
    'ACCOUNT_NOT_ACTIVE',
    'VALIDATION_FAILED',
  ),
  'mcp/token-empty: a config without connections gives a token': ({ around }) =>
    around('create_mcp_config_token', (call, handler) => {
      const config = call.environment.model.tables.mcp_configs.get(call.path['mcp_config_id'] ?? '')
      return config?.connection_tool_mappings.length === 0 ? { status: 200, body: TOKEN } : handler(call)
    }),
  'mcp/token-missing: a token of an unknown config is a 400': answersOtherError(
    'create_mcp_config_token',
    'MCP_CONFIG_NOT_FOUND',
    'VALIDATION_FAILED',
  ),
  'mcp/token-target: a body may name another target than the path': ({ around }) => {
    for (const operation of ['create_mcp_config_token', 'create_mcp_connection_token'] as const)
      around(operation, (call, handler) => {
        const { mcp_config_id: _config, key_id: _key, ...body } = call.body
        return handler({ ...call, body })
      })
  },
  'mcp/connection-token: a token for a connection needs an account': ({ around }) =>
    around('create_mcp_connection_token', (call, handler) => {
      const found = call.environment.model.accountIndex.where({ identifier: call.body.identifier })
      return found.length > 0 ? handler(call) : { status: 400, body: { code: 9, message: 'no account', details: [] } }
    }),
  'mcp/connection-token-missing: a token for an unknown connection is a 400': answersOtherError(
    'create_mcp_connection_token',
    'CONNECTION_NOT_FOUND',
    'INVALID_CONNECTOR',
  ),
  'mcp/token-expiry: any expiry is accepted': answersInsteadOfError(
    'create_mcp_connection_token',
    'VALIDATION_FAILED',
    () => ({ status: 200, body: TOKEN }),
  ),
}
