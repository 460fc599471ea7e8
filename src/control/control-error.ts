import type { JsonObject } from '../domain/json.ts'

/** Every error of the control API, by its `code`. */
const CATALOGUE = {
  MALFORMED_BODY: 400,
  INVALID_BODY: 400,
  INVALID_QUERY: 400,
  INVALID_NAME: 400,
  INVALID_DOCUMENT: 400,
  INVALID_STATE: 400,
  ADMIN_TOKEN_REQUIRED: 401,
  HOST_REFUSED: 403,
  ORIGIN_REFUSED: 403,
  PATH_NOT_FOUND: 404,
  ENVIRONMENT_NOT_FOUND: 404,
  SNAPSHOT_NOT_FOUND: 404,
  SCENARIO_NOT_FOUND: 404,
  ACCOUNT_NOT_FOUND: 404,
  CONNECTION_NOT_FOUND: 404,
  REQUEST_NOT_FOUND: 404,
  LINK_NOT_FOUND: 404,
  EVENT_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  TIMED_OUT: 408,
  ENVIRONMENT_EXISTS: 409,
  ENVIRONMENT_REQUIRED: 409,
  CLIENT_ID_TAKEN: 409,
  SEED_CONFLICT: 409,
  ILLEGAL_MOVE: 409,
  LINK_NOT_USABLE: 409,
  LINK_GONE: 410,
  BODY_TOO_LARGE: 413,
  UNSUPPORTED_CONTENT_TYPE: 415,
  INTERNAL: 500,
  THIRD_PARTY_UNAVAILABLE: 502,
  STORAGE_UNAVAILABLE: 503,
} as const
export type ControlErrorCode = keyof typeof CATALOGUE
export const CONTROL_ERROR_CODES = Object.keys(CATALOGUE) as readonly ControlErrorCode[]

/** What a caller of the control API is told: thrown by whoever finds out, rendered in one place (`routes.ts`). */
export class ControlError extends Error {
  override readonly name = 'ControlError'

  constructor(
    readonly code: ControlErrorCode,
    message: string,
    /** Each problem for itself, in a form that programs read. */
    readonly details: readonly JsonObject[] = [],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
  }

  get status(): number {
    return CATALOGUE[this.code]
  }

  get body(): JsonObject {
    return { error: { code: this.code, message: this.message, details: [...this.details] } }
  }
}

/** One thing that is wrong with a body or a query: where, what was found, what is allowed. */
export interface Fault {
  path: string
  found: string
  allowed: string
}

/** All faults of a body or a query in one error. */
export function faulty(code: ControlErrorCode, faults: readonly Fault[]): ControlError {
  const message = faults
    .map(({ path, found, allowed }) => `${path === '' ? '' : `${path}: `}found ${found}; allowed: ${allowed}`)
    .join('; ')
  return new ControlError(
    code,
    message,
    faults.map((fault) => ({ ...fault })),
  )
}
