import {
  responseInWireWords,
  bodyInDocumentWords,
  errorInWireWords,
  queryInDocumentWords,
} from '../../model/contract/vocabulary.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import type { JsonValue } from '../../model/domain/json.ts'
import type { Vocabulary } from '../../model/domain/vocabulary.ts'
import type { Reply } from '../../service/operations/operation.ts'
import { errorReply } from './wire-response.ts'
import type { RequestContext, WireWords } from './request-context.ts'

export function requestFromWire(context: RequestContext, vocabulary: Vocabulary): void {
  const { route, request, body } = context
  if (body !== undefined) context.body = bodyInDocumentWords(route.operation, body as JsonValue, vocabulary)
  context.documentQuery = queryInDocumentWords(route.operation, request.query, vocabulary)
}

export function wireWords(context: RequestContext, vocabulary: Vocabulary): WireWords {
  return { vocabulary, reply: wireReply(context, vocabulary) }
}

function wireReply(context: RequestContext, vocabulary: Vocabulary): Reply | undefined {
  const { route, documentQuery: query = '', body, error, requestId } = context
  const request = { operation: route.operation, query, body }
  const reply =
    error instanceof ServiceError ? errorReply(errorInWireWords(error, request, vocabulary), requestId) : context.reply
  if (reply?.body === undefined) return reply
  const response = { status: reply.status, body: reply.body as JsonValue }
  return { ...reply, cacheable: false, body: responseInWireWords(route.operation, response, vocabulary) }
}
