import type { Connection } from '../domain/connection.ts'
import type { Connector } from '../domain/connector.ts'
import { ServiceError } from '../domain/errors.ts'
import { quote } from '../domain/text.ts'
import type { Environment } from '../state/environment.ts'

/** @throws ServiceError INVALID_CONNECTOR, a 400, for create and magic link (G19) */
export function knownConnector(environment: Environment, name: string): Connector {
  const connector = environment.connector(name)
  if (connector) return connector
  const known = connectorsOf(environment).map((each) => each.connector)
  const description = `found the string ${quote(name)}, expected one of ${known.slice(0, 30).join(', ')}`
  throw new ServiceError('INVALID_CONNECTOR', `connector: ${description}`, {
    violations: [{ field: 'connector', description, constraint: 'known_connector' }],
  })
}

/** Every connector of the environment, in the order of its connections (G42). */
export function connectorsOf(environment: Environment): Connector[] {
  return [...environment.model.tables.connections.values()].flatMap(({ key_id }) => environment.connector(key_id) ?? [])
}

/** The connection behind a connector; undefined once it has been deleted. */
export function connectionOf(environment: Environment, connector: string): Connection | undefined {
  for (const connection of environment.model.tables.connections.values()) {
    if (connection.key_id === connector) return connection
  }
  return undefined
}

/** @throws ServiceError CONNECTION_DISABLED when the connection is switched off ("States") */
export function refuseDisabled(environment: Environment, connector: string): void {
  if (connectionOf(environment, connector)?.enabled !== false) return
  const message = `the connection of connector ${quote(connector)} is disabled; enable it to go on`
  throw new ServiceError('CONNECTION_DISABLED', message)
}
