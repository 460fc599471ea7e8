import { fieldName } from '../../model/contract/violation.ts'
import type { Account } from '../../model/domain/account.ts'
import { providerOf } from '../../model/domain/connector.ts'
import { invalidField, ruleAndFound, ServiceError } from '../../model/domain/errors.ts'
import { isJsonObject } from '../../model/domain/json.ts'
import { accountByLocator } from '../../model/domain/locator.ts'
import type { McpConfig, McpMapping } from '../../model/domain/session-token.ts'
import { foldCase } from '../../model/domain/fold-case.ts'
import { indexOfText, quote } from '../../model/domain/text.ts'
import { connectionOf, type Environment } from '../../state/environment.ts'
import { connectionNamed, isOfAccounts, knownConnector } from './connections.ts'
import { createMagicLink } from './magic-links.ts'
import type { Call, Reply } from './operation.ts'
import { pageOfList, positionedRows } from './paging.ts'

/** Where the virtual MCP servers of configs are, below the base URL (G67). */
export const MCP_SERVERS = '/mcp/v3/servers'

export function listMcpConfigs(call: Call<'list_mcp_configs'>): Reply {
  const { environment, query } = call
  const { 'filter.id': id, 'filter.provider': provider } = query
  const [name, search] = [query['filter.name'], query.search].map((text) => foldCase(text ?? ''))
  const uuid = query['filter.mcp_server_url']?.split('/').findLast((part) => part !== '')
  const configs = positionedRows(environment.model.tables.mcp_configs).filter(
    ({ item }) =>
      (!id || item.id === id) &&
      (!name || foldCase(item.name) === name) &&
      (!uuid || item.uuid === uuid) &&
      (!search || indexOfText(foldCase(item.name), search) >= 0) &&
      (!provider || mappingsOf(environment, item).some((mapping) => mapping.provider === provider)),
  )
  const { items, ...pageFields } = pageOfList(environment, 'mcp configs', configs, query)
  return { status: 200, body: { configs: items.map((each) => configView(call, each)), ...pageFields } }
}

export function createMcpConfig(call: Call<'create_mcp_config'>): Reply {
  const { environment, body } = call
  const { ids, model } = environment
  const { name, description = '', connection_tool_mappings = [] } = body
  if ([...model.tables.mcp_configs.values()].some((config) => config.name === name)) {
    const description = ruleAndFound('must be a name that no other config has', quote(name))
    throw invalidField('name', description, 'unique', 'DUPLICATE_IDENTIFIER')
  }
  const config: McpConfig = {
    id: `cfg_${newNumber(ids)}`,
    name,
    description,
    uuid: ids.uuid(),
    connection_tool_mappings: checkedMappings(environment, connection_tool_mappings),
  }
  model.transact(() => model.tables.mcp_configs.put(config))
  return { status: 201, body: { config: configView(call, config) } }
}

export function getMcpConfig(call: Call<'get_mcp_config'>): Reply {
  return { status: 200, body: { config: configView(call, knownConfig(call.environment, call.path['config_id'])) } }
}

/** PUT /mcp/configs/{config_id} (G67): without mappings they stay. */
export function updateMcpConfig(call: Call<'update_mcp_config'>): Reply {
  const { environment, body, path } = call
  const before = knownConfig(environment, path['config_id'])
  const { description = before.description, connection_tool_mappings: mappings } = body
  const connection_tool_mappings = mappings ? checkedMappings(environment, mappings) : before.connection_tool_mappings
  const config = { ...before, description, connection_tool_mappings }
  environment.model.transact(() => environment.model.tables.mcp_configs.put(config))
  return { status: 200, body: { config: configView(call, config) } }
}

/** DELETE /mcp/configs/{config_id} (G67): its server, its tokens and its instances end. */
export function deleteMcpConfig({ environment, path }: Call<'delete_mcp_config'>): Reply {
  const { id } = knownConfig(environment, path['config_id'])
  const { mcp_configs, mcp_instances } = environment.model.tables
  environment.model.transact(() => {
    for (const instance of mcp_instances.values()) if (instance.config_id === id) mcp_instances.remove(instance.id)
    mcp_configs.remove(id)
  })
  return { status: 200, body: {} }
}

/** How long a link of these calls lives, in milliseconds. */
const LINK_LIFETIME = 60_000

export async function listMcpConnectedAccounts(call: Call<'list_mcp_connected_accounts'>): Promise<Reply> {
  const { environment, path, body } = call
  const config = knownConfig(environment, path['config_id'])
  const connected_accounts = await accountStates(call, config, body.identifier, body.include_auth_link === true)
  return { status: 200, body: { connected_accounts } }
}

/** The account of a user at each connection of a config; with links, those that are missing are made (G67). */
export async function accountStates(
  call: Call<'list_mcp_connected_accounts' | 'get_mcp_instance_auth_state'>,
  config: McpConfig,
  identifier: string,
  withLinks: boolean,
) {
  const { environment } = call
  const states = []
  for (const { connection_name, connection_id, provider } of mappingsOf(environment, config)) {
    const account = accountAt(environment, connection_name, identifier)
    const hasLink = withLinks && connectionOf(environment, connection_name)?.enabled === true
    const locator = account ? { id: account.id } : { connector: connection_name, identifier }
    const response = hasLink ? (await createMagicLink({ ...call, query: {}, body: locator }, LINK_LIFETIME)).body : {}
    const storedAccount = accountAt(environment, connection_name, identifier)
    states.push({
      connection_id,
      connection_name,
      provider,
      connected_account_id: storedAccount?.id ?? '',
      connected_account_status: storedAccount?.status ?? '',
      authentication_link: isJsonObject(response) ? (response['link'] ?? '') : '',
    })
  }
  return states
}

/** For the id of a config or an instance. */
export function newNumber(ids: Environment['ids']): string {
  return `${ids.number()}${String(ids.number()).padStart(10, '0')}`
}

/** @throws ServiceError MCP_CONFIG_NOT_FOUND */
export function knownConfig(environment: Environment, id = ''): McpConfig {
  const config = environment.model.tables.mcp_configs.get(id)
  if (config) return config
  throw new ServiceError('MCP_CONFIG_NOT_FOUND', `there is no MCP config ${quote(id)}`)
}

/** The account of an identifier at a connector; undefined where it has none. @throws ServiceError AMBIGUOUS_LOCATOR (G21) */
export function accountAt({ model }: Environment, connector: string, identifier: string): Account | undefined {
  try {
    return accountByLocator(model.accountIndex, { connector, identifier }, false)
  } catch (error) {
    if (error instanceof ServiceError && error.errorCode === 'ACCOUNT_NOT_FOUND') return undefined
    throw error
  }
}

/** The URL of a config's server: where these calls are served, so is the server. */
export function configUrl({ baseUrl }: Pick<Call<'get_mcp_config'>, 'baseUrl'>, { uuid }: McpConfig): string {
  return `${baseUrl()}${MCP_SERVERS}/${uuid}`
}

export function configView(call: Pick<Call<'get_mcp_config'>, 'environment' | 'baseUrl'>, config: McpConfig) {
  const { id, name, description } = config
  const connection_tool_mappings = mappingsOf(call.environment, config)
  return { id, name, description, connection_tool_mappings, mcp_server_url: configUrl(call, config) }
}

/** The mappings with what they name as it is now: a connection may have been deleted. */
function mappingsOf(environment: Environment, { connection_tool_mappings }: McpConfig) {
  return connection_tool_mappings.map(({ connection_name, tools }) => {
    const connector = environment.connector(connection_name)
    return {
      connection_name,
      tools,
      connection_id: connectionOf(environment, connection_name)?.id ?? '',
      provider: connector ? providerOf(connector) : '',
    }
  })
}

/** @throws ServiceError INVALID_CONNECTOR and VALIDATION_FAILED for connections and tools that are not there, or there twice */
function checkedMappings(
  environment: Environment,
  mappings: readonly { readonly connection_name: string; readonly tools?: readonly string[] }[],
): McpMapping[] {
  const connectionNames = new Set<string>()
  return mappings.map(({ connection_name: name, tools = [] }, at) => {
    const field = (...path: (string | number)[]): string => fieldName(['connection_tool_mappings', at, ...path])
    const connection = connectionNamed(environment, name)
    const connection_name = connection?.key_id ?? name
    const connector = knownConnector(environment, connection_name, field('connection_name'))
    if (connection && !isOfAccounts(connection)) throw notOfAccounts(field('connection_name'), name)
    if (connectionNames.has(connection_name))
      throw invalidField(field('connection_name'), ruleAndFound('must be there once', quote(name)), 'unique')
    connectionNames.add(connection_name)
    const names = connector.tools.map((tool) => tool.name)
    for (const [index, tool] of tools.entries()) {
      if (names.includes(tool)) continue
      const rule = `must be one of the tools of ${connection_name}: ${names.join(', ') || 'it has none'}`
      throw invalidField(field('tools', index), ruleAndFound(rule, quote(tool)), 'known_tool')
    }
    return { connection_name, tools: [...new Set(tools)] }
  })
}

export function notOfAccounts(field: string, name: string): ServiceError {
  const description = ruleAndFound('must be a connection of accounts, not of single sign-on', quote(name))
  return invalidField(field, description, 'known_connector', 'INVALID_CONNECTOR')
}
