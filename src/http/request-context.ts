import type { Request, Response } from 'express'
import type { CheckedRequest, ContractWarning, Route } from '../contract/contract.ts'
import type { Operation } from '../contract/shapes.ts'
import type { Client } from '../domain/client.ts'
import type { FieldViolation } from '../domain/errors.ts'
import type { FaultKind } from '../domain/scenario.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import type { Reply } from '../operations/operation.ts'
import type { Environment } from '../state/environment.ts'
import type { ReadGuard } from '../state/read-guard.ts'
import type { WireAnswer } from './wire-answer.ts'

/** One request of the API on its way through the request pipeline; each step fills in what it finds. */
export interface RequestContext {
  readonly request: Request
  readonly response: Response
  readonly route: Route
  readonly requestId: string
  /** Milliseconds of real time at which the request came in. */
  readonly startedAt: number
  /** What it is about and what it causes. */
  readonly trace: RequestTrace
  /** Known once the client's credentials or bearer token have been checked. */
  environment?: Environment
  client?: Client
  /** What everything that it reads of the environment stands on. */
  readGuard?: ReadGuard
  /** As it was sent; empty when there was none or it was not read. */
  rawBody: Buffer
  /** The parsed body, undefined when there is none. */
  body: unknown
  /** The query in the document's words, once an environment with a vocabulary has understood the request (G48). */
  query?: string
  checked?: CheckedRequest<Operation>
  reply?: Reply
  /** What is told in the words of the environment's vocabulary, where it has one. */
  wire?: WireWords
  /** The reply as it goes over the wire. */
  answer?: WireAnswer
  /** What the scenarios do to the answer, where a rule fired that does. */
  fault?: AnswerFault
  /** What the contract check of our own answer found: a defect of the mock (must stay empty). */
  responseViolations: readonly FieldViolation[]
  /** What made the answer an error, for the journal. */
  error?: unknown
}

/** What the rules of scenarios do to an answer (1.4). */
export interface AnswerFault {
  /** The connection has ended with this fault, and nothing was answered. */
  readonly cut?: FaultKind | undefined
  /** The answer is theirs, and no operation's. */
  readonly injected: boolean
  /** The text of an injected answer that is no JSON. */
  readonly text?: string | undefined
  /** Puts the answer on the wire in its own way. */
  readonly deliver?: ((answer: WireAnswer) => Promise<void>) | undefined
}

/** Reply and findings in the words of the wire (G48). */
export interface WireWords {
  readonly vocabulary: Vocabulary
  readonly reply: Reply | undefined
  readonly violations: readonly FieldViolation[]
  readonly warnings: readonly ContractWarning[]
}

/** What every step before and after it relies on: an environment that is known by now. */
export function environmentOf(context: RequestContext): Environment {
  if (!context.environment)
    throw new Error(`${context.route.operation} reached a step that needs an environment without one`)
  return context.environment
}
