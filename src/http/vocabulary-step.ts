import {
  answerInWireWords,
  bodyInDocumentWords,
  errorInWireWords,
  queryInDocumentWords,
  violationsInWireWords,
} from '../contract/vocabulary.ts'
import { ServiceError } from '../domain/errors.ts'
import type { JsonValue } from '../domain/json.ts'
import type { RequestWarning } from '../domain/request-trace.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import type { Reply } from '../operations/operation.ts'
import { errorReply } from './answer.ts'
import type { RequestContext, WireWords } from './request-context.ts'

export function requestFromWire(context: RequestContext, vocabulary: Vocabulary): void {
  const { route, request, body } = context
  if (body !== undefined) context.body = bodyInDocumentWords(route.operation, body as JsonValue, vocabulary)
  context.documentQuery = queryInDocumentWords(route.operation, request.query, vocabulary)
}

/** Reply and findings in the vocabulary's words. The contract check has seen them in the document's. */
export function wireWords(context: RequestContext, vocabulary: Vocabulary): WireWords {
  const { route, documentQuery: query = '', body, checked, trace } = context
  const request = { operation: route.operation, query, body }
  const warningsInWireWords = (warnings: readonly RequestWarning[]): RequestWarning[] =>
    violationsInWireWords(warnings, request, vocabulary).map((warning) => {
      const { did_you_mean: meant } = warning
      return meant === undefined ? warning : { ...warning, did_you_mean: vocabulary.wire(meant) }
    })
  const wire = {
    vocabulary,
    reply: wireReply(context, vocabulary),
    violations: violationsInWireWords(checked?.violations ?? [], request, vocabulary),
    warnings: warningsInWireWords(checked?.warnings ?? []),
  }
  trace.warnings = warningsInWireWords(trace.warnings)
  return wire
}

function wireReply(context: RequestContext, vocabulary: Vocabulary): Reply | undefined {
  const { route, documentQuery: query = '', body, error, requestId } = context
  const request = { operation: route.operation, query, body }
  const reply =
    error instanceof ServiceError ? errorReply(errorInWireWords(error, request, vocabulary), requestId) : context.reply
  if (reply?.body === undefined) return reply
  const answer = { status: reply.status, body: reply.body as JsonValue }
  return { ...reply, cacheable: false, body: answerInWireWords(route.operation, answer, vocabulary) }
}
