import type { FieldViolation } from '../domain/errors.ts'
import type { Operation } from './shapes.ts'

/**
 * One request and its answer as they were on the wire, with the results of the contract check. Query and bodies are in the
 * document's words where the environment has a vocabulary (G48).
 */
export interface ObservedExchange {
  /** Null for paths and methods that the service does not serve. */
  readonly operation: Operation | null
  readonly request: {
    readonly method: string
    /** Without the query, percent-encoded as it was sent. */
    readonly path: string
    /** Without the question mark; empty when there is none. */
    readonly query: string
    /** Names in lower case. */
    readonly headers: Readonly<Record<string, string>>
    /** As it was sent; empty when there is none. */
    readonly body: string
  }
  /** Undefined when the request was refused before the contract check: no bearer token, a body that is not JSON. */
  readonly requestViolations: readonly FieldViolation[] | undefined
  readonly response: {
    readonly status: number
    /** Names in lower case. */
    readonly headers: Readonly<Record<string, string>>
    /** Parsed JSON; undefined when there is no body content. */
    readonly body: unknown
  }
  /** Undefined when the answer was not checked. */
  readonly responseViolations: readonly FieldViolation[] | undefined
  /** Whether a scenario answered or changed the answer, which then proves nothing about the service. */
  readonly injected?: boolean
}
