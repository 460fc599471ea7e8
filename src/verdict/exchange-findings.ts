import type { ContractWarning } from '../contract/contract.ts'
import { foundValue, valueOfField } from '../contract/violation.ts'
import type { Operation } from '../contract/shapes.ts'
import { type FieldViolation, partsOf, ServiceError, TokenError } from '../domain/errors.ts'
import type { IgnoredField } from '../domain/request-trace.ts'
import type { Noted } from './findings.ts'

/** What the contract check and the operations found of one request, in the document's words. */
export interface JudgedExchange {
  readonly operation: Operation
  readonly request: string
  readonly authorization: string | undefined
  readonly query: unknown
  readonly body: unknown
  readonly error: unknown
  readonly warnings: readonly ContractWarning[]
  readonly ignored: readonly IgnoredField[]
}

export interface NotedWarning extends Noted {
  readonly kind: 'unread' | 'output_only' | 'alias' | 'ignored'
}

/**
 * The errors that say that a request breaks the contract. The others are what the service answers to requests that keep it:
 * an account that is not there or not active, a duplicate, a token that is over.
 */
const BREACHES: ReadonlySet<string> = new Set([
  'MALFORMED_BODY',
  'UNSUPPORTED_CONTENT_TYPE',
  'VALIDATION_FAILED',
  'MISSING_LOCATOR',
  'AMBIGUOUS_LOCATOR',
  'CONTRADICTING_LOCATOR',
  'INVALID_CONNECTOR',
  'INVALID_AUTHORIZATION_DETAILS',
  'INVALID_PAGE_TOKEN',
  'INVALID_TOOL_INPUT',
  'BODY_TOO_LARGE',
  'invalid_request',
  'unsupported_grant_type',
])

/** Rules that say, with the code of a breach, no more than a 404 does elsewhere: the account is gone (G34). */
const ABOUT_STATE: ReadonlySet<string> = new Set(['existing_account'])

/** Whether an error says that the client broke the contract, and not only that the service would not. */
export function isBreach(error: unknown, authorization: string | undefined): boolean {
  const code = codeOf(error)
  if (code === 'UNAUTHENTICATED') return !isBearer(authorization)
  if (code === undefined || !BREACHES.has(code)) return false
  const told = toldOf(error)
  return told.length === 0 || told.some(({ constraint }) => !ABOUT_STATE.has(constraint))
}

/** What the client did wrong; nothing where the request keeps the contract. */
export function violationsOf(exchange: JudgedExchange): Noted[] {
  const { error, operation, authorization } = exchange
  const error_code = codeOf(error) ?? null
  if (!isBreach(error, authorization)) return []
  if (error_code === 'UNAUTHENTICATED') return [{ operation, error_code, ...bearerWanted(authorization) }]
  const told = toldOf(error)
  if (told.length > 0) return told.map((violation) => ({ operation, error_code, ...ruleAndValue(violation, exchange) }))
  const allowed = error instanceof Error ? error.message : ''
  return [{ operation, error_code, path: 'body', constraint: 'request', found: 'this request', allowed }]
}

/** What the mock's own answer did wrong. */
export function answerViolationsOf(operation: Operation, violations: readonly FieldViolation[]): Noted[] {
  return violations.map((violation) => ({ operation, error_code: null, ...ruleAndValue(violation, {}) }))
}

/** What was sent without effect. */
export function warningsOf({ operation, warnings, ignored }: JudgedExchange): NotedWarning[] {
  const told = [...warnings, ...ignored.map((field) => ({ ...field, kind: 'ignored' as const }))]
  return told.map(({ field, description, kind }) => ({
    operation,
    error_code: null,
    kind: kind === 'unknown' ? ('unread' as const) : kind,
    path: field,
    constraint: kind,
    found: ABOUT[kind],
    allowed: description,
  }))
}

const ABOUT: Readonly<Record<ContractWarning['kind'], string>> = {
  unknown: 'a name that the contract does not have',
  output_only: 'a field that is only ever answered',
  alias: 'another name than the document’s',
  ignored: 'a value that has no effect',
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof ServiceError) return error.errorCode
  return error instanceof TokenError ? error.error : undefined
}

/** What an error says field by field. */
function toldOf(error: unknown): readonly FieldViolation[] {
  if (error instanceof ServiceError) return error.context.violations ?? []
  return error instanceof TokenError ? error.violations : []
}

function isBearer(authorization: string | undefined): boolean {
  return authorization !== undefined && /^bearer \S+$/i.test(authorization)
}

function bearerWanted(authorization: string | undefined): Omit<Noted, 'operation' | 'error_code'> {
  return {
    path: 'Authorization',
    constraint: authorization === undefined ? 'required' : 'scheme',
    found: authorization === undefined ? 'nothing' : 'another scheme, or no token',
    allowed: 'Bearer and an access token of create_token',
  }
}

/** Rule and value of a violation; where the description does not show the value, it is looked up in the request. */
function ruleAndValue(
  { field, description, constraint }: FieldViolation,
  { query, body }: { readonly query?: unknown; readonly body?: unknown },
): Omit<Noted, 'operation' | 'error_code'> {
  const { rule, found } = partsOf(description)
  if (found !== undefined) return { path: field, constraint, found, allowed: rule }
  const sent = valueOfField(body, field) ?? valueOfField(query, field)
  return { path: field, constraint, found: foundValue(sent, field.split(/[.[\]]+/)), allowed: rule }
}
