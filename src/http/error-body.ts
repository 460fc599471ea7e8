import { ERROR_CATALOGUE, ServiceError, TokenError } from '../domain/errors.ts'
import type { Reply } from '../operations/operation.ts'

/** The one place that turns an error into an answer: G16 for the service, RFC 6749 5.2 for the token endpoint. */
export function errorReply(error: unknown, requestId: string): Reply {
  if (error instanceof TokenError) return tokenErrorReply(error)
  const known = error instanceof ServiceError ? error : unexpected()
  const { violations, resource, tool, headers } = known.context
  const info = {
    '@type': 'type.googleapis.com/errdetails.ErrorInfo',
    error_code: known.errorCode,
    request_info: { request_id: requestId },
    ...(violations ? { validation_error_info: { field_violations: violations } } : {}),
    ...(resource === undefined ? {} : { resource_info: { resource_name: resource } }),
    ...(tool ? { tool_error_info: tool } : {}),
  }
  const { status, code } = ERROR_CATALOGUE[known.errorCode]
  return { status, body: { code, message: known.message, details: [info] }, ...(headers ? { headers } : {}) }
}

/** A defect of the mock itself: the cause is logged and kept in the journal, never told to the caller. */
function unexpected(): ServiceError {
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
