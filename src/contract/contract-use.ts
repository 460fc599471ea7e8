import type { FieldViolation } from '../domain/errors.ts'
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
