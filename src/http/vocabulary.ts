import { errorInWireWords, violationsInWireWords } from '../contract/vocabulary-errors.ts'
import { answerInWireWords, bodyInDocumentWords, queryInDocumentWords } from '../contract/vocabulary.ts'
import { ServiceError } from '../domain/errors.ts'
import type { JsonValue } from '../domain/json.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import type { Reply } from '../operations/operation.ts'
import { errorReply } from './error-body.ts'
import type { Exchange } from './request-context.ts'
import { queryOf } from './request-contract.ts'
import type { Corridor } from '../app-services.ts'

/** The request in the document's words: the inside knows no others (G48). */
export function understand(exchange: Exchange, corridor: Corridor): void {
  const vocabulary = vocabularyOf(exchange, corridor)
  if (!vocabulary) return
  const { route, request, body } = exchange
  if (body !== undefined) exchange.body = bodyInDocumentWords(route.operation, body as JsonValue, vocabulary)
  exchange.query = queryInDocumentWords(route.operation, queryOf(request.originalUrl), vocabulary)
}

/** What the caller and the journal are told in the words of the wire; the contract check has seen the document's. */
export function speak(exchange: Exchange, corridor: Corridor): void {
  const vocabulary = vocabularyOf(exchange, corridor)
  if (!vocabulary) return
  const { route, query = '', body, checked, trail } = exchange
  const request = { operation: route.operation, query, body }
  exchange.spoken = {
    vocabulary,
    reply: spokenReply(exchange, vocabulary),
    violations: violationsInWireWords(checked?.violations ?? [], request, vocabulary),
    warnings: violationsInWireWords(checked?.warnings ?? [], request, vocabulary),
  }
  trail.warnings = violationsInWireWords(trail.warnings, request, vocabulary)
}

function spokenReply(exchange: Exchange, vocabulary: Vocabulary): Reply | undefined {
  const { route, query = '', body, error, requestId } = exchange
  const request = { operation: route.operation, query, body }
  const reply =
    error instanceof ServiceError ? errorReply(errorInWireWords(error, request, vocabulary), requestId) : exchange.reply
  if (reply?.body === undefined) return reply
  const told = { status: reply.status, body: reply.body as JsonValue }
  return { ...reply, lasting: false, body: answerInWireWords(route.operation, told, vocabulary) }
}

/** Undefined without one, and at the token endpoint, whose words are those of RFC 6749. */
function vocabularyOf({ route, environment }: Exchange, { vocabularies }: Corridor): Vocabulary | undefined {
  return environment && route.bearer ? vocabularies.of(environment.settings.vocabulary) : undefined
}
