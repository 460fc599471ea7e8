import { answering, answersInsteadOfError, answersOtherError, type Mutant, type MutantTable } from '../mutant.ts'

/** Wrong instances of MCP configs. */
export const MCP_INSTANCE_MUTANTS: MutantTable = {
  'mcp/instance-pages: the first page of instances is said to be the last': answering(
    'list_mcp_instances',
    (body) => (body.next_page_token = ''),
  ),
  'mcp/instance-filters: filter.config_name is ignored': ({ request }) =>
    request(({ query }) => query.delete('filter.config_name')),
  'mcp/instance-filters: filter.user_identifier is ignored': ({ request }) =>
    request(({ query }) => query.delete('filter.user_identifier')),
  'mcp/instance-page-size: a page of instances has any size': ({ request }) =>
    request(({ path, query }) => {
      if (path === '/api/v1/mcp/instances' && query.get('page_size') === '31') query.set('page_size', '30')
    }),
  'mcp/instance: an instance that nobody has used was used when it was made': answering(
    'ensure_mcp_instance',
    ({ instance }) => (instance.last_used_at = instance.updated_at),
  ),
  'mcp/instance-again: each create makes another instance': ({ around }) =>
    around('ensure_mcp_instance', (call, handler) =>
      handler({ ...call, body: { ...call.body, name: call.environment.ids.uuid() } }),
    ),
  'mcp/instance-config: an instance of an unknown config is a 404': answersOtherError(
    'ensure_mcp_instance',
    'VALIDATION_FAILED',
    'MCP_CONFIG_NOT_FOUND',
  ),
  'mcp/instance-url: the URL of an instance is that of its config': answering(
    'ensure_mcp_instance',
    ({ instance }) => (instance.url = instance.config.mcp_server_url),
  ),
  'mcp/initialize: initialize answers with the newest revision': changingMcp(
    '"protocolVersion":"2025-06-18"',
    '"protocolVersion":"2025-11-25"',
  ),
  'mcp/call: the result of a call is a text alone': changingMcp('"structuredContent":', '"other":'),
  'mcp/call-refused: a refused call is no error': changingMcp('"isError":true', '"isError":false'),
  'mcp/unknown-method: an unknown method is an invalid request': changingMcp('-32601', '-32600'),
  'mcp/tool-pages: the first page of tools/list is the last': changingMcp(/,"nextCursor":"[^"]*"/, ''),
  'mcp/session: an ended session goes on': ({ reply }) =>
    reply((answer, { method, path }) => {
      if (method === 'POST' && path.startsWith('/mcp/v2/') && answer.status === 404)
        Object.assign(answer, { status: 200, body: { jsonrpc: '2.0', id: 1, result: { tools: [] } } })
    }),
  'mcp/instance-get: an instance that is read has no config': answering(
    'get_mcp_instance',
    ({ instance }) => (instance.config.connection_tool_mappings = []),
  ),
  'mcp/instance-missing: an unknown instance is a 400': answersOtherError(
    'get_mcp_instance',
    'MCP_INSTANCE_NOT_FOUND',
    'VALIDATION_FAILED',
  ),
  'mcp/instance-rename: a new name is ignored': ({ around }) =>
    around('update_mcp_instance', (call, handler) => {
      const { name: _, ...body } = call.body
      return handler({ ...call, body })
    }),
  'mcp/instance-move: another config is ignored': ({ around }) =>
    around('update_mcp_instance', (call, handler) => {
      const { config_name: _, ...body } = call.body
      return handler({ ...call, body })
    }),
  'mcp/instance-delete: a deleted instance is still there': ({ around }) =>
    around('delete_mcp_instance', () => ({ status: 200, body: {} })),
  'mcp/instance-config-delete: an instance outlives its config': ({ around }) => {
    around('delete_mcp_config', () => ({ status: 200, body: {} }))
  },
  'mcp/auth-state: accounts are made without being asked for': ({ around }) =>
    around('get_mcp_instance_auth_state', (call, handler) =>
      handler({ ...call, query: { ...call.query, include_auth_links: true } }),
    ),
  'mcp/auth-state-links: there are no links, also where they are asked for': ({ around }) =>
    around('get_mcp_instance_auth_state', (call, handler) => handler({ ...call, query: {} })),
  'mcp/instance-missing: an unknown instance is an empty answer': answersInsteadOfError(
    'get_mcp_instance',
    'MCP_INSTANCE_NOT_FOUND',
    () => ({ status: 200, body: {} }),
  ),
}

/** Another text in the answers of MCP servers, which are JSON or events. */
function changingMcp(from: string | RegExp, to: string): Mutant['mutate'] {
  return ({ reply }) =>
    reply((answer, { path }) => {
      if (!path.startsWith('/mcp/')) return
      const text = typeof answer.body === 'object' ? JSON.stringify(answer.body) : String(answer.body ?? '')
      answer.body = text.replace(from, to)
    })
}
