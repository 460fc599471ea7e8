/** One of several problems, for programs: where it is, what was found, what is allowed, or what came close. */
export type ErrorDetail = Readonly<Record<string, unknown>>

interface ErrorParts {
  readonly details?: readonly ErrorDetail[]
  readonly status?: number
  readonly cause?: unknown
}

/** Every error of the library. */
export class ToolmockError extends Error {
  override readonly name = 'ToolmockError'
  /** One item for each problem. */
  readonly details: readonly ErrorDetail[]
  /** The status that the control API answered with; 0 when it was not called, or did not answer. */
  readonly status: number

  constructor(
    /**
     * Stable, in upper snake case: a code of the control API (`ILLEGAL_MOVE`, `ACCOUNT_NOT_FOUND`, `INVALID_DOCUMENT`,
     * `TIMED_OUT`, …) or of the library: `INVALID_ARGUMENT`, `NOT_STARTED`, `UNREACHABLE`, `NO_TOOLMOCK`, `CLOSED`,
     * `NOT_VERIFIED`, `CONTRACT_BROKEN`.
     */
    readonly code: string,
    /** What was found, what is allowed, and what to do. */
    message: string,
    { details = [], status = 0, cause }: ErrorParts = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.details = details
    this.status = status
  }
}
