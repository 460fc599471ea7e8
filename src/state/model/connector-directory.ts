import type { Connection } from '../../domain/connection.ts'
import type { Connector } from '../../domain/connector.ts'
import { connectorOfConnection, connectorOfProvider } from '../../domain/connector-defaults.ts'
import type { Provider } from '../../domain/provider.ts'
import type { Model } from './model.ts'

/**
 * Finds connectors by `key_id` (G19): connector files, custom providers, bare connections. Those of providers and connections
 * are computed once for each row, because rows are immutable.
 */
export class ConnectorDirectory {
  readonly #ofProvider = new WeakMap<Provider, { template: Connector | undefined; connector: Connector }>()
  readonly #ofConnection = new WeakMap<Connection, Connector>()

  readonly find = (model: Model, keyId: string): Connector | undefined => {
    const { connectors, providers, connections } = model.tables
    const file = connectors.get(keyId)
    if (file?.custom_provider === null) return file
    for (const provider of providers.values()) {
      if (provider.is_custom && provider.identifier === keyId) return this.#connectorOfProvider(model, provider)
    }
    for (const connection of connections.values()) {
      if (connection.key_id === keyId) return this.#connectorOfConnection(connection)
    }
    return undefined
  }

  #connectorOfProvider({ tables }: Model, provider: Provider): Connector {
    const template = templateOf(provider, tables.connectors.values())
    const known = this.#ofProvider.get(provider)
    if (known && known.template === template) return known.connector
    const connector = connectorOfProvider(provider, template)
    this.#ofProvider.set(provider, { template, connector })
    return connector
  }

  #connectorOfConnection(connection: Connection): Connector | undefined {
    const known = this.#ofConnection.get(connection)
    if (known) return known
    const connector = connectorOfConnection(connection)
    if (connector) this.#ofConnection.set(connection, connector)
    return connector
  }
}

/** The connector file that gives custom providers of this display name their tools and responders (G47). */
function templateOf(provider: Provider, connectors: Iterable<Connector>): Connector | undefined {
  for (const connector of connectors) if (connector.custom_provider === provider.display_name) return connector
  return undefined
}
