/** Every operation (`operationId` in `spec/openapi.yaml`). */
export type OperationName =
  | 'create_token'
  | 'list_connected_accounts'
  | 'update_connected_account'
  | 'create_connected_account'
  | 'get_connected_account_auth'
  | 'get_connected_account_details'
  | 'create_magic_link'
  | 'verify_user'
  | 'delete_connected_account'
  | 'search_connected_accounts'
  | 'list_connections'
  | 'create_custom_provider'
  | 'update_custom_provider'
  | 'delete_custom_provider'
  | 'execute_tool'
  | 'list_tools'
  | 'list_scoped_tools'
  | 'list_available_tools'
  | 'list_providers'

/**
 * What an entry is about: a request of the API, a page that a browser asked for, the clock that was moved, or another change by
 * the control API.
 */
export type EntryKind = 'request' | 'page' | 'clock' | 'control'

/** Headers and body of one side of an exchange, secrets masked. */
export interface JournalMessage {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON as a value, forms as an object, everything else as text; null when there is none. */
  readonly body: unknown
  /** Set where the body was longer than what is kept of it. */
  readonly truncated?: string
}

/** An event of an account and where it led. */
export interface Transition {
  readonly account_id: string
  readonly event: string
  readonly from: string
  readonly to: string
  readonly at: string
}

/** One request of the mock to a third party. */
export interface UpstreamCall {
  readonly connector: string
  readonly account_id: string
  readonly kind: 'api' | 'token'
  readonly grant: string | null
  readonly method: string
  readonly url: string
  /** Null when no answer came. */
  readonly status: number | null
  readonly ms: number
  readonly answer: string
}

/** Credentials that were renewed, or were to be (G45, G46). */
export interface Refresh {
  readonly account_id: string
  readonly outcome: 'renewed' | 'refused' | 'unavailable'
  readonly reason: string
  readonly shared: boolean
}

/** A rule of a scenario that fired. */
export interface NotedRule {
  readonly scenario: string
  readonly rule: string
  readonly at: string
  readonly sentence: string
  readonly injected: boolean
}

/** Something in a request, or in an answer, that breaks the contract. */
export interface FieldViolation {
  readonly field: string
  /** What was found, and what is allowed. */
  readonly description: string
  readonly constraint: string
}

/** Something that was sent and had no effect (G6, G9, G10). */
export interface EntryWarning {
  readonly field: string
  readonly description: string
  readonly kind: 'unknown' | 'output_only' | 'alias' | 'ignored'
}

/** One entry of the journal, as `GET /_mock/requests` lists it; secrets are masked. Times are ISO 8601 in UTC. */
export interface JournalEntry {
  /** The `X-Request-Id` of the answer. */
  readonly id: string
  readonly kind: EntryKind
  /** In the environment's own time. */
  readonly at: string
  readonly real_at: string
  readonly duration_ms: number
  readonly environment: string
  /** Null for pages, for paths that are not served, and for what was no request of the API. */
  readonly operation: OperationName | null
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly status: number
  /** The stable `error_code` of an answer of 400 and above. */
  readonly error_code: string | null
  readonly client: string | null
  readonly account: string | null
  /** The account as the request found it. */
  readonly account_state: {
    readonly id: string
    readonly connector: string
    readonly identifier: string
    readonly status: string
    readonly token_expires_at: string | null
  } | null
  readonly execution: string | null
  readonly agent_run_id: string | null
  readonly tool: string | null
  /** Whether a scenario answered, and no operation. */
  readonly injected: boolean
  readonly rules: readonly NotedRule[]
  /** What fell due by the clock before the request was looked at. */
  readonly due: readonly Transition[]
  readonly upstream: readonly UpstreamCall[]
  readonly refreshes: readonly Refresh[]
  readonly transitions: readonly Transition[]
  readonly request: JournalMessage
  readonly response: JournalMessage
  readonly violations: readonly FieldViolation[]
  readonly warnings: readonly EntryWarning[]
  /** Where the mock's own answer broke the contract: a defect of the mock. */
  readonly response_violations: readonly FieldViolation[]
  /** The served path that was most likely meant; null for everything that is served. */
  readonly did_you_mean: string | null
  readonly failure: string | null
}
