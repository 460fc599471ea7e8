import { createHash, createHmac } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../domain/json.ts'
import type { Environment } from '../state/environment.ts'

/** The service's own registration at a third party: one application per environment and connector. */
export interface Application {
  client_id: string
  client_secret: string
}

const PREFIX = 'toolmock-'

/** Derived instead of stored: only this process needs the secret. */
export function applicationOf(environment: Environment, connector: string): Application {
  const secret = createHash('sha256').update(`${environment.name}\n${connector}`).digest('base64url')
  return { client_id: `${PREFIX}${environment.name}`, client_secret: secret }
}

/** The name of the environment whose application a `client_id` names; undefined when it names none. */
export function environmentOfClientId(clientId: string): string | undefined {
  return clientId.startsWith(PREFIX) ? clientId.slice(PREFIX.length) : undefined
}

/** A JSON Web Token signed with HMAC-SHA256 (RFC 7519, `HS256`). */
export function signJwt(claims: JsonObject, secret: string): string {
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
  return `${content}.${signature(content, secret)}`
}

/** The claims of a token that was signed with `secret`; undefined for every other text. */
export function verifyJwt(token: string, secret: string): JsonObject | undefined {
  const [header, claims, given, ...rest] = token.split('.')
  if (header === undefined || claims === undefined || rest.length > 0) return undefined
  if (header !== encode({ alg: 'HS256', typ: 'JWT' }) || given !== signature(`${header}.${claims}`, secret))
    return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url')
}

function signature(content: string, secret: string): string {
  return createHmac('sha256', secret).update(content).digest('base64url')
}
