/** A value of JSON. A text that begins with `$` stands for the variable of the shell of that name. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** The request that the page of an operation shows. */
export interface Example {
  /** The operations whose examples come first, or `consent`: the user follows the link and approves. */
  readonly before?: readonly string[]
  /** Values of `{name}` in the path. */
  readonly inPath?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number>>
  readonly form?: Readonly<Record<string, string>>
  readonly body?: Json
  /** The variable that a later example takes from the answer: its name, and where in the answer it is. */
  readonly gives?: { readonly variable: string; readonly at: readonly string[] }
}

/** The variable that the redirect after consent gives. */
export const REDIRECT = 'AUTH_REQUEST_ID'

const ADA = { connector: 'mail', identifier: 'ada@example.com' }
const SEND = { tool_name: 'mail_send_message', tool_input: { to: 'grace@example.com', subject: 'Hello' } }
const ACCOUNT = ['create_connected_account']
const PROVIDER = { before: ['create_custom_provider'], inPath: { identifier: '$PROVIDER' } }
const INSTANCE = { before: ['create_mcp_config', 'ensure_mcp_instance'], inPath: { instance_id: '$INSTANCE_ID' } }
const CONFIG = { before: ['create_mcp_config'], inPath: { config_id: '$CONFIG_ID' } }

/** An example for each operation. `test/spec/api-examples.test.ts` sends them in each language. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  create_token: {
    form: {
      client_id: '$TOOLMOCK_CLIENT_ID',
      client_secret: '$TOOLMOCK_CLIENT_SECRET',
      grant_type: 'client_credentials',
    },
  },
  list_connected_accounts: { before: ACCOUNT, query: { connector: 'mail', page_size: 10 } },
  update_connected_account: {
    before: ACCOUNT,
    body: { ...ADA, connected_account: { api_config: { timeout_seconds: 60 } } },
  },
  create_connected_account: {
    body: {
      ...ADA,
      connected_account: { authorization_details: { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1' } } },
    },
  },
  get_connected_account_auth: { before: ACCOUNT, query: ADA },
  get_connected_account_details: { before: ACCOUNT, query: ADA },
  create_magic_link: { body: { ...ADA, user_verify_url: 'http://localhost:3000/verify', state: 'my-state' } },
  verify_user: {
    before: ['create_magic_link', 'consent'],
    body: { auth_request_id: `$${REDIRECT}`, identifier: 'ada@example.com' },
  },
  delete_connected_account: { before: ACCOUNT, body: ADA },
  search_connected_accounts: { before: ACCOUNT, query: { query: 'ada' } },
  list_connections: {},
  create_custom_provider: {
    body: { display_name: 'Acme Notes', auth_patterns: [{ type: 'API_KEY' }], metadata: { team: 'notes' } },
    gives: { variable: 'PROVIDER', at: ['provider', 'identifier'] },
  },
  update_custom_provider: { ...PROVIDER, body: { display_name: 'Acme Notebooks' } },
  delete_custom_provider: PROVIDER,
  execute_tool: { before: ACCOUNT, body: { ...ADA, ...SEND } },
  list_tools: { query: { 'filter.provider': 'mail', page_size: 1 } },
  list_scoped_tools: {
    before: ACCOUNT,
    query: { identifier: 'ada@example.com', 'filter.providers': 'mail', page_size: 1 },
  },
  list_available_tools: {
    before: ACCOUNT,
    query: { identifier: 'ada@example.com', 'filter.providers': 'mail', page_size: 1 },
  },
  list_providers: { query: { page_size: 1 } },
  list_app_connections: { query: { provider: 'mail' } },
  list_mcp_configs: { before: ['create_mcp_config'], query: { page_size: 10 } },
  create_mcp_config: {
    body: {
      name: 'support-agent',
      description: 'Reads mail.',
      connection_tool_mappings: [{ connection_name: 'mail', tools: ['mail_list_messages'] }],
    },
    gives: { variable: 'CONFIG_ID', at: ['config', 'id'] },
  },
  get_mcp_config: CONFIG,
  update_mcp_config: { ...CONFIG, body: { description: 'Reads mail, and nothing else.' } },
  delete_mcp_config: CONFIG,
  list_mcp_connected_accounts: { ...CONFIG, body: { identifier: 'ada@example.com', include_auth_link: true } },
  create_mcp_config_token: {
    before: ['create_connected_account', 'create_mcp_config'],
    inPath: { mcp_config_id: '$CONFIG_ID' },
    body: { identifier: 'ada@example.com' },
  },
  create_mcp_connection_token: { before: ACCOUNT, inPath: { key_id: 'mail' }, body: { identifier: 'ada@example.com' } },
  list_mcp_instances: { before: INSTANCE.before, query: { search: 'ada', page_size: 10 } },
  ensure_mcp_instance: {
    before: ['create_connected_account', 'create_mcp_config'],
    body: { config_name: 'support-agent', user_identifier: 'ada@example.com' },
    gives: { variable: 'INSTANCE_ID', at: ['instance', 'id'] },
  },
  get_mcp_instance: INSTANCE,
  update_mcp_instance: { ...INSTANCE, body: { name: 'support of ada' } },
  delete_mcp_instance: INSTANCE,
  get_mcp_instance_auth_state: { ...INSTANCE, query: { include_auth_links: 'true' } },
}
