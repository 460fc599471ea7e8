import {
  grpcCodeOf,
  codesOfStatus,
  cataloguedError,
  type ErrorContent,
  type ErrorContext,
  isToolErrorStatus,
  TOKEN_ERRORS,
  toolFailure,
} from '../../model/domain/errors.ts'
import { isJsonObject, type JsonValue, ownMember } from '../../model/domain/json.ts'
import { isOwnHeader } from '../../model/domain/text.ts'
import type { Report } from '../../model/schema/parts.ts'
import { type AnsweredRequest, defineFault, type FaultRule } from './fault.ts'

interface RespondParameters {
  /** Absent only at `consent`, whose answer is a redirect. */
  readonly status?: number | undefined
  /** The `error_code` of the default body at `service`. */
  readonly error_code?: string | undefined
  readonly message?: string | undefined
  readonly headers: Readonly<Record<string, string>>
  /** Undefined for the default body. */
  readonly body?: JsonValue | undefined
}

export const respond = defineFault({
  parameters: ({ wholeNumber, strict, nonEmpty, text, textMap, anyJson, withRule }) =>
    withRule(
      strict({
        status: wholeNumber(100, 599).optional().describe('The status of the answer; required, but at consent.'),
        error_code: nonEmpty.optional().describe('At service: the error_code of the default body.'),
        message: text.optional().describe('The message of the default body; of a TOOL_ERROR its tool_error_message.'),
        headers: textMap.prefault({}).describe('Headers of the answer.'),
        body: anyJson
          .optional()
          .describe('JSON, or a text. Absent: at service the error body of the status, else none.'),
      }),
      ({ headers = {} }, report) => {
        for (const [name, value] of Object.entries(headers)) checkHeader(name, value, report)
      },
    ),
  description: 'Another answer in place of the usual one; the operation does not run.',
  sentence: ({ status, error_code, body }) => {
    const detail = error_code ?? (isJsonObject(body) ? ownMember(body, 'error') : undefined)
    const words = [status, typeof detail === 'string' && `(${detail})`].filter(Boolean).join(' ')
    return `answers ${words || 'something else'} instead of the plain answer`
  },
  check: (parameters, rule, report) => {
    if (rule.at === 'consent') checkConsent(parameters, report)
    else if (parameters.status === undefined) report(['status'], { allowed: 'a status' })
    else if (rule.at === 'service') checkService({ ...parameters, status: parameters.status }, rule, report)
    else onlyAtService(parameters, rule.at, report)
  },
  phase: 'answer',
  response: (request, parameters) => {
    const { status, headers, body } = parameters
    const response = body === undefined ? defaultResponse(parameters, request) : { body, headers: {} }
    return { ...response, status: status ?? 200, headers: { ...response.headers, ...headers } }
  },
})

/** Names and values that can travel, and none that says how long the body is: that follows from the body. */
function checkHeader(name: string, value: string, report: Report): void {
  const path = ['headers', name]
  if (!isOwnHeader(name)) {
    report(path, {
      found: 'a header that a rule cannot set',
      allowed: 'names of headers that do not frame the body',
      atKey: true,
    })
  } else if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)) {
    report(path, { allowed: 'one line of Latin-1 text' })
  }
}

function onlyAtService(parameters: RespondParameters, at: string, report: Report): void {
  for (const key of ['error_code', 'message'] as const) {
    if (parameters[key] === undefined) continue
    report([key], { found: `set at ${at}`, allowed: `${key} at service; elsewhere a body`, atKey: true })
  }
}

/** The answer of a consent is a redirect of the browser, which carries an OAuth error (RFC 6749 4.1.2.1). */
function checkConsent({ status, error_code, headers, body }: RespondParameters, report: Report): void {
  const set = { status, error_code, headers: Object.keys(headers).length > 0 || undefined }
  for (const [key, value] of Object.entries(set)) {
    if (value === undefined) continue
    report([key], {
      found: 'set at consent',
      allowed: 'body, with the OAuth error that the redirect carries',
      atKey: true,
    })
  }
  const error = isJsonObject(body) ? ownMember(body, 'error') : undefined
  if (typeof error === 'string' && error !== '') return
  report(['body', 'error'], { allowed: 'an OAuth error such as access_denied' })
}

/** A success needs a body, and an `error_code` has to be one of the spec's for its status (G16; G14 for the token endpoint). */
function checkService(
  { status, error_code, body }: RespondParameters & { status: number },
  { operation, off_spec }: FaultRule,
  report: Report,
): void {
  if (off_spec) return
  if (status < 400 && body === undefined) {
    report(['body'], { allowed: `a body, because ${status} is no error and has no default` })
  }
  if (error_code === undefined) return
  const isToken = operation === 'create_token' && (status === 400 || status === 401)
  const ofTool = operation === 'execute_tool' && isToolErrorStatus(status) ? ['TOOL_ERROR'] : []
  const possibleCodes: readonly string[] = isToken ? TOKEN_ERRORS : [...new Set([...codesOfStatus(status), ...ofTool])]
  if (possibleCodes.includes(error_code)) return
  const words = possibleCodes.join(', ') || 'there is none'
  report(['error_code'], { allowed: `one of the spec's for ${status}: ${words}; anything with off_spec: true` })
}

interface DefaultResponse {
  readonly body?: unknown
  readonly error?: ErrorContent
  readonly headers: Record<string, string>
}

/** The answer where a rule names no body: at the service an error, elsewhere nothing. */
function defaultResponse(params: RespondParameters, request: AnsweredRequest): DefaultResponse {
  const status = params.status ?? 200
  if (request.at !== 'service' || status < 400) return { headers: {} }
  const message = params.message ?? `a scenario answers ${status}`
  if (request.operation === 'create_token' && (status === 400 || status === 401)) {
    return tokenErrorResponse(params.error_code ?? (status === 401 ? 'invalid_client' : 'invalid_request'), message)
  }
  const errorCode = params.error_code ?? defaultCode(status, request.operation)
  const context = contextOf(errorCode, { status, message }, request)
  const said = context.tool ? toolFailure(message) : message
  return {
    error: { errorCode, code: grpcCodeOf(errorCode, status), message: said, context },
    headers: errorCode === 'UNAUTHENTICATED' ? { 'WWW-Authenticate': 'Bearer error="invalid_token"' } : {},
  }
}

/** RFC 6749 5.2 (G14). */
function tokenErrorResponse(error: string, error_description: string): DefaultResponse {
  return { body: { error, error_description }, headers: { 'Cache-Control': 'no-store', Pragma: 'no-cache' } }
}

/** The details that the service gives with an error of this code (G16). */
function contextOf(
  errorCode: string,
  { status, message }: { status: number; message: string },
  { executionId, accountId }: AnsweredRequest,
): ErrorContext {
  if (errorCode === 'ACCOUNT_ALREADY_EXISTS') return { resource: accountId() }
  if (errorCode === 'TOOL_ERROR') {
    const tool_error_code = status === 504 ? 'timeout' : String(status)
    const errorStatus = isToolErrorStatus(status) ? status : 500
    return { tool: { status: errorStatus, execution_id: executionId(), tool_error_code, tool_error_message: message } }
  }
  const field = cataloguedError(errorCode)?.field
  return field === undefined ? {} : { violations: [{ field, description: message, constraint: 'scenario' }] }
}

/** What the service itself would call this status at this operation. */
function defaultCode(status: number, operation = ''): string {
  if (operation === 'verify_user' && status === 404) return 'AUTH_REQUEST_NOT_FOUND'
  if (operation === 'execute_tool' && status !== 401 && isToolErrorStatus(status)) return 'TOOL_ERROR'
  if (operation.endsWith('_custom_provider') && status === 404) return 'PROVIDER_NOT_FOUND'
  return codesOfStatus(status)[0] ?? `HTTP_${status}`
}
