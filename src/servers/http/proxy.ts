import { PROXY_REQUEST } from '../../model/contract/shapes.ts'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import { invalidField } from '../../model/domain/errors.ts'
import type { ForwardedRequest } from '../../model/domain/ports.ts'
import { hopByHopHeaders, NOT_ACTIVE } from '../../model/domain/request-headers.ts'
import type { ProxiedResponse } from '../../service/operations/proxy.ts'
import type { ProxyContext, RequestContext } from './request-context.ts'

export const PROXY_ROUTE: RequestContext['route'] = { operation: PROXY_REQUEST, bearer: true }

/** Every path of the proxy. Express decodes parameters and the proxy does not, so it has none. */
export const PROXY_PATHS = /^\/proxy(?=\/|$)/

/** What is for the service: the caller's bearer token, the account, and how the request came to it. */
const SERVICE_HEADERS = [
  'authorization',
  'connection_name',
  'connected_account_id',
  'identifier',
  'organization_id',
  'user_id',
  'content-length',
  'expect',
  'host',
]

/** The request as it goes on. @throws ServiceError VALIDATION_FAILED for a path that would leave the third party's API */
export function forwardedRequest({ request, rawBody, rest }: ProxyContext): ForwardedRequest {
  const { method, url, query } = request
  const [, path = ''] = /^(?:https?:\/\/[^/?]*)?\/proxy([^?]*)/i.exec(url) ?? []
  if (path.split('/').some(isTraversal)) {
    throw invalidField('path', 'must have no part that is "." or "..", however it is encoded', 'path')
  }
  const dropped = new Set([...SERVICE_HEADERS, ...hopByHopHeaders(request.headers.connection)])
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !dropped.has(name)) headers[name] = String(value)
  }
  const length = request.headers['content-length']
  if (rest && length !== undefined) headers['content-length'] = length
  return { method, path: path || '/', query, headers, body: rawBody, rest }
}

/** Servers decode a part before they resolve it, some also the separators in it. */
function isTraversal(part: string): boolean {
  const decoded = part.replaceAll(/%2e/gi, '.').replaceAll(/%2f|%5c/gi, '/')
  return decoded.split(/[/\\]/).some((each) => each === '.' || each === '..')
}

/** What the service says of an answer itself. A challenge is about the account's credential, and not the caller's token (G45). */
const DROPPED_ANSWER_HEADERS = ['content-length', 'x-request-id', 'www-authenticate', NOT_ACTIVE]

/** The answer as the third party gave it, but for the headers of its connection and of the service. */
export function proxiedResponse({ status, headers, body }: ProxiedResponse, requestId: string): EncodedResponse {
  const dropped = new Set([...DROPPED_ANSWER_HEADERS, ...hopByHopHeaders(headers['connection'])])
  // The length that an answer to HEAD names is that of a body which it does not have.
  const length = headers['content-length'] ?? (body.length === 0 ? undefined : String(body.length))
  const passed: Record<string, string | string[]> = { 'X-Request-Id': requestId }
  if (length !== undefined) passed['Content-Length'] = length
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !dropped.has(name)) passed[name] = value
  }
  return { status, headers: passed, body }
}
