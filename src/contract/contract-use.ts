import { errorCodeOf, errorTraits, type FieldViolation, violationsIn } from '../domain/errors.ts'
import { bearerToken } from '../domain/request-headers.ts'
import type { RequestTrace, RequestWarning } from '../domain/request-trace.ts'
import type { CheckedRequest } from './contract.ts'
import type { Operation, ServedOperation } from './shapes.ts'

/** What a request was, and what the contract check and the operation found in it. */
export interface RecordedUse {
  readonly request: string
  readonly method: string
  readonly url: string
  /** Of its environment; undefined without one. */
  readonly clock: { now(): number } | undefined
  readonly operation: ServedOperation
  readonly authorization: string | undefined
  /** Undefined when the request was refused before the contract check. */
  readonly checked: CheckedRequest<Operation> | undefined
  readonly body: unknown
  readonly error: unknown
  readonly trace: { readonly warnings: readonly RequestWarning[] }
}

/** A request to an operation with its answer, in the document's words (G48). */
export interface OperationUse extends RecordedUse {
  readonly operation: Operation
  /** 0 when the connection ended without an answer. */
  readonly status: number
  readonly errorCode: string | null
  readonly answer: unknown
  readonly answerViolations: readonly FieldViolation[]
  /** A scenario gave, cut or changed the answer. */
  readonly injected: boolean
  readonly trace: RequestTrace
}

/** Where the requests of one environment are recorded for the reports. */
export interface ContractUseRecord {
  addUse(use: OperationUse): void
  /** Adds a request of the proxy, which covers nothing of the contract. */
  addProxyUse(use: RecordedUse): void
}

/** Constraints of a 400 that say no more than a 404 elsewhere: the account does not exist (G34). */
const ABOUT_STATE: ReadonlySet<string> = new Set(['existing_account'])

/** Whether a request broke the contract, by the error that answers it. */
export function isBreach(error: unknown, authorization: string | undefined): boolean {
  const code = errorCodeOf(error)
  if (code === 'UNAUTHENTICATED') return bearerToken(authorization) === undefined
  // Wrong credentials break no rule, a request without any does.
  if (code === 'invalid_client') return violationsIn(error).length > 0
  if (!errorTraits(code).breach) return false
  const violations = violationsIn(error)
  return violations.length === 0 || violations.some(({ constraint }) => !ABOUT_STATE.has(constraint))
}
