import type { Connection } from '../../model/domain/connection.ts'
import type { Connector } from '../../model/domain/connector.ts'
import type { Provider } from '../../model/domain/provider.ts'
import type { Index } from './table.ts'

/** By `key_id`: when its connection was made, or its file or custom provider changed. After a restart: the start. */
export class DefinitionTimes {
  readonly connections: Index<Connection>
  readonly connectors: Index<Connector & { id: string }>
  readonly providers: Index<Provider>
  readonly #times = new Map<string, number>()

  /** @param now the time of the environment, in milliseconds */
  constructor(now: () => number) {
    const note = (keyId: string): void => void this.#times.set(keyId, now())
    this.connections = {
      update: (before, after) => {
        if (!after && before) this.#times.delete(before.key_id)
        // A connection that is switched off and on is still the same connector.
        if (after && before?.type !== after.type) note(after.key_id)
      },
    }
    this.connectors = { update: (_before, after) => after && note(after.connector) }
    this.providers = { update: (_before, after) => after && note(after.identifier) }
  }

  /** Milliseconds. */
  of(keyId: string): number {
    return this.#times.get(keyId) ?? 0
  }
}
