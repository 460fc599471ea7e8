import type { Connection } from '../domain/connection.ts'
import type { Connector, Tool } from '../domain/connector.ts'
import { connectionOf, hasVirtualServers, isOfAccounts } from '../operations/connections.ts'
import type { ServiceParts } from '../http/services.ts'
import type { Environment } from '../state/environment.ts'

/** Where a virtual server is. */
export interface ServerAddress {
  /** Below the base URL, encoded: `/mcp/v3/connections/mail`. */
  readonly path: string
  /** Its last part, decoded. */
  readonly key: string
}

/** A tool of a virtual server, with what it depends on. */
export interface ServerTool {
  readonly connection: Connection
  readonly connector: Connector
  readonly tool: Tool
}

/** The tools of the server at an address, in the order of their connector; undefined where there is no server (G61). */
export function serverTools(
  environment: Environment,
  { key }: ServerAddress,
  { mcp, documentedOnly }: Pick<ServiceParts, 'mcp' | 'documentedOnly'>,
): readonly ServerTool[] | undefined {
  if (!hasVirtualServers({ environment, mcp, documentedOnly })) return undefined
  const connection = connectionOf(environment, key)
  const connector = environment.connector(key)
  if (!connection || !connector || !isOfAccounts(connection)) return undefined
  return connector.tools.map((tool) => ({ connection, connector, tool }))
}
