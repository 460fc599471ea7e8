/** The input of the load generator. */
export interface LoadPlan {
  port: number
  connections: number
  milliseconds: number
  /** Requests a second over all connections; absent for full speed. */
  perSecond?: number
  /** Whole requests as text, sent in turn. `########` in a request is replaced by a number that no request had before. */
  requests: readonly string[]
  /** The first of those numbers. */
  firstNumber: number
  /** The statuses that are expected. */
  statuses: readonly number[]
}

export interface LoadResult {
  answers: number
  seconds: number
  /** CPU seconds of the generator. When they are close to `seconds`, the generator is the limit and not the server. */
  generatorSeconds: number
  nextNumber: number
  /** The longest time between a request and its answer. */
  slowestMilliseconds: number
}

export const NUMBER = '########'
