import type { Account } from '../../model/domain/account.ts'
import { foldCase } from '../../model/domain/fold-case.ts'
import { invalidField, ruleAndFound, ServiceError } from '../../model/domain/errors.ts'
import type { McpConfig, McpInstance } from '../../model/domain/session-token.ts'
import { didYouMean } from '../../model/domain/suggestion.ts'
import { indexOfText, quote } from '../../model/domain/text.ts'
import { type Environment, now } from '../../state/environment.ts'
import { accountAt, accountStates, configView, knownConfig, newNumber } from './mcp-configs.ts'
import type { Call, Reply } from './operation.ts'
import { pageOfList, positionedRows } from './paging.ts'

/** Where the virtual MCP servers of instances are, below the base URL (G67). */
export const MCP_INSTANCES = '/mcp/v2'

export function listMcpInstances(call: Call<'list_mcp_instances'>): Reply {
  const { environment, query } = call
  const { 'filter.id': id, 'filter.user_identifier': user } = query
  const [name, configName, search] = [query['filter.name'], query['filter.config_name'], query.search].map((text) =>
    foldCase(text ?? ''),
  )
  const instances = positionedRows(environment.model.tables.mcp_instances).filter(
    ({ item }) =>
      (!id || item.id === id) &&
      (!user || item.user_identifier === user) &&
      (!name || foldCase(item.name) === name) &&
      (!configName || knownConfig(environment, item.config_id).name === configName) &&
      (!search || [item.name, item.user_identifier].some((text) => indexOfText(foldCase(text), search) >= 0)),
  )
  const { items, ...pageFields } = pageOfList(environment, 'mcp instances', instances, query)
  return { status: 200, body: { instances: items.map((each) => instanceView(call, each)), ...pageFields } }
}

/** POST /mcp/instances (G67): the one of this config, name and user where there is one. */
export function ensureMcpInstance(call: Call<'ensure_mcp_instance'>): Reply {
  const { environment, body } = call
  const { ids, model } = environment
  const { user_identifier } = body
  const config = configNamed(environment, body.config_name)
  const name = body.name || config.name
  const existing = instanceNamed(environment, { config_id: config.id, name, user_identifier })
  if (existing) return { status: 200, body: { instance: instanceView(call, existing) } }
  const instance: McpInstance = {
    id: `inst_${newNumber(ids)}`,
    name,
    user_identifier,
    config_id: config.id,
    uuid: ids.uuid(),
    updated_at: now(environment),
  }
  model.transact(() => model.tables.mcp_instances.put(instance))
  return { status: 200, body: { instance: instanceView(call, instance) } }
}

export function getMcpInstance(call: Call<'get_mcp_instance'>): Reply {
  const instance = knownInstance(call.environment, call.path['instance_id'])
  return { status: 200, body: { instance: instanceView(call, instance) } }
}

/** PATCH /mcp/instances/{instance_id} (G67): `config_name` gives it the connections of another config. */
export function updateMcpInstance(call: Call<'update_mcp_instance'>): Reply {
  const { environment, body, path } = call
  const before = knownInstance(environment, path['instance_id'])
  const config_id = body.config_name ? configNamed(environment, body.config_name).id : before.config_id
  const instance = { ...before, name: body.name || before.name, config_id, updated_at: now(environment) }
  const sameName = instanceNamed(environment, instance)
  if (sameName && sameName.id !== instance.id) {
    const rule = ruleAndFound(
      'must be a name that no other instance of the config and the user has',
      quote(instance.name),
    )
    throw invalidField('name', rule, 'unique', 'DUPLICATE_IDENTIFIER')
  }
  environment.model.transact(() => environment.model.tables.mcp_instances.put(instance))
  return { status: 200, body: { instance: instanceView(call, instance) } }
}

/** DELETE /mcp/instances/{instance_id} (G67): its URL ends. */
export function deleteMcpInstance({ environment, path }: Call<'delete_mcp_instance'>): Reply {
  const { id } = knownInstance(environment, path['instance_id'])
  environment.model.transact(() => environment.model.tables.mcp_instances.remove(id))
  return { status: 200, body: {} }
}

export async function getMcpInstanceAuthState(call: Call<'get_mcp_instance_auth_state'>): Promise<Reply> {
  const { environment, path, query } = call
  const { config_id, user_identifier } = knownInstance(environment, path['instance_id'])
  const config = knownConfig(environment, config_id)
  const connections = await accountStates(call, config, user_identifier, query.include_auth_links === true)
  return { status: 200, body: { connections } }
}

/** @throws ServiceError MCP_INSTANCE_NOT_FOUND */
function knownInstance(environment: Environment, id = ''): McpInstance {
  const instance = environment.model.tables.mcp_instances.get(id)
  if (instance) return instance
  throw new ServiceError('MCP_INSTANCE_NOT_FOUND', `there is no MCP instance ${quote(id)}`)
}

/** @throws ServiceError VALIDATION_FAILED */
function configNamed({ model }: Environment, name: string): McpConfig {
  const configs = model.tables.mcp_configs.values()
  const config = configs.find((each) => each.name === name)
  if (config) return config
  const configNames = configs.map((each) => each.name)
  const rule = ruleAndFound('must be the name of an MCP config', quote(name)) + didYouMean(name, configNames)
  throw invalidField('config_name', rule, 'known_config')
}

function instanceNamed(
  { model }: Environment,
  { config_id, name, user_identifier }: Pick<McpInstance, 'config_id' | 'name' | 'user_identifier'>,
): McpInstance | undefined {
  const instances = model.tables.mcp_instances.values()
  return instances.find(
    (each) => each.config_id === config_id && each.name === name && each.user_identifier === user_identifier,
  )
}

/** Undefined where the user has none, or several, of which an instance cannot choose one. */
function onlyAccountAt(environment: Environment, connector: string, identifier: string): Account | undefined {
  try {
    return accountAt(environment, connector, identifier)
  } catch (error) {
    if (error instanceof ServiceError && error.errorCode === 'AMBIGUOUS_LOCATOR') return undefined
    throw error
  }
}

/** The zero of a time, for an instance that nobody has used. */
const NEVER = '0001-01-01T00:00:00Z'

function instanceView(call: Pick<Call<'get_mcp_instance'>, 'environment' | 'baseUrl'>, instance: McpInstance) {
  const { id, name, user_identifier, config_id, uuid, last_used_at = NEVER, updated_at } = instance
  const { environment } = call
  const config = configView(call, knownConfig(environment, config_id))
  const connection_tool_mappings = config.connection_tool_mappings.map((mapping) => {
    const account = onlyAccountAt(environment, mapping.connection_name, user_identifier)
    return { ...mapping, connected_account_id: account?.id ?? '', connected_account_status: account?.status ?? '' }
  })
  return {
    id,
    name,
    user_identifier,
    config: { ...config, connection_tool_mappings },
    last_used_at,
    updated_at,
    url: `${call.baseUrl()}${MCP_INSTANCES}/${uuid}`,
  }
}
