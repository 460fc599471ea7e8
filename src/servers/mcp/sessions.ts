import type { IncomingMessage } from 'node:http'
import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server'
import { invalidField, ServiceError } from '../../model/domain/errors.ts'
import { isJsonObject, type JsonValue, objectAt, ownMember } from '../../model/domain/json.ts'
import { MCP_SESSION_HEADER } from '../../model/domain/request-headers.ts'
import { quote } from '../../model/domain/text.ts'
import type { Environment } from '../../state/environment.ts'
import type { Caller } from './caller.ts'
import type { ServerAddress } from './server-tools.ts'

/** Beyond that many sessions of an environment the oldest ends. */
const MAX_SESSIONS = 1000

export function hasSessions({ settings }: Environment): boolean {
  return settings.mcp?.sessions === true
}

/** @returns the id of a new session of the server at an address */
export function beginSession({ mcpSessions, ids, replacements }: Environment, { path }: ServerAddress): string {
  const [oldest] = mcpSessions.keys()
  if (oldest !== undefined && mcpSessions.size >= MAX_SESSIONS) mcpSessions.delete(oldest)
  const id = ids.uuid()
  mcpSessions.set(id, { path, replacements })
  return id
}

/** The caller of a request that is part of a session, and ends with it: every one but initialize, and those of 2026. */
export function inSession(
  caller: Caller,
  { message: { headers }, address }: { readonly message: IncomingMessage; readonly address: ServerAddress },
  body: JsonValue | undefined,
): Caller {
  if (isJsonObject(body)) {
    const isModern = ownMember(objectAt(objectAt(body, 'params'), '_meta'), PROTOCOL_VERSION_META_KEY) !== undefined
    if (isModern || ownMember(body, 'method') === 'initialize') return caller
  }
  return {
    ...caller,
    authenticate: (entry) => {
      const authenticated = caller.authenticate(entry)
      const { environment } = authenticated
      if (hasSessions(environment)) assertSession(environment, headers[MCP_SESSION_HEADER], address)
      return authenticated
    },
  }
}

/** @throws ServiceError VALIDATION_FAILED without a session, MCP_SESSION_NOT_FOUND for one that is not of this server */
function assertSession(
  { mcpSessions, replacements }: Environment,
  id: string | string[] | undefined,
  { path }: ServerAddress,
): void {
  if (id === undefined) {
    const rule = 'is required as a header: that of the answer to initialize'
    throw invalidField('Mcp-Session-Id', rule, 'required')
  }
  const session = mcpSessions.get(String(id))
  if (session?.path === path && session.replacements === replacements) return
  throw new ServiceError('MCP_SESSION_NOT_FOUND', `the server has no session ${quote(String(id))}; initialize again`)
}
