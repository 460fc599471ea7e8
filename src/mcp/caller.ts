import type { IncomingMessage } from 'node:http'
import { ServiceError } from '../domain/errors.ts'
import type { JsonObject } from '../domain/json.ts'
import type { Locator } from '../domain/locator.ts'
import type { Authenticated } from '../http/request-context.ts'
import { authenticateBearer } from '../http/pipeline.ts'
import type { ServiceParts } from '../http/services.ts'
import { locatorOf } from '../operations/proxy.ts'

/** Who calls a virtual MCP server, and for which user (G61). */
export interface Caller {
  /** @throws ServiceError UNAUTHENTICATED once its token has ended */
  authenticate(): Authenticated
  /** The fields by which execute_tool finds the account at a connection. @throws ServiceError when no user is named */
  account(connector: string): JsonObject
}

/** A caller by the service's access token; the user is named by headers or query parameters. */
export function callerOf(message: IncomingMessage, { registry }: ServiceParts): Caller {
  const { authorization } = message.headers
  return {
    authenticate: () => authenticateBearer(authorization, registry),
    account: (connector) => ({ connector, ...userOf(message) }),
  }
}

const USER_FIELDS = ['identifier', 'organization_id', 'user_id'] as const

/** @throws ServiceError MISSING_LOCATOR */
function userOf({ headers, url = '' }: IncomingMessage): JsonObject {
  const sent: Locator = locatorOf(headers)
  const query = new URLSearchParams(url.split('?')[1] ?? '')
  const given = USER_FIELDS.map((name) => [name, sent[name] || query.get(name)] as const)
  const user = Object.fromEntries(
    given.filter((field): field is readonly [(typeof field)[0], string] => Boolean(field[1])),
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
