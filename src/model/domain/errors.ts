interface ErrorTraits {
  /** Whether the request breaks the contract; other errors answer one that keeps it, such as a duplicate. */
  readonly breach?: true
  /** Whether the request is refused before its contract is checked, and before scenarios see it. */
  readonly early?: true
  /** What decides it, where that is not the service itself. */
  readonly by?: 'contract' | 'third_party' | 'mock'
}

interface CataloguedError extends ErrorTraits {
  readonly status: number
  readonly code: number
  /** The field that the error is about, of those that name one. */
  readonly field?: string
  /** Whether an injected answer of this status has this code unless it names another. */
  readonly usual?: true
}

/** By `error_code` of `ErrorInfo` (G16): HTTP status and google.rpc.Code. `spec/openapi.yaml` lists the same names. */
export const ERROR_CATALOGUE = {
  MALFORMED_BODY: { status: 400, code: 3, field: 'body', breach: true, early: true, by: 'contract' },
  UNSUPPORTED_CONTENT_TYPE: { status: 400, code: 3, field: 'Content-Type', breach: true, early: true, by: 'contract' },
  VALIDATION_FAILED: { status: 400, code: 3, field: 'body', usual: true, breach: true, by: 'contract' },
  MISSING_LOCATOR: { status: 400, code: 3, field: 'id', breach: true },
  AMBIGUOUS_LOCATOR: { status: 400, code: 3, field: 'organization_id', breach: true },
  CONTRADICTING_LOCATOR: { status: 400, code: 3, field: 'id', breach: true },
  INVALID_CONNECTOR: { status: 400, code: 3, field: 'connector', breach: true },
  INVALID_AUTHORIZATION_DETAILS: {
    status: 400,
    code: 3,
    field: 'connected_account.authorization_details',
    breach: true,
  },
  INVALID_PAGE_TOKEN: { status: 400, code: 3, field: 'page_token', breach: true },
  INVALID_TOOL_INPUT: { status: 400, code: 3, field: 'tool_input', breach: true },
  DUPLICATE_IDENTIFIER: { status: 400, code: 3, field: 'name' },
  ACCOUNT_NOT_ACTIVE: { status: 400, code: 9 },
  CONNECTION_DISABLED: { status: 400, code: 9 },
  UNAUTHENTICATED: { status: 401, code: 16, usual: true, early: true },
  IDENTIFIER_MISMATCH: { status: 403, code: 7, usual: true },
  ACCOUNT_NOT_FOUND: { status: 404, code: 5, usual: true },
  AUTH_REQUEST_NOT_FOUND: { status: 404, code: 5 },
  PROVIDER_NOT_FOUND: { status: 404, code: 5 },
  CONNECTION_NOT_FOUND: { status: 404, code: 5 },
  MCP_CONFIG_NOT_FOUND: { status: 404, code: 5 },
  MCP_INSTANCE_NOT_FOUND: { status: 404, code: 5 },
  MCP_SESSION_NOT_FOUND: { status: 404, code: 5 },
  TOOL_NOT_FOUND: { status: 404, code: 5 },
  PATH_NOT_FOUND: { status: 404, code: 5, by: 'contract' },
  METHOD_NOT_ALLOWED: { status: 405, code: 12, usual: true, by: 'contract' },
  ACCOUNT_ALREADY_EXISTS: { status: 409, code: 6, usual: true },
  BODY_TOO_LARGE: { status: 413, code: 8, field: 'body', usual: true, breach: true, early: true, by: 'contract' },
  RATE_LIMITED: { status: 429, code: 8, usual: true },
  TOOL_ERROR: { status: 500, code: 13, by: 'third_party' },
  INTERNAL: { status: 500, code: 13, usual: true, by: 'mock' },
  STORAGE_UNAVAILABLE: { status: 503, code: 14, usual: true, by: 'mock' },
  TIMED_OUT: { status: 504, code: 4, usual: true },
} as const satisfies Record<string, CataloguedError>
export type ErrorCode = keyof typeof ERROR_CATALOGUE

const ENTRIES = Object.entries<CataloguedError>(ERROR_CATALOGUE)

export function cataloguedError(word: string): CataloguedError | undefined {
  return ENTRIES.find(([name]) => name === word)?.[1]
}

/** The error codes of a status, the usual one first. */
export function codesOfStatus(status: number): string[] {
  const ofStatus = ENTRIES.filter(([, entry]) => entry.status === status)
  return ofStatus.sort(([, a], [, b]) => Number(b.usual ?? false) - Number(a.usual ?? false)).map(([name]) => name)
}

export function isErrorCode(word: string): word is ErrorCode {
  return Object.hasOwn(ERROR_CATALOGUE, word)
}

/** The statuses of `TOOL_ERROR`, by what the third party did (G44), and their `code`. */
const TOOL_ERROR_CODES = { 401: 16, 403: 7, 429: 8, 500: 13, 504: 4 } as const
export type ToolErrorStatus = keyof typeof TOOL_ERROR_CODES

export function isToolErrorStatus(status: number): status is ToolErrorStatus {
  return Object.hasOwn(TOOL_ERROR_CODES, status)
}

/** One thing that is wrong with a request (G16). */
export interface FieldViolation {
  /** JSON path into the body (`connected_account.api_config`), or the name of a query parameter. */
  field: string
  /** The rule, and what was found where that helps; it follows the name of the field ({@link ruleAndFound}). */
  description: string
  /** The rule in the words of the contract: `required`, `type`, `minLength`, … */
  constraint: string
}

const FOUND = '; found '

/** `must be an integer; found "x"` */
export function ruleAndFound(rule: string, mistake: string): string {
  return `${rule}${FOUND}${mistake}`
}

/** The two parts of a description; `found` is undefined where it names none. */
export function descriptionParts(description: string): { readonly rule: string; readonly found: string | undefined } {
  const at = description.indexOf(FOUND)
  if (at < 0) return { rule: description, found: undefined }
  return { rule: description.slice(0, at), found: description.slice(at + FOUND.length) }
}

/** The violation as a sentence: `page_size must be at most 100; found 500`. */
export function violationText({ field, description }: FieldViolation): string {
  return `${field} ${description}`
}

export function violationsText(violations: readonly FieldViolation[]): string {
  return violations.map(violationText).join('; ')
}

export interface ErrorContext {
  violations?: readonly FieldViolation[]
  /** `resource_info.resource_name` (G55). */
  resource?: string
  /** The served method and path that was most likely meant. */
  didYouMean?: string
  tool?: ToolErrorInfo
  headers?: Record<string, string>
}

/** `tool_error_info`, with the status that the third party leads to (G44). */
export interface ToolErrorInfo {
  status: ToolErrorStatus
  execution_id: string
  /** The third party's own word, else its status; `timeout` or `unusable_answer`. */
  tool_error_code: string
  /** The third party's own text. */
  tool_error_message: string
}

/** The message of a `TOOL_ERROR`; clients look for its first words. */
export function toolFailure(text: string): string {
  return `tool execution failed - ${text}`
}

export interface ErrorContent {
  readonly errorCode: string
  /** A number of google.rpc.Code. */
  readonly code: number
  readonly message: string
  readonly context: ErrorContext
}

/** An error of the service's contract. Thrown once, where it is found; rendered in one place (`servers/http/wire-response.ts`). */
export class ServiceError extends Error implements ErrorContent {
  override readonly name = 'ServiceError'

  constructor(
    readonly errorCode: ErrorCode,
    message: string,
    readonly context: ErrorContext = {},
  ) {
    super(message)
  }

  get status(): number {
    return this.context.tool?.status ?? ERROR_CATALOGUE[this.errorCode].status
  }

  get code(): number {
    return grpcCodeOf(this.errorCode, this.status)
  }
}

/** The `code` of an error; of one that the catalogue lacks, that of its status, or 2 (unknown). */
export function grpcCodeOf(errorCode: string, status: number): number {
  if (errorCode === 'TOOL_ERROR' && isToolErrorStatus(status)) return TOOL_ERROR_CODES[status]
  const entry = cataloguedError(errorCode) ?? cataloguedError(codesOfStatus(status)[0] ?? '')
  return entry?.code ?? 2
}

export function invalidField(
  field: string,
  description: string,
  constraint: string,
  errorCode: ErrorCode = 'VALIDATION_FAILED',
): ServiceError {
  return invalidFields([{ field, description, constraint }], errorCode)
}

export function invalidFields(
  violations: readonly FieldViolation[],
  errorCode: ErrorCode = 'VALIDATION_FAILED',
): ServiceError {
  return new ServiceError(errorCode, violationsText(violations), { violations })
}

/** What the token endpoint answers (G14). */
const TOKEN_CATALOGUE = {
  invalid_request: { status: 400, breach: true, early: true, by: 'contract' },
  unsupported_grant_type: { status: 400, breach: true, early: true },
  invalid_client: { status: 401, early: true },
} as const satisfies Record<string, ErrorTraits & { status: number }>
type TokenErrorCode = keyof typeof TOKEN_CATALOGUE
export const TOKEN_ERRORS = Object.keys(TOKEN_CATALOGUE) as readonly TokenErrorCode[]

const TRAITS: ReadonlyMap<string, ErrorTraits> = new Map<string, ErrorTraits>([
  ...ENTRIES,
  ...Object.entries(TOKEN_CATALOGUE),
])

export function errorTraits(errorCode: string | null | undefined): ErrorTraits {
  return TRAITS.get(errorCode ?? '') ?? {}
}

/** A token endpoint error (RFC 6749 5.2, G14); its body has another shape than the rest. */
export class TokenError extends Error {
  override readonly name = 'TokenError'

  constructor(
    readonly error: TokenErrorCode,
    description: string,
    /** Set when the client authenticated with HTTP Basic, which a failure then has to name. */
    readonly challenge: boolean = false,
    /** The same, field by field; the answer does not carry it. */
    readonly violations: readonly FieldViolation[] = [],
  ) {
    super(description)
  }

  get status(): number {
    return TOKEN_CATALOGUE[this.error].status
  }
}

export function errorCodeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.errorCode
  return error instanceof TokenError ? error.error : 'INTERNAL'
}

export function violationsIn(error: unknown): readonly FieldViolation[] {
  if (error instanceof ServiceError) return error.context.violations ?? []
  return error instanceof TokenError ? error.violations : []
}
