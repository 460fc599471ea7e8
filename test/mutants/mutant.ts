import type { Operation } from '../../src/model/contract/shapes.ts'
import { ServiceError, type ErrorCode } from '../../src/model/domain/errors.ts'
import type { Call, Handler, Reply } from '../../src/service/operations/operation.ts'

/** The mock with one small change in behaviour, which the conformance suite must detect. */
export interface Mutant {
  /** Its key in the table. */
  readonly name: string
  /** The wrong behaviour. */
  readonly what: string
  /** The check that must detect it; others may detect it as well. */
  readonly caughtBy: string
  readonly mutate: (parts: Parts) => void
}

/** By the check that must detect it and the wrong behaviour: `create/created: create answers 200`. */
export type MutantTable = Readonly<Record<string, Mutant['mutate']>>

/** What a mutant may change. */
export interface Parts {
  /** Wraps the handler of an operation. */
  readonly around: <Id extends Operation>(operation: Id, wrapped: Around<Id>) => void
  /** Changes a request before the mock sees it. */
  readonly request: (change: (request: WireRequest) => void) => void
  /** Changes an answer before it leaves. */
  readonly reply: (change: (reply: WireReply, request: WireRequest) => void) => void
}

export type Around<Id extends Operation> = (call: Call<Id>, handler: Handler<Id>) => Reply | Promise<Reply>

export interface WireRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  /** The query as it was sent. */
  readonly sentQuery: string
  readonly headers: Record<string, string | string[] | undefined>
  /** What is sent in place of the body. */
  body?: string
}

export interface WireReply {
  status: number
  headers: Record<string, string>
  /** The parsed body; undefined when there is none. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a mutant reaches into any answer
  body: any
}

/** A mutant that changes what an operation answers when it succeeds. */
export function answering<Id extends Operation>(
  operation: Id,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a mutant reaches into any answer
  change: (body: any, call: Call<Id>) => void,
): Mutant['mutate'] {
  return ({ around }) => {
    around(operation, async (call, handler) => {
      const reply = await handler(call)
      const body: unknown = structuredClone(reply.body)
      change(body, call)
      return { ...reply, body }
    })
  }
}

/** A mutant that answers in place of an error. */
export function answersInsteadOfError<Id extends Operation>(
  operation: Id,
  code: ErrorCode,
  answer: (call: Call<Id>) => Reply,
): Mutant['mutate'] {
  return ({ around }) => {
    around(operation, async (call, handler) => {
      try {
        return await handler(call)
      } catch (error) {
        if (error instanceof ServiceError && error.errorCode === code) return answer(call)
        throw error
      }
    })
  }
}

/** A mutant that answers one error where it should answer another. */
export function answersOtherError(operation: Operation, code: ErrorCode, instead: ErrorCode): Mutant['mutate'] {
  return answersInsteadOfError(operation, code, () => {
    throw new ServiceError(instead, 'something else')
  })
}

/** A mutant that answers another status for errors about a field. */
export function answersOtherStatus(
  path: string,
  field: string | RegExp,
  status: number,
  body: unknown,
): Mutant['mutate'] {
  return ({ reply }) => {
    reply((answer, request) => {
      if (request.path !== path || answer.status !== 400) return
      const violations: { field: string }[] = answer.body?.details?.[0]?.validation_error_info?.field_violations ?? []
      if (!violations.some((each) => each.field.match(field))) return
      answer.status = status
      answer.body = body
    })
  }
}
