import { TRAITS } from '../../domain/authorization-type.ts'
import type { Connection } from '../../domain/connection.ts'
import type { Connector } from '../../domain/connector.ts'
import type { JsonObject } from '../../domain/json.ts'
import type { Provider } from '../../domain/provider.ts'
import type { SeedConnection } from '../../domain/seed.ts'
import type { Environment } from '../environment.ts'

/**
 * Puts a connector with its connection and its provider. A connector that only serves custom providers has neither (G47).
 * Only inside a transaction.
 */
export function putConnector(environment: Environment, connector: Connector): void {
  const { connectors, connections, providers } = environment.model.tables
  connectors.put({ ...connector, id: connector.connector })
  if (connector.custom_provider !== null) return
  const { connectionType: type } = TRAITS[connector.authorization_type]
  const connection =
    connectionNamed(environment, connector.connector) ?? newConnection(environment, connector.connector)
  connections.put({ ...connection, type })
  providers.put(providerOf(environment, connector))
}

/** Puts a connection, or changes what a connector's connection has beside its defaults. Only inside a transaction. */
export function putConnection(environment: Environment, seed: SeedConnection): void {
  const connection = connectionNamed(environment, seed.key_id) ?? newConnection(environment, seed.key_id)
  const { connections } = environment.model.tables
  const id = seed.id ?? connection.id
  if (id !== connection.id) connections.remove(connection.id)
  connections.put({ ...connection, ...seed, id })
}

export function connectionNamed(environment: Environment, keyId: string): Connection | undefined {
  for (const connection of environment.model.tables.connections.values()) {
    if (connection.key_id === keyId) return connection
  }
  return undefined
}

/** A connection as it is made for a name: the enumeration value is the name in upper case (G41). */
export function newConnection({ ids }: Environment, keyId: string): Connection {
  return {
    id: ids.id('conn'),
    key_id: keyId,
    organization_id: '',
    organization_name: '',
    domains: [],
    enabled: true,
    provider: keyId.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_'),
    provider_key: keyId,
    status: 'COMPLETED',
    type: 'API_KEY',
    mcp_server_url: '',
  }
}

/** Each connector is also a provider that is not custom, with its name as identifier ("Discovery"). */
function providerOf({ ids, model }: Environment, connector: Connector): Provider {
  const { connector: identifier, display_name, description, icon_src, categories } = connector
  const before = [...model.tables.providers.values()].find((each) => !each.is_custom && each.identifier === identifier)
  return {
    id: before?.id ?? ids.id('prv'),
    identifier,
    display_name,
    description,
    icon_src,
    auth_patterns: [patternOf(connector)],
    categories,
    coming_soon: false,
    display_priority: 0,
    is_custom: false,
    is_custom_mcp: false,
    metadata: {},
    proxy_enabled: false,
    proxy_url: '',
  }
}

/** What the mock reads in the patterns of custom providers (G38), written for its own. */
function patternOf({ authorization_type: type, display_name, credentials, oauth }: Connector): JsonObject {
  const fields = credentials.fields.map((field): JsonObject => ({ ...field }))
  return {
    type,
    display_name,
    ...(fields.length > 0 && { fields }),
    ...(oauth.scopes.length > 0 && { oauth_config: { scopes: oauth.scopes } }),
  }
}
