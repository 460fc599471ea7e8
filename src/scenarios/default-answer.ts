import { ERROR_CATALOGUE, type ErrorCode } from '../domain/errors.ts'
import type { RespondParameters } from '../domain/scenario.ts'
import type { Asked } from './faults/fault.ts'

interface DefaultAnswer {
  readonly body: unknown
  readonly headers: Record<string, string>
}

/** The body of an injected answer that names none: at the service its error body, elsewhere nothing. */
export function defaultBody(params: RespondParameters, asked: Asked): DefaultAnswer {
  const status = params.status ?? 200
  if (asked.at !== 'service' || status < 400) return { body: undefined, headers: {} }
  const message = params.message ?? `a scenario answers ${status}`
  if (asked.operation === 'create_token' && (status === 400 || status === 401)) {
    return tokenError(params.error_code ?? (status === 401 ? 'invalid_client' : 'invalid_request'), message)
  }
  const error_code = params.error_code ?? defaultCode(status, asked.operation)
  return {
    body: { code: numberOf(error_code, status), message, details: [errorInfo(error_code, message, status, asked)] },
    headers: status === 401 ? { 'WWW-Authenticate': 'Bearer error="invalid_token"' } : {},
  }
}

/** RFC 6749 5.2 (G14). */
function tokenError(error: string, error_description: string): DefaultAnswer {
  return { body: { error, error_description }, headers: { 'Cache-Control': 'no-store', Pragma: 'no-cache' } }
}

/** G16; from 429 on a tool's failure carries `tool_error_info` (G44). */
function errorInfo(error_code: string, message: string, status: number, { operation, requestId, executionId }: Asked) {
  const ofTool = operation === 'execute_tool' && status >= 429
  const tool = { execution_id: '', tool_error_code: String(status), tool_error_message: message }
  return {
    '@type': 'type.googleapis.com/errdetails.ErrorInfo',
    error_code,
    request_info: { request_id: requestId },
    ...(ofTool ? { tool_error_info: { ...tool, execution_id: executionId() } } : {}),
  }
}

/** What the service itself would call this status at this operation. */
function defaultCode(status: number, operation = ''): string {
  const special = BY_OPERATION[`${operation} ${status}`]
  if (special) return special
  if (status === 404 && operation.endsWith('_custom_provider')) return 'PROVIDER_NOT_FOUND'
  return BY_STATUS[status] ?? `HTTP_${status}`
}

const BY_OPERATION: Readonly<Record<string, ErrorCode>> = {
  'verify_user 404': 'AUTH_REQUEST_NOT_FOUND',
  'execute_tool 500': 'TOOL_EXECUTION_FAILED',
}

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'VALIDATION_FAILED',
  401: 'UNAUTHENTICATED',
  403: 'IDENTIFIER_MISMATCH',
  404: 'ACCOUNT_NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'ACCOUNT_ALREADY_EXISTS',
  413: 'BODY_TOO_LARGE',
  429: 'THIRD_PARTY_RATE_LIMITED',
  500: 'INTERNAL',
  503: 'STORAGE_UNAVAILABLE',
  504: 'TOOL_EXECUTION_TIMED_OUT',
}

/** The number of google.rpc.Code; of a code that the catalogue lacks, that of its status; 2 (unknown) for the rest. */
function numberOf(errorCode: string, status: number): number {
  if (Object.hasOwn(ERROR_CATALOGUE, errorCode)) return ERROR_CATALOGUE[errorCode as ErrorCode].code
  const sameStatus = BY_STATUS[status]
  return sameStatus ? ERROR_CATALOGUE[sameStatus].code : 2
}
