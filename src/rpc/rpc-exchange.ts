import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, type Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { createContextKey } from '@connectrpc/connect'
import type { UniversalServerResponse } from '@connectrpc/connect/protocol'
import type { Deliver } from '../http/request-context.ts'
import type { FaultResponse, FaultSocket } from '../scenarios/faults/fault-response.ts'

/** A request of gRPC, gRPC-Web or Connect, and its response; the first needs HTTP/2. */
export class RpcExchange {
  readonly request: IncomingMessage | Http2ServerRequest
  readonly response: ServerResponse | Http2ServerResponse
  /** How a fault sends the answer; undefined when it is sent as it is. */
  deliver: Deliver | undefined
  /** Its `X-Request-Id`, once an operation or a refusal answers it. */
  requestId: string | undefined
  readonly #abandoned = new AbortController()

  constructor(request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse) {
    this.request = request
    this.response = response
  }

  /** The addresses of the connection, and `encrypted` where it is. HTTP/2 has no socket, only what stands for one. */
  get socket(): IncomingMessage['socket'] {
    const { request } = this
    if (!('stream' in request)) return request.socket
    const { localAddress, localPort } = request.socket
    const encrypted = request.stream.session?.encrypted ? { encrypted: true } : {}
    return { localAddress, localPort, ...encrypted } as IncomingMessage['socket']
  }

  /** Aborted once the client no longer waits for the answer. */
  get abandoned(): AbortSignal {
    return this.#abandoned.signal
  }

  get isOver(): boolean {
    return this.abandoned.aborted
  }

  end(): void {
    this.#abandoned.abort()
  }

  /** The response as faults see it; `answer` is what they send, undefined before there is one. */
  faultResponse(answer?: UniversalServerResponse): FaultResponse {
    return new RpcFaultResponse(this, answer)
  }
}

/** By which the implementation of a method finds its exchange. */
export const EXCHANGE = createContextKey<RpcExchange | undefined>(undefined)

/** The response of one call: over HTTP/2 its stream stands for the connection, which other calls use too. */
class RpcFaultResponse implements FaultResponse {
  readonly socket: FaultSocket
  readonly req: { readonly socket: FaultSocket }
  readonly #exchange: RpcExchange
  readonly #answer: UniversalServerResponse | undefined

  constructor(exchange: RpcExchange, answer: UniversalServerResponse | undefined) {
    this.#exchange = exchange
    this.#answer = answer
    this.socket = socketOf(exchange)
    this.req = { socket: this.socket }
  }

  get destroyed(): boolean {
    return this.#exchange.isOver
  }

  writeHead(status: number, headers: Record<string, string | number | string[]>): void {
    const { response } = this.#exchange
    // A length that the data does not have is an error of HTTP/2 itself.
    const kept = Object.entries(headers).filter(([name]) => !isHttp2(response) || name !== 'Content-Length')
    response.writeHead(status, Object.fromEntries(kept))
  }

  flushHeaders(): void {
    const { response } = this.#exchange
    if (!isHttp2(response)) response.flushHeaders()
  }

  write(octets: Buffer, sent?: () => void): void {
    if (isHttp2(this.#exchange.response)) this.#exchange.response.write(octets, 'utf8', sent)
    else this.#exchange.response.write(octets, sent)
  }

  end(body: string | Buffer | (() => void) | undefined, sent?: () => void): void {
    const { response } = this.#exchange
    if (this.#answer?.trailer) response.addTrailers(Object.fromEntries(this.#answer.trailer))
    if (typeof body === 'string' || Buffer.isBuffer(body)) response.end(body, 'utf8', sent)
    else response.end(body)
  }

  once(_event: 'close', listener: () => void): void {
    this.socket.once('close', listener)
  }
}

function socketOf({ abandoned, response }: RpcExchange): FaultSocket {
  const listen = (listener: () => void): void => abandoned.addEventListener('abort', listener, { once: true })
  const ends = isHttp2(response) ? endsOfStream(response) : endsOfConnection(response)
  return {
    get destroyed() {
      return abandoned.aborted
    },
    ...ends,
    on: (_event, listener) => listen(listener),
    once: (_event, listener) => listen(listener),
    off: (_event, listener) => abandoned.removeEventListener('abort', listener),
  }
}

type Ends = Pick<FaultSocket, 'destroy' | 'destroySoon' | 'resetAndDestroy'>

function endsOfStream(response: Http2ServerResponse): Ends {
  const { stream } = response
  return {
    destroy: () => stream.close(constants.NGHTTP2_CANCEL),
    resetAndDestroy: () => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
    // A stream ends with a head at least; without trailers it has no status.
    destroySoon: () => {
      if (!response.headersSent) response.writeHead(200)
      stream.end()
    },
  }
}

function endsOfConnection({ socket }: ServerResponse): Ends {
  return {
    destroy: () => socket?.destroy(),
    resetAndDestroy: () => {
      if (socket && 'encrypted' in socket) socket.destroy()
      else socket?.resetAndDestroy()
    },
    destroySoon: () => socket?.destroySoon(),
  }
}

function isHttp2(response: ServerResponse | Http2ServerResponse): response is Http2ServerResponse {
  return response instanceof Http2ServerResponse
}
