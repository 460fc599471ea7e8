import type { Account } from '../domain/account.ts'
import type { JsonObject, JsonValue } from '../domain/json.ts'
import { type PathParts, type RequestView } from './match.ts'
import { type ReceivedRequest, decodePart, headerOf } from './wire.ts'

/** The decoded parts of a path; undefined when one is not well-formed. */
export function pathParts(path: string): PathParts | undefined {
  const parts = path.split('/').slice(1).map(decodePart)
  return parts.every((part) => part !== undefined) ? parts : undefined
}

/** The request as responders see it; undefined when its body says that it is JSON and is not. */
export function requestView(request: ReceivedRequest, path: PathParts): RequestView | undefined {
  const body = bodyOf(request)
  if (body === undefined) return undefined
  return {
    method: request.method,
    path: `/${path.join('/')}`,
    params: {},
    query: queryView(request.query),
    headers: request.headers as JsonObject,
    body,
  }
}

/** What templates and matches see of an account: whom it belongs to, and none of its credentials. */
export function accountView(account: Account): JsonObject {
  const { id, identifier, connector, organization_id, user_id, api_config } = account
  return { id, identifier, connector, organization_id, user_id, api_config }
}

function queryView(query: URLSearchParams): JsonObject {
  const view = Object.create(null) as JsonObject
  for (const [name, value] of query) {
    const former = view[name]
    view[name] = former === undefined ? value : Array.isArray(former) ? [...former, value] : [former, value]
  }
  return view
}

function bodyOf(request: ReceivedRequest): JsonValue | undefined {
  if (request.body.length === 0) return null
  const text = request.body.toString('utf8')
  const type = headerOf(request, 'content-type').toLowerCase()
  if (type.startsWith('application/x-www-form-urlencoded')) return queryView(new URLSearchParams(text))
  if (!type.includes('json')) return text
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
