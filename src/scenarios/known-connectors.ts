import type { Connector } from '../domain/connector.ts'
import type { Environment } from '../store/environment.ts'

/** The connectors that an environment has by name, which scenarios may be about (G19). */
export function knownConnectors(environment: Environment): ReadonlyMap<string, Connector> {
  const { connections, connectors, providers } = environment.model.tables
  const names = [
    ...[...connections.values()].map(({ key_id }) => key_id),
    ...[...connectors.values()].map(({ connector }) => connector),
    ...[...providers.values()].map(({ identifier }) => identifier),
  ]
  return new Map(
    names.flatMap((name) => {
      const connector = environment.connector(name)
      return connector ? [[name, connector] as const] : []
    }),
  )
}
