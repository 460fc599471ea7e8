/** What a load generator is told to do. */
export interface LoadPlan {
  port: number
  connections: number
  milliseconds: number
  /** Requests a second over all connections, where the server is not asked as fast as it answers. */
  perSecond?: number
  /** Whole requests as text, asked in turn. `########` in one becomes a number that no request has had before. */
  requests: readonly string[]
  /** The first of those numbers. */
  firstNumber: number
  /** What may be answered. */
  statuses: readonly number[]
}

export interface LoadResult {
  answers: number
  seconds: number
  /** CPU seconds of the generator itself: close to `seconds`, it is the generator that was measured. */
  generatorSeconds: number
  nextNumber: number
  /** The longest anybody waited for an answer. */
  slowestMilliseconds: number
}

export const NUMBER = '########'
