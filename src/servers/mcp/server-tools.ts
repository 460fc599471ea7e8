import type { Connection } from '../../model/domain/connection.ts'
import type { Connector, Tool } from '../../model/domain/connector.ts'
import type { McpConfig, McpMapping } from '../../model/domain/session-token.ts'
import { hasVirtualServers, isOfAccounts } from '../../service/operations/connections.ts'
import type { ServiceParts } from '../http/services.ts'
import { connectionOf, type Environment } from '../../state/environment.ts'

/** Where a virtual server is. */
export interface ServerAddress {
  /** Below the base URL, encoded: `/mcp/v3/connections/mail`. */
  readonly path: string
  /** Whether it is the server of a connection, of a config, or of an instance. */
  readonly kind: 'connections' | 'servers' | 'instances'
  /** The last part of the path, decoded: the `key_id` of the connection, or the UUID of the config or instance. */
  readonly key: string
}

/** A tool of a virtual server, with what it depends on. */
export interface ServerTool {
  readonly connection: Connection
  readonly connector: Connector
  readonly tool: Tool
}

/** What a server is asked for: by whom, and where. */
export interface ServerRequest {
  readonly caller: { readonly isReadOnly: boolean }
  readonly address: ServerAddress
}

/**
 * The tools of the server at an address that a caller may use, in the order of their connector or mapping; undefined where
 * there is no server (G61). Names are unique: of two connections whose tools have one name, the first in the config has it.
 */
export function serverTools(
  environment: Environment,
  { caller, address: { kind, key } }: ServerRequest,
  { mcp, documentedOnly }: Pick<ServiceParts, 'mcp' | 'documentedOnly'>,
): readonly ServerTool[] | undefined {
  if (!hasVirtualServers({ environment, mcp, documentedOnly })) return undefined
  const all =
    kind === 'connections'
      ? toolsOf(environment, { connection_name: key, tools: [] })
      : toolsOfConfig(configAt(environment, kind, key), environment)
  const byName = new Map<string, ServerTool>()
  for (const each of all ?? []) {
    const isHidden = caller.isReadOnly && each.tool.annotations?.read_only_hint !== true
    if (!isHidden && !byName.has(each.tool.name)) byName.set(each.tool.name, each)
  }
  return all && [...byName.values()]
}

function configAt({ model }: Environment, kind: 'servers' | 'instances', key: string): McpConfig | undefined {
  const { mcp_configs, mcp_instances } = model.tables
  if (kind === 'servers') return mcp_configs.values().find(({ uuid }) => uuid === key)
  const instance = mcp_instances.values().find(({ uuid }) => uuid === key)
  return instance && mcp_configs.get(instance.config_id)
}

function toolsOfConfig(config: McpConfig | undefined, environment: Environment): ServerTool[] | undefined {
  return config?.connection_tool_mappings.flatMap((mapping) => toolsOf(environment, mapping) ?? [])
}

function toolsOf(environment: Environment, { connection_name, tools: chosen }: McpMapping): ServerTool[] | undefined {
  const connection = connectionOf(environment, connection_name)
  const connector = environment.connector(connection_name)
  if (!connection || !connector || !isOfAccounts(connection)) return undefined
  const { tools } = connector
  const listed = chosen.length === 0 ? tools : chosen.flatMap((name) => tools.find((tool) => tool.name === name) ?? [])
  return listed.map((tool) => ({ connection, connector, tool }))
}
