import type { Connection } from '../../domain/connection.ts'
import type { Connector } from '../../domain/connector.ts'
import { connectorOfConnection, connectorOfProvider } from '../../domain/connector-defaults.ts'
import type { Provider } from '../../domain/provider.ts'
import type { Model } from './model.ts'

/**
 * The connectors of an environment by `key_id` (G19): connector files, custom providers, bare connections. Rows are
 * immutable, so what was worked out of one holds for as long as the row does.
 */
export class ConnectorDirectory {
  readonly #model: Model
  readonly #ofProvider = new WeakMap<Provider, { template: Connector | undefined; connector: Connector }>()
  readonly #ofConnection = new WeakMap<Connection, Connector>()

  constructor(model: Model) {
    this.#model = model
  }

  find(keyId: string): Connector | undefined {
    const { connectors, providers, connections } = this.#model.tables
    const file = connectors.get(keyId)
    if (file?.custom_provider === null) return file
    for (const provider of providers.values()) {
      if (provider.is_custom && provider.identifier === keyId) return this.#connectorOfProvider(provider)
    }
    for (const connection of connections.values()) {
      if (connection.key_id === keyId) return this.#connectorOfConnection(connection)
    }
    return undefined
  }

  #connectorOfProvider(provider: Provider): Connector {
    const template = this.#templateOf(provider)
    const known = this.#ofProvider.get(provider)
    if (known && known.template === template) return known.connector
    const connector = connectorOfProvider(provider, template)
    this.#ofProvider.set(provider, { template, connector })
    return connector
  }

  /** The connector file that gives custom providers of this display name their tools and responders (G47). */
  #templateOf(provider: Provider): Connector | undefined {
    for (const connector of this.#model.tables.connectors.values()) {
      if (connector.custom_provider === provider.display_name) return connector
    }
    return undefined
  }

  #connectorOfConnection(connection: Connection): Connector | undefined {
    const known = this.#ofConnection.get(connection)
    if (known) return known
    const connector = connectorOfConnection(connection)
    if (connector) this.#ofConnection.set(connection, connector)
    return connector
  }
}

/** One look-up; whoever asks often keeps a {@link ConnectorDirectory}. */
export function resolveConnector(model: Model, keyId: string): Connector | undefined {
  return new ConnectorDirectory(model).find(keyId)
}
