import { type IncomingMessage, request as sendRequest } from 'node:http'
import { constants, type Http2ServerRequest, type Http2ServerResponse, type Http2Session } from 'node:http2'
import { Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { hopByHopHeaders } from '../../model/domain/request-headers.ts'

/** Headers of one HTTP/1.1 connection, which HTTP/2 does not have (RFC 9113 8.2.2), and what Node answers by itself. */
const HOP_BY_HOP_HEADERS = new Set([...hopByHopHeaders(), 'expect', 'http2-settings'])

/** As much as Node.js sends over HTTP/2. The trailers of a call, which have its message and its details, count too. */
const MAX_ANSWER_HEAD = 64 * 1024

/** Whether a request is a call, by the headers and the query that only the protocols of calls send. */
export function isCall({ headers, method, url = '' }: IncomingMessage | Http2ServerRequest): boolean {
  const type = headers['content-type'] ?? ''
  if (/^application\/(grpc|proto|connect\+)/.test(type)) return true
  return headers['connect-protocol-version'] !== undefined || (method === 'GET' && /[?&]connect=v1(&|$)/.test(url))
}

/** Whether a request came over HTTP/2. */
export function isBridged({ socket }: IncomingMessage): boolean {
  return !(socket instanceof Socket)
}

/**
 * Over a pair of streams in memory, so that everything works as for any client: time limits, long polls, event streams,
 * trailers, and faults of scenarios, which end such a pair and so reset the stream. @param serve begins to read
 * HTTP/1.1 from one end of a pair
 */
export function forwardToHttp1(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  serve: (end: Duplex) => void,
): void {
  const { stream } = request
  const { session } = stream
  if (!session || request.method === 'CONNECT') {
    stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    return
  }
  let [isAnswered, isEndedEarly] = [false, false]
  const outgoing = sendRequest({
    createConnection: () => {
      const [client, server] = duplexPair()
      serve(asSocket(server, client, session, () => (isEndedEarly = true)))
      return client
    },
    method: request.method,
    path: request.url,
    headers: http1Headers(request),
    setHost: false,
    maxHeaderSize: MAX_ANSWER_HEAD,
  })
  const broken = (): void => {
    if (stream.closed || isAnswered) return
    if (isEndedEarly && isCall(request)) endWithoutStatus(response)
    else stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }
  outgoing.on('error', broken)
  outgoing.on('response', (incoming) => {
    // It did not come in whole within its time.
    if (incoming.statusCode === 408 && !request.complete) {
      stream.close(constants.NGHTTP2_CANCEL)
      return
    }
    incoming.on('error', broken)
    incoming.on('end', () => {
      isAnswered = true
      response.addTrailers(incoming.trailers)
    })
    bridgeResponse(incoming, response)
  })
  // Its client has gone, or has its answer.
  stream.once('close', () => outgoing.destroy())
  if (stream.endAfterHeaders) outgoing.end()
  else {
    // The time limits of a call begin before its body comes.
    outgoing.flushHeaders()
    request.pipe(outgoing)
  }
}

function http1Headers(request: Http2ServerRequest): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { host: request.authority }
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !name.startsWith(':') && !HOP_BY_HOP_HEADERS.has(name)) headers[name] = value
  }
  return headers
}

function bridgeResponse(incoming: IncomingMessage, response: Http2ServerResponse): void {
  const { statusCode = 500, headers } = incoming
  const pairs = Object.entries(headers).filter(([name]) => !HOP_BY_HOP_HEADERS.has(name))
  if (response.stream.destroyed) return
  response.writeHead(statusCode, Object.fromEntries(pairs))
  incoming.pipe(response)
}

/** A call whose stream ends where its message or its status is missing, as a connection of HTTP/1.1 ends in an answer. */
function endWithoutStatus(response: Http2ServerResponse): void {
  if (!response.headersSent) response.writeHead(200)
  response.stream.end()
}

/** The server's end of a pair with what handlers ask of a socket, which is the client's real one. */
function asSocket(server: Duplex, client: Duplex, session: Http2Session, ended: () => void): Duplex {
  const { remoteAddress, remotePort, localAddress, localPort } = session.socket
  const end = (): void => {
    server.destroy()
    client.destroy()
  }
  // Destroying one end of a pair leaves the other one open.
  server.once('close', () => client.destroy())
  client.once('close', () => server.destroy())
  return Object.assign(server, {
    ...(session.encrypted ? { encrypted: true } : {}),
    remoteAddress,
    remotePort,
    localAddress,
    localPort,
    resetAndDestroy: end,
    destroySoon: () => {
      ended()
      server.end()
      server.once('finish', end)
    },
  })
}
