import { foldCase } from '../../model/domain/fold-case.ts'
import { AUTHORIZATION_TYPES, TRAITS } from '../../model/domain/authorization-type.ts'
import type { Connection } from '../../model/domain/connection.ts'
import type { Connector } from '../../model/domain/connector.ts'
import { invalidField, ruleAndFound, ServiceError } from '../../model/domain/errors.ts'
import { maskText } from '../../model/domain/masking.ts'
import { listAllowed } from '../../model/domain/suggestion.ts'
import { quote } from '../../model/domain/text.ts'
import { IllegalMoveError } from '../../state/account-events.ts'
import { connectionOf, type Environment } from '../../state/environment.ts'
import type { Call, Reply } from './operation.ts'

/** GET /connections (4.10): all that match the filters, in seed order (G42). The document shows no filter. */
export function listConnections(call: Call<'list_connections'>): Reply {
  const { environment, query, documentedOnly } = call
  const { organization_id, domain }: typeof query = documentedOnly ? {} : query
  const connections = [...environment.model.tables.connections.values()].filter(
    (each) =>
      (!organization_id || each.organization_id === organization_id) && (!domain || each.domains.includes(domain)),
  )
  return { status: 200, body: { connections: connections.map((each) => withServerUrl(call, each)) } }
}

/** Where the virtual MCP servers of connections are, below the base URL (G61). */
export const MCP_CONNECTIONS = '/mcp/v3/connections'

/** What decides whether an environment has virtual MCP servers. */
type McpSwitches = Pick<Call<'list_connections'>, 'environment' | 'mcp' | 'documentedOnly'>

/** Whether the connections of an environment have virtual MCP servers: by `--mcp`, or by its setting `virtual_mcp` (G61). */
export function hasVirtualServers({ environment, mcp, documentedOnly }: McpSwitches): boolean {
  return mcp || (!documentedOnly && environment.settings.virtual_mcp === true)
}

/** A connection as it is answered: the URL of its virtual MCP server begins with the base URL of the request. */
export function withServerUrl(
  call: McpSwitches & Pick<Call<'list_connections'>, 'baseUrl'>,
  connection: Connection,
): Connection {
  if (!hasVirtualServers(call) || !isOfAccounts(connection)) return connection
  return {
    ...connection,
    mcp_server_url: `${call.baseUrl()}${MCP_CONNECTIONS}/${encodeURIComponent(connection.key_id)}`,
  }
}

/** Whether accounts can be at a connection; single sign-on is on the others (G49). */
export function isOfAccounts({ type }: Connection): boolean {
  return ACCOUNT_TYPES.has(type)
}

const ACCOUNT_TYPES: ReadonlySet<Connection['type']> = new Set(
  AUTHORIZATION_TYPES.map((type) => TRAITS[type].connectionType),
)

/** @throws ServiceError INVALID_CONNECTOR, a 400, for create and magic link (G19) */
export function knownConnector(environment: Environment, name: string, field = 'connector'): Connector {
  const connector = environment.connector(name)
  if (connector) return connector
  const connectorNames = [...environment.connectors.keys()]
  const description = ruleAndFound(`must be one of ${listAllowed(name, connectorNames)}`, quote(maskText(name)))
  throw invalidField(field, description, 'known_connector', 'INVALID_CONNECTOR')
}

/** The connection of a name in upper or lower case, first of all the one that is written so (G67). */
export function connectionNamed(environment: Environment, name: string): Connection | undefined {
  const folded = foldCase(name)
  return (
    connectionOf(environment, name) ??
    [...environment.model.tables.connections.values()].find(({ key_id }) => foldCase(key_id) === folded)
  )
}

/** Whether calls reach a connector: its connection is not switched off. */
export function isEnabled(environment: Environment, connector: string): boolean {
  return connectionOf(environment, connector)?.enabled !== false
}

/** @throws ServiceError CONNECTION_DISABLED when the connection is switched off ("States") */
export function refuseDisabled(environment: Environment, connector: string): void {
  if (isEnabled(environment, connector)) return
  const message = `the connection of connector ${quote(connector)} is disabled; enable it to go on`
  throw new ServiceError('CONNECTION_DISABLED', message)
}

/** The events of a connection; only the control API causes them ("States"). */
export const CONNECTION_EVENTS = ['start', 'complete', 'enable', 'disable'] as const
export type ConnectionEvent = (typeof CONNECTION_EVENTS)[number]

type State = Pick<Connection, 'status' | 'enabled'>

const MOVES: { readonly [Event in ConnectionEvent]: { readonly from: Partial<State>; readonly to: Partial<State> } } = {
  start: { from: { status: 'DRAFT' }, to: { status: 'IN_PROGRESS' } },
  complete: { from: { status: 'IN_PROGRESS' }, to: { status: 'COMPLETED' } },
  enable: { from: { enabled: false }, to: { enabled: true } },
  disable: { from: { enabled: true }, to: { enabled: false } },
}

/** The connection with this id, or with this `key_id` (2.5); undefined when there is none. */
export function findConnection(environment: Environment, idOrKey: string): Connection | undefined {
  return environment.model.tables.connections.get(idOrKey) ?? connectionOf(environment, idOrKey)
}

/** @throws IllegalMoveError */
export function applyConnectionEvent(
  { model }: Environment,
  connection: Connection,
  event: ConnectionEvent,
): Connection {
  if (!isLegal(connection, event)) {
    const from = `${connection.status}, ${connection.enabled ? 'enabled' : 'disabled'}`
    const allowed = CONNECTION_EVENTS.filter((each) => isLegal(connection, each))
    const message = `connection ${connection.id} is ${from}: ${event} is not allowed; allowed: ${allowed.join(', ')}`
    throw new IllegalMoveError(message, from, event, allowed)
  }
  const moved = { ...connection, ...MOVES[event].to }
  model.transact(() => {
    model.tables.connections.put(moved)
  })
  return moved
}

function isLegal(connection: Connection, event: ConnectionEvent): boolean {
  const { from } = MOVES[event]
  return (
    (from.status === undefined || from.status === connection.status) &&
    (from.enabled === undefined || from.enabled === connection.enabled)
  )
}

/** The URL of the virtual MCP server of a connector's connection; empty where there is none. */
export function serverUrlOf(call: Parameters<typeof withServerUrl>[0], connector: string): string {
  const connection = connectionOf(call.environment, connector)
  return connection ? withServerUrl(call, connection).mcp_server_url : ''
}
