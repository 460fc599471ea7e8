import { createHash } from 'node:crypto'
import type { Environment } from '../state/environment.ts'

/** The service's own registration at a third party: one application per environment and connector. */
export interface Application {
  client_id: string
  client_secret: string
}

const PREFIX = 'toolmock-'

/** Derived instead of stored: nobody but this process ever has to know the secret. */
export function applicationOf(environment: Environment, connector: string): Application {
  const secret = createHash('sha256').update(`${environment.name}\n${connector}`).digest('base64url')
  return { client_id: `${PREFIX}${environment.name}`, client_secret: secret }
}

/** The name of the environment whose application a `client_id` names; undefined when it names none. */
export function environmentOfClientId(clientId: string): string | undefined {
  return clientId.startsWith(PREFIX) ? clientId.slice(PREFIX.length) : undefined
}
