import type { Operation } from '../contract/shapes.ts'
import type { AccountStatus } from '../domain/account.ts'
import type { FieldViolation } from '../domain/errors.ts'
import type { Instant } from '../domain/instant.ts'
import type { JsonValue } from '../domain/json.ts'
import type { NotedRule, Refresh, RequestTrace, Transition, UpstreamCall } from '../domain/request-trace.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'

/**
 * What an entry is about: a request of the API (or of a path that is not served), a page that a browser asked for, the clock
 * that was moved, or another change by the control API.
 */
export const ENTRY_KINDS = ['request', 'page', 'clock', 'control'] as const
export type EntryKind = (typeof ENTRY_KINDS)[number]

/** One thing that its author would want to know of, though it is no violation (G6, G9, G10, G11). */
export interface EntryWarning {
  readonly field: string
  readonly description: string
  readonly kind: 'unknown' | 'output_only' | 'alias' | 'ignored'
}

/**
 * What the journal keeps of a request: references to what was there anyway, secrets included. Nothing is formatted, parsed
 * or masked before somebody reads it.
 */
export interface Recorded {
  readonly kind: EntryKind
  /** The `X-Request-Id` of the answer (G18). */
  readonly id: string
  readonly environment: string
  /** Milliseconds in the environment's own time, and in real time. */
  readonly at: number
  readonly realAt: number
  readonly durationMs: number
  readonly operation: Operation | null
  readonly method: string
  /** As it was sent, with its query. For `clock` and `control`: what was done, in one sentence. */
  readonly url: string
  /** Names and values in turn, as they came. */
  readonly requestHeaders: readonly string[]
  readonly requestBody: Uint8Array | string
  readonly status: number
  readonly errorCode: string | null
  readonly responseHeaders: Readonly<Record<string, string>>
  readonly responseBody: string
  readonly client: string | null
  readonly trace: RequestTrace
  /** The words of the wire, where the environment has others than the document (G48). */
  readonly vocabulary?: Vocabulary | undefined
  readonly violations: readonly FieldViolation[]
  readonly warnings: readonly EntryWarning[]
  /** Where our own answer broke the contract: a defect of the mock. */
  readonly responseViolations: readonly FieldViolation[]
  /** What is known of a failure beyond the answer: a defect of the mock, the problem behind a page. */
  readonly failure: string | null
}

/** Headers and body of one side of an exchange, secrets masked. */
export interface JournalMessage {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON as a value, forms as an object, everything else as text; null when there is none. */
  readonly body: JsonValue
  /** Set where the body was longer than what is kept of it. */
  readonly truncated?: string
}

/** The account of a request as the request found it. */
export interface AccountState {
  readonly id: string
  readonly connector: string
  readonly identifier: string
  readonly status: AccountStatus
  readonly token_expires_at: Instant | null
}

/** One entry as people and programs read it. */
export interface JournalEntry {
  readonly id: string
  readonly kind: EntryKind
  readonly at: Instant
  readonly real_at: Instant
  readonly duration_ms: number
  readonly environment: string
  /** Null for pages, for paths that are not served, and for what was no request of the API. */
  readonly operation: Operation | null
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly status: number
  /** The stable `error_code` of an answer of 400 and above. */
  readonly error_code: string | null
  readonly client: string | null
  readonly account: string | null
  readonly account_state: AccountState | null
  readonly execution: string | null
  readonly agent_run_id: string | null
  readonly tool: string | null
  /** Whether a scenario answered, and no operation. */
  readonly injected: boolean
  readonly rules: readonly NotedRule[]
  readonly due: readonly Transition[]
  readonly upstream: readonly UpstreamCall[]
  readonly refreshes: readonly Refresh[]
  readonly transitions: readonly Transition[]
  readonly request: JournalMessage
  readonly response: JournalMessage
  readonly violations: readonly FieldViolation[]
  readonly warnings: readonly EntryWarning[]
  readonly response_violations: readonly FieldViolation[]
  /** The served path that was most likely meant; null for everything that is served. */
  readonly did_you_mean: string | null
  readonly failure: string | null
}
