import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import { errorCodeOf } from '../../model/domain/errors.ts'
import { targetOf } from '../../model/domain/request-headers.ts'
import type { EntryFacts, IdUse, OpenEntry } from '../../journal/request-journal/request-entries.ts'
import { errorReply, unexpectedFailure, sendResponse, wireResponse } from './wire-response.ts'
import type { ServiceParts } from './services.ts'

/** A request that is answered by one reply: a page, a call of a fake application, or one that nothing serves. */
export interface Visit extends OpenEntry {
  /** What was read of its body. */
  body: Buffer | string
}

export interface HttpReply {
  /** Undefined where a fault has ended the connection. */
  readonly wireResponse: EncodedResponse | undefined
  /** Sends it as a fault wants it. */
  readonly deliver?: ((response: EncodedResponse) => Promise<void>) | undefined
  /** What its entry says beside it. */
  readonly facts?: Partial<EntryFacts>
}

interface Replying {
  readonly kind: OpenEntry['kind']
  readonly ids: IdUse
  readonly handle: (visit: Visit) => HttpReply | Promise<HttpReply>
  /** What its entry says, whatever the reply. */
  readonly facts?: Partial<EntryFacts>
  /** Of the reply to what `handle` throws, instead of the error's own. */
  readonly status?: number | undefined
  /** The reply to what `handle` throws, and to a disk that refuses the state; where it has none, it is an error of the service. */
  readonly refuse?: (error: unknown, visit: Visit) => HttpReply | undefined
}

/** Answers a request by a reply, with its entry in the request journal. */
export async function replyTo(
  { entries, log }: Pick<ServiceParts, 'entries' | 'log'>,
  message: IncomingMessage,
  response: ServerResponse,
  { kind, ids, handle, refuse, status, facts: knownFacts }: Replying,
): Promise<void> {
  const visit: Visit = { ...entries.begin(kind, ids, message.headers), body: '' }
  const refusal = (error: unknown): HttpReply => {
    const reply = refuse?.(error, visit)
    if (reply) return reply
    const failure = unexpectedFailure(error)
    if (failure !== null)
      log.error('a request failed outside the request pipeline', { path: message.url, error: failure })
    const response = wireResponse(errorReply(error, visit.requestId), visit.requestId)
    return { wireResponse: response, facts: { errorCode: errorCodeOf(error), failure } }
  }
  let reply: HttpReply
  try {
    reply = await handle(visit)
  } catch (error) {
    reply = refusal(error)
    if (reply.wireResponse && status !== undefined)
      reply = { ...reply, wireResponse: { ...reply.wireResponse, status } }
  }
  await entries.end(visit, (refused) => {
    const { wireResponse, deliver, facts } = refused ? refusal(refused) : reply
    const encoded = wireResponse && withLength(wireResponse, visit)
    return {
      facts: {
        method: message.method,
        url: targetOf(message),
        requestHeaders: message.rawHeaders,
        requestBody: visit.body,
        status: encoded?.status ?? 0,
        responseHeaders: encoded?.headers,
        responseBody: encoded?.body,
        ...knownFacts,
        ...facts,
      },
      send: () => (!encoded ? undefined : deliver ? deliver(encoded) : sendResponse(response, encoded)),
    }
  })
}

function withLength({ status, headers, body }: EncodedResponse, { requestId }: Visit): EncodedResponse {
  const length = status === 204 || status === 304 ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  return { status, headers: { 'X-Request-Id': requestId, ...headers, ...length }, body }
}
