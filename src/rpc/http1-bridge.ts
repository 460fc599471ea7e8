import { type IncomingMessage, request as sendRequest } from 'node:http'
import { constants, type Http2ServerRequest, type Http2ServerResponse, type Http2Session } from 'node:http2'
import { type Duplex, duplexPair } from 'node:stream'
import { hopByHopHeaders } from '../domain/request-headers.ts'

/** Headers of one HTTP/1.1 connection, which HTTP/2 does not have (RFC 9113 8.2.2), and what Node answers by itself. */
const HOP_BY_HOP_HEADERS = new Set([...hopByHopHeaders(), 'expect', 'http2-settings'])

/**
 * Forwards a request of HTTP/2 to the HTTP/1.1 side of the same process, because Express cannot serve one. It goes over a pair
 * of streams in memory, so that everything there works as it does for any client: time limits, long polls, event streams, and
 * the faults of scenarios, which end such a pair and so reset the stream.
 *
 * @param serve begins to read HTTP/1.1 from one end of a pair
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
  const outgoing = sendRequest({
    createConnection: () => {
      const [client, server] = duplexPair()
      serve(asSocket(server, client, session))
      return client
    },
    method: request.method,
    path: request.url,
    headers: http1Headers(request),
    setHost: false,
  })
  const reset = (): void => {
    if (!stream.closed) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }
  outgoing.on('error', reset)
  outgoing.on('response', (incoming) => {
    answer(incoming, response)
    incoming.on('error', reset)
  })
  // Its client has gone, or has its answer.
  stream.once('close', () => outgoing.destroy())
  if (stream.endAfterHeaders) outgoing.end()
  else request.pipe(outgoing)
}

function http1Headers(request: Http2ServerRequest): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { host: request.authority }
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !name.startsWith(':') && !HOP_BY_HOP_HEADERS.has(name)) headers[name] = value
  }
  return headers
}

function answer(incoming: IncomingMessage, response: Http2ServerResponse): void {
  const { statusCode = 500, headers } = incoming
  const kept = Object.entries(headers).filter(([name]) => !HOP_BY_HOP_HEADERS.has(name))
  if (response.stream.destroyed) return
  response.writeHead(statusCode, Object.fromEntries(kept))
  incoming.pipe(response)
}

/** The server's end of a pair with what handlers ask of a socket, which is the client's real one. */
function asSocket(server: Duplex, client: Duplex, session: Http2Session): Duplex {
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
      server.end()
      server.once('finish', end)
    },
  })
}
