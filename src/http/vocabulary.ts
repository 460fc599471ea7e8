import { errorInWireWords, violationsInWireWords } from '../contract/vocabulary-errors.ts'
import { answerInWireWords, bodyInDocumentWords, queryInDocumentWords } from '../contract/vocabulary.ts'
import { ServiceError } from '../domain/errors.ts'
import type { JsonValue } from '../domain/json.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import type { Reply } from '../operations/operation.ts'
import { errorReply } from './error-body.ts'
import type { RequestContext } from './request-context.ts'
import { queryOf } from './request-contract.ts'
import type { AppServices } from '../app-services.ts'

/** The request in the document's words: the inside knows no others (G48). */
export function fromWire(context: RequestContext, services: AppServices): void {
  const vocabulary = vocabularyOf(context, services)
  if (!vocabulary) return
  const { route, request, body } = context
  if (body !== undefined) context.body = bodyInDocumentWords(route.operation, body as JsonValue, vocabulary)
  context.query = queryInDocumentWords(route.operation, queryOf(request.originalUrl), vocabulary)
}

/** What the caller and the journal are told in the words of the wire; the contract check has seen the document's. */
export function toWire(context: RequestContext, services: AppServices): void {
  const vocabulary = vocabularyOf(context, services)
  if (!vocabulary) return
  const { route, query = '', body, checked, trace } = context
  const request = { operation: route.operation, query, body }
  context.wire = {
    vocabulary,
    reply: wireReply(context, vocabulary),
    violations: violationsInWireWords(checked?.violations ?? [], request, vocabulary),
    warnings: violationsInWireWords(checked?.warnings ?? [], request, vocabulary),
  }
  trace.warnings = violationsInWireWords(trace.warnings, request, vocabulary)
}

function wireReply(context: RequestContext, vocabulary: Vocabulary): Reply | undefined {
  const { route, query = '', body, error, requestId } = context
  const request = { operation: route.operation, query, body }
  const reply =
    error instanceof ServiceError ? errorReply(errorInWireWords(error, request, vocabulary), requestId) : context.reply
  if (reply?.body === undefined) return reply
  const told = { status: reply.status, body: reply.body as JsonValue }
  return { ...reply, cacheable: false, body: answerInWireWords(route.operation, told, vocabulary) }
}

/** Undefined without one, and at the token endpoint, whose words are those of RFC 6749. */
function vocabularyOf({ route, environment }: RequestContext, { vocabularies }: AppServices): Vocabulary | undefined {
  return environment && route.bearer ? vocabularies.of(environment.settings.vocabulary) : undefined
}
