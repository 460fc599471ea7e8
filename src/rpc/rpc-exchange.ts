import type { IncomingMessage, ServerResponse } from 'node:http'
import { createContextKey } from '@connectrpc/connect'
import type { UniversalServerResponse } from '@connectrpc/connect/protocol'
import { passedOn } from '../domain/request-headers.ts'
import { holdAnswer } from '../http/held-answers.ts'
import type { Deliver } from '../http/request-context.ts'
import type { ServiceParts } from '../http/services.ts'
import { isBridged } from './http1-bridge.ts'

/** A request of gRPC, gRPC-Web or Connect, and its response. */
export class RpcExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly release: () => void
  /** How a fault sends the answer; undefined when it is sent as it is. */
  deliver: Deliver | undefined
  /** Its `X-Request-Id`, once an operation or a refusal answers it. */
  requestId: string | undefined
  /** Whether the client no longer waits for the answer. */
  isOver = false

  constructor(request: IncomingMessage, response: ServerResponse, registry: ServiceParts['registry']) {
    this.request = request
    this.response = response
    this.release = holdAnswer(response, registry)
  }

  /** Names and values in turn, as its client sent them. */
  get rawHeaders(): readonly string[] {
    const { request } = this
    return isBridged(request) ? passedOn(request).flat() : request.rawHeaders
  }

  /** The response as faults see it; `answer` is what they send, undefined before there is one. */
  faultResponse(answer?: UniversalServerResponse): ServerResponse {
    const { request, response } = this
    if (!answer || !(answer.trailer || isBridged(request))) return response
    if (answer.trailer) response.addTrailers(Object.fromEntries(answer.trailer))
    const writeHead = response.writeHead.bind(response)
    // Trailers follow a body in chunks, and a length that the data does not have is an error of HTTP/2 itself.
    return Object.assign(response, {
      writeHead: (status: number, { 'Content-Length': _, ...headers }: Record<string, string | number | string[]>) =>
        writeHead(status, headers),
    })
  }
}

/** By which the implementation of a method finds its exchange. */
export const EXCHANGE = createContextKey<RpcExchange | undefined>(undefined)
