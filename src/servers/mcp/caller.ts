import type { IncomingMessage } from 'node:http'
import { ServiceError } from '../../model/domain/errors.ts'
import { instant } from '../../model/domain/instant.ts'
import { bearerTokenIn } from '../../model/domain/request-headers.ts'
import { tokenDigest } from '../../model/domain/request-trace.ts'
import type { JsonObject } from '../../model/domain/json.ts'
import type { Locator } from '../../model/domain/locator.ts'
import { quote } from '../../model/domain/text.ts'
import type { Authenticated, CallersEntry } from '../http/request-context.ts'
import { verifiedToken, isSessionToken, type SessionClaims } from '../../model/domain/session-token.ts'
import { authenticateBearer, unauthenticated } from '../http/pipeline.ts'
import type { ServiceParts } from '../http/services.ts'
import { headerLocator } from '../../service/operations/proxy.ts'
import { type Environment, now } from '../../state/environment.ts'
import { meetsExpiry } from '../../state/expiry.ts'
import type { ServerAddress } from './server-tools.ts'

/** Who calls a virtual MCP server, and for which user (G61). */
export interface Caller {
  /** @param entry gets the environment that the token was made for. @throws ServiceError UNAUTHENTICATED once it has ended */
  authenticate(entry?: CallersEntry): Authenticated
  /** The fields by which execute_tool finds the account at a connection. @throws ServiceError when no user is named */
  account(connector: string): JsonObject
  /** Whether tools that are not annotated as read-only are hidden from it. */
  readonly isReadOnly: boolean
  /** Told that a tool has been executed; of an instance, which says when that was last. */
  readonly noteUse?: () => void
}

/**
 * A caller by the URL of an instance, by a session token, or by the service's access token; headers or query parameters then
 * name the user.
 */
export function callerOf(message: IncomingMessage, address: ServerAddress, { registry }: ServiceParts): Caller {
  if (address.kind === 'instances') return instanceCaller(address, registry)
  const { authorization } = message.headers
  const token = bearerTokenIn(authorization) ?? ''
  if (isSessionToken(token)) return sessionCaller(token, address, registry)
  return {
    authenticate: (entry = { environment: undefined, client: undefined }) =>
      authenticateBearer(authorization, registry, entry),
    account: (connector) => ({ connector, ...userOf(message) }),
    isReadOnly: false,
  }
}

/** The user of an instance, whoever has its URL. */
function instanceCaller({ key, path }: ServerAddress, { byMcpInstance }: ServiceParts['registry']): Caller {
  /** @throws ServiceError PATH_NOT_FOUND once it has ended */
  const current = () => {
    const owner = byMcpInstance.get(key)
    if (owner) return owner
    throw noInstance(path)
  }
  return {
    authenticate: (entry) => {
      const { environment } = current()
      if (entry) entry.environment = environment
      return { environment, client: undefined }
    },
    account: (connector) => ({ connector, identifier: current().instance.user_identifier }),
    isReadOnly: false,
    noteUse: () => {
      const owner = byMcpInstance.get(key)
      if (!owner) return
      const { environment, instance } = owner
      const { model } = environment
      model.transact(() => model.tables.mcp_instances.put({ ...instance, last_used_at: now(environment) }))
    },
  }
}

export function noInstance(path: string): ServiceError {
  const message = `there is no MCP server ${quote(path)}: an instance ends with its deletion, with its config and with a reset`
  return new ServiceError('PATH_NOT_FOUND', message)
}

/** @throws ServiceError UNAUTHENTICATED for a token that no environment has signed */
function sessionCaller(token: string, address: ServerAddress, registry: ServiceParts['registry']): Caller {
  const verified = verifiedToken(token, (kid) => registry.byMcpKey.get(kid))
  if (!verified) throw endedSession('was not made here, was changed, or ended with a reset')
  const { environment, claims, key } = verified
  return {
    authenticate: (entry) => {
      if (entry) entry.environment = environment
      // A reset, or a state that is loaded, replaces the tables while a stream is open.
      const { accounts, mcp_configs } = environment.model.tables
      if (registry.byMcpKey.get(key.id)?.environment !== environment) throw endedSession('ended with a reset')
      const row = { id: tokenDigest(token), client_id: '', expires_at: instant(claims.exp * 1000) }
      if (meetsExpiry(environment, 'bearer_tokens', environment.model.tables.bearer_tokens.get(row.id) ?? row))
        throw endedSession(`expired at ${row.expires_at}`)
      if (claims.mcp_cfg && !mcp_configs.get(claims.mcp_cfg)) throw endedSession('ended with its config')
      if (!claims.ca_ids.every((id) => accounts.get(id))) throw endedSession('ended with an account that it names')
      if (!isFor(claims, address, environment)) throw endedSession('is for another server')
      return { environment, client: undefined }
    },
    account: (connector) => {
      const id = claims.ca_ids.find((each) => environment.model.tables.accounts.get(each)?.connector === connector)
      // A connection that its config has got since: the user may have an account there.
      return id ? { connected_account_id: id } : { connector, identifier: claims.sub }
    },
    isReadOnly: claims.access_level === 'READ_ONLY',
  }
}

/** Whether the server at an address is the one that a token was made for. */
function isFor({ mcp_cfg, conn_id }: SessionClaims, { kind, key }: ServerAddress, { model }: Environment): boolean {
  const { mcp_configs, connections } = model.tables
  if (kind === 'servers') return mcp_cfg !== undefined && mcp_configs.get(mcp_cfg)?.uuid === key
  return conn_id !== undefined && connections.get(conn_id)?.key_id === key
}

function endedSession(how: string): ServiceError {
  const where = 'POST /api/v1/mcp/configs/{id}/tokens and POST /api/v1/mcp/connections/{key_id}/tokens make one'
  return unauthenticated(`the session token ${how}; ${where}`, 'invalid_token')
}

const USER_FIELDS = ['identifier', 'organization_id', 'user_id'] as const

/** @throws ServiceError MISSING_LOCATOR */
function userOf({ headers, url = '' }: IncomingMessage): JsonObject {
  const locator: Locator = headerLocator(headers)
  const query = new URLSearchParams(url.replace(/^[^?]*/, ''))
  const fields = USER_FIELDS.map((name) => [name, locator[name] || query.get(name)] as const)
  const user = Object.fromEntries(
    fields.filter((field): field is readonly [(typeof field)[0], string] => Boolean(field[1])),
  )
  if (user['identifier']) return user
  const message =
    'identifier is required: with the access token of POST /oauth/token, the header or the query parameter identifier names ' +
    'the user whose account runs the tool'
  throw new ServiceError('MISSING_LOCATOR', message, {
    violations: [
      { field: 'identifier', description: 'is required, as a header or a query parameter', constraint: 'required' },
    ],
  })
}
