import type { CheckedRequest } from './contract.ts'
import type { Operation } from './shapes.ts'

/** A request to an operation with its answer, in the document's words (G48). What was wrong with it are the findings of its entry. */
export interface OperationUse {
  readonly operation: Operation
  /** Undefined when the request was refused before the contract check. */
  readonly checked: CheckedRequest<Operation> | undefined
  readonly body: unknown
  /** 0 when the connection ended without an answer. */
  readonly status: number
  readonly errorCode: string | null
  readonly response: unknown
  /** A scenario gave, cut or changed the answer. */
  readonly injected: boolean
  readonly isBreach: boolean
}

export interface ContractUseSink {
  addUse(use: OperationUse): void
}
