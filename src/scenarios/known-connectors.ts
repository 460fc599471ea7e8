import type { Connector } from '../domain/connector.ts'
import type { Environment } from '../state/environment.ts'

/** The connectors of an environment by name, which accounts of a seed may have and scenarios be about (G19). */
export function knownConnectors(environment: Environment): ReadonlyMap<string, Connector> {
  const names = [...environment.model.tables.connections.values()].map(({ key_id }) => key_id)
  return new Map(
    names.flatMap((name) => {
      const connector = environment.connector(name)
      return connector ? [[name, connector] as const] : []
    }),
  )
}
