import type { Answer } from '../conform/answer.ts'
import type { Check } from '../conform/check.ts'
import type { HttpRequest } from '../http-client.ts'

/** A request and what the service answered to it. The path of the request begins with a slash, the query included. */
export interface Exchange {
  readonly request: HttpRequest
  readonly answer: Answer
  /** What asks, where it is a check of the conformance suite. */
  readonly check?: AskingCheck | undefined
}

export type AskingCheck = Pick<Check, 'id' | 'operation' | 'basis' | 'title'>
