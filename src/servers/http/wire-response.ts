import { jsonText } from '../../model/domain/json.ts'
import type { ServerResponse } from 'node:http'
import type { ContractUseSink } from '../../model/contract/contract-use.ts'
import type { Operation } from '../../model/contract/shapes.ts'
import { BoundedCache } from '../../model/domain/bounded-cache.ts'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import { type ErrorContent, ServiceError, TokenError } from '../../model/domain/errors.ts'
import type { Reply } from '../../service/operations/operation.ts'

export function wireResponse(
  { status, body, headers }: Reply,
  requestId: string,
  cached?: CachedBody,
): EncodedResponse {
  const text = cached?.text ?? (body === undefined ? '' : jsonText(body))
  const length = cached?.length ?? String(Buffer.byteLength(text))
  const ownHeaders: Record<string, string> =
    body === undefined
      ? { 'X-Request-Id': requestId, 'Content-Length': length }
      : { 'X-Request-Id': requestId, 'Content-Type': 'application/json', 'Content-Length': length }
  return { status, headers: headers ? { ...ownHeaders, ...headers } : ownHeaders, body: text }
}

/** Like {@link wireResponse}, with a text that is no JSON. */
export function textResponse({ status, headers }: Reply, text: string, requestId: string): EncodedResponse {
  const length = String(Buffer.byteLength(text))
  const ownHeaders = { 'X-Request-Id': requestId, 'Content-Type': 'text/plain', 'Content-Length': length }
  return { status, headers: { ...ownHeaders, ...headers }, body: text }
}

/** Like {@link wireResponse}, for what a responder of an extension answered. */
export function extendedResponse(
  { status, headers, body }: Reply & { readonly body: string | Buffer },
  requestId: string,
): EncodedResponse {
  const length = String(Buffer.byteLength(body))
  return { status, headers: { ...headers, 'X-Request-Id': requestId, 'Content-Length': length }, body }
}

export function sendResponse(response: ServerResponse, { status, headers, body }: EncodedResponse): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, headers)
  // Node writes headers in the encoding of a text that follows them. One with as many octets as characters is ASCII.
  const isAscii = Number(headers['Content-Length']) === body.length
  response.end(isAscii ? body : Buffer.from(body), 'latin1')
}

const MAX_CACHED = 1024

/** The text of a body that is answered many times, with the checks that it has passed. */
interface CachedBody {
  readonly text: string
  readonly length: string
  /** The operation and status for which its contract check passed. */
  checkedAs: { readonly operation: Operation; readonly status: number } | undefined
  /** The contract record that has its fields already, and the operation. */
  recordedAs: { readonly operation: Operation; readonly record: ContractUseSink } | undefined
}

/** Cache of bodies of replies that are marked `cacheable`. It saves such a GET a fifth of its time. */
export class ResponseCache {
  readonly #bodies = new BoundedCache<object, CachedBody>(MAX_CACHED)

  /** Undefined for a reply that is made for one request. */
  of({ cacheable, body }: Reply): CachedBody | undefined {
    return cacheable && typeof body === 'object' && body !== null ? this.#bodies.of(body, asText) : undefined
  }
}

function asText(body: object): CachedBody {
  const text = jsonText(body)
  return { text, length: String(Buffer.byteLength(text)), checkedAs: undefined, recordedAs: undefined }
}

/** Renders an error, the only place that does: as the service answers it (G16), at the token endpoint as RFC 6749 5.2 says. */
export function errorReply(error: unknown, requestId: string): Reply {
  if (error instanceof TokenError) return tokenErrorReply(error)
  const serviceError = error instanceof ServiceError ? error : internalError()
  const { headers } = serviceError.context
  return { status: serviceError.status, body: errorBody(serviceError, requestId), ...(headers ? { headers } : {}) }
}

/** The body of an error (G16), also of one that a scenario injects. */
export function errorBody({ errorCode, code, message, context }: ErrorContent, requestId: string): object {
  const { violations, resource, tool } = context
  const { status: _status, ...tool_error_info } = tool ?? {}
  const info = {
    '@type': 'type.googleapis.com/errdetails.ErrorInfo',
    error_code: errorCode,
    request_info: { request_id: requestId },
    ...(violations ? { validation_error_info: { field_violations: violations } } : {}),
    ...(resource === undefined ? {} : { resource_info: { resource_name: resource } }),
    ...(tool ? { tool_error_info } : {}),
  }
  return { code, message, details: [info] }
}

/** A defect of the mock: the log and the request journal have the cause, the answer says where to look. */
function internalError(): ServiceError {
  return new ServiceError('INTERNAL', 'the mock failed; its log and its journal say why')
}

function tokenErrorReply(error: TokenError): Reply {
  return {
    status: error.status,
    body: { error: error.error, error_description: error.message },
    headers: {
      'Cache-Control': 'no-store',
      Pragma: 'no-cache',
      ...(error.challenge ? { 'WWW-Authenticate': 'Basic realm="toolmock"' } : {}),
    },
  }
}

/** What the journal says of an error that is a defect of the mock; null for the errors of the contract. */
export function unexpectedFailure(error: unknown): string | null {
  return error === undefined || error instanceof ServiceError || error instanceof TokenError ? null : stackOf(error)
}

export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
