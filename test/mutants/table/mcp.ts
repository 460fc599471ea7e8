import { answering, answersInsteadOfError, answersOtherError, type Mutant } from '../mutant.ts'

const TOKEN = { token: 'a.b.c', expires_at: '2100-01-01T00:00:00.000Z' }

/** Wrong configs of MCP servers, and wrong session tokens. */
export const MCP_MUTANTS: readonly Mutant[] = [
  {
    name: 'mcp-configs-one-page',
    what: 'the first page of configs is said to be the last',
    caughtBy: 'mcp/list-pages',
    mutate: answering('list_mcp_configs', (body) => (body.next_page_token = '')),
  },
  {
    name: 'mcp-configs-hundred',
    what: 'a page of configs has at most 100 entries',
    caughtBy: 'mcp/list-page-size',
    mutate: ({ request }) =>
      request(({ path, query }) => {
        if (path === '/api/v1/mcp/configs' && query.get('page_size') === '31') query.set('page_size', '30')
      }),
  },
  {
    name: 'mcp-configs-name-part',
    what: 'filter.name finds a part of the name',
    caughtBy: 'mcp/list-name',
    mutate: ({ request }) =>
      request(({ query }) => {
        const name = query.get('filter.name')
        if (name === null) return
        query.delete('filter.name')
        query.set('search', name)
      }),
  },
  {
    name: 'mcp-config-id-letters',
    what: 'the id of a config has letters',
    caughtBy: 'mcp/create',
    mutate: answering('create_mcp_config', ({ config }) => (config.id = 'cfg_abc')),
  },
  {
    name: 'mcp-config-exists',
    what: 'a name that is in use is a 409',
    caughtBy: 'mcp/create-duplicate',
    mutate: answersOtherError('create_mcp_config', 'DUPLICATE_IDENTIFIER', 'ACCOUNT_ALREADY_EXISTS'),
  },
  {
    name: 'mcp-config-unknown',
    what: 'an unknown config is a 400',
    caughtBy: 'mcp/get-missing',
    mutate: answersOtherError('get_mcp_config', 'MCP_CONFIG_NOT_FOUND', 'VALIDATION_FAILED'),
  },
  {
    name: 'mcp-update-sorts',
    what: 'an update sorts the tools of a connection',
    caughtBy: 'mcp/update-tools',
    mutate: answering('update_mcp_config', ({ config }) => {
      for (const { tools } of config.connection_tool_mappings) tools.reverse()
    }),
  },
  {
    name: 'mcp-update-empties',
    what: 'an update without mappings removes them',
    caughtBy: 'mcp/update-description',
    mutate: ({ around }) =>
      around('update_mcp_config', (call, handler) =>
        handler({ ...call, body: { connection_tool_mappings: [], ...call.body } }),
      ),
  },
  {
    name: 'mcp-delete-keeps',
    what: 'a deleted config can still be read',
    caughtBy: 'mcp/delete',
    mutate: ({ around }) => around('delete_mcp_config', () => ({ status: 200, body: {} })),
  },
  {
    name: 'mcp-states-make',
    what: 'accounts are made without being asked for',
    caughtBy: 'mcp/states',
    mutate: ({ around }) =>
      around('list_mcp_connected_accounts', (call, handler) =>
        handler({ ...call, body: { ...call.body, include_auth_link: true } }),
      ),
  },
  {
    name: 'mcp-states-without-links',
    what: 'there are no links, also where they are asked for',
    caughtBy: 'mcp/states-links',
    mutate: ({ around }) =>
      around('list_mcp_connected_accounts', (call, handler) =>
        handler({ ...call, body: { ...call.body, include_auth_link: false } }),
      ),
  },
  {
    name: 'mcp-token-a-day',
    what: 'a token lives for a day',
    caughtBy: 'mcp/token',
    mutate: ({ around }) =>
      around('create_mcp_config_token', (call, handler) =>
        handler({ ...call, body: { ...call.body, expiry: '86400s' } }),
      ),
  },
  {
    name: 'mcp-token-of-anybody',
    what: 'a user without an active account gets a token',
    caughtBy: 'mcp/token-inactive',
    mutate: answersInsteadOfError('create_mcp_config_token', 'ACCOUNT_NOT_ACTIVE', () => ({
      status: 200,
      body: TOKEN,
    })),
  },
  {
    name: 'mcp-token-inactive-code',
    what: 'a user without an active account has sent an invalid request',
    caughtBy: 'mcp/token-inactive',
    mutate: answersOtherError('create_mcp_config_token', 'ACCOUNT_NOT_ACTIVE', 'VALIDATION_FAILED'),
  },
  {
    name: 'mcp-token-of-nothing',
    what: 'a config without connections gives a token',
    caughtBy: 'mcp/token-empty',
    mutate: ({ around }) =>
      around('create_mcp_config_token', (call, handler) => {
        const config = call.environment.model.tables.mcp_configs.get(call.path['mcp_config_id'] ?? '')
        return config?.connection_tool_mappings.length === 0 ? { status: 200, body: TOKEN } : handler(call)
      }),
  },
  {
    name: 'mcp-token-unknown',
    what: 'a token of an unknown config is a 400',
    caughtBy: 'mcp/token-missing',
    mutate: answersOtherError('create_mcp_config_token', 'MCP_CONFIG_NOT_FOUND', 'VALIDATION_FAILED'),
  },
  {
    name: 'mcp-token-of-two-targets',
    what: 'a body may name another target than the path',
    caughtBy: 'mcp/token-target',
    mutate: ({ around }) => {
      for (const operation of ['create_mcp_config_token', 'create_mcp_connection_token'] as const)
        around(operation, (call, handler) => {
          const { mcp_config_id: _config, key_id: _key, ...body } = call.body
          return handler({ ...call, body })
        })
    },
  },
  {
    name: 'mcp-connection-token-of-the-connected',
    what: 'a token for a connection needs an account',
    caughtBy: 'mcp/connection-token',
    mutate: ({ around }) =>
      around('create_mcp_connection_token', (call, handler) => {
        const found = call.environment.model.accountIndex.where({ identifier: call.body.identifier })
        return found.length > 0 ? handler(call) : { status: 400, body: { code: 9, message: 'no account', details: [] } }
      }),
  },
  {
    name: 'mcp-connection-unknown',
    what: 'a token for an unknown connection is a 400',
    caughtBy: 'mcp/connection-token-missing',
    mutate: answersOtherError('create_mcp_connection_token', 'CONNECTION_NOT_FOUND', 'INVALID_CONNECTOR'),
  },
  {
    name: 'mcp-token-of-any-age',
    what: 'any expiry is accepted',
    caughtBy: 'mcp/token-expiry',
    mutate: answersInsteadOfError('create_mcp_connection_token', 'VALIDATION_FAILED', () => ({
      status: 200,
      body: TOKEN,
    })),
  },
]
