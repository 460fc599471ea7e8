/** Where a clock stands. */
export interface ClockView {
  /** ISO 8601 in UTC with milliseconds. */
  readonly now: string
  /** Whether it stands still. */
  readonly frozen: boolean
}
