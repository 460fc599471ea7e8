import { type Server } from 'node:http'
import { createServer, type Http2Session, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { ServerLimits } from '../http/server.ts'
import { forwardToHttp1 } from './http1-bridge.ts'

/** What a client of HTTP/2 sends first (RFC 9113 3.4). No method of HTTP/1.1 begins like its first three octets. */
const PREFACE = Buffer.from('PRI')

/** The same as Node's own limit on the head of an HTTP/1.1 request. */
const MAX_HEAD = 16 * 1024

/** Streams that one connection may have open. */
const MAX_STREAMS = 250

/** HTTP/2 on the port of an HTTP/1.1 server. */
export interface Http2Side {
  /** Lets streams under way finish and takes no new ones. */
  close(): void
}

/** By ALPN with TLS, else by the first octets (prior knowledge). All others go to the HTTP/1.1 server as they came. */
export function serveHttp2(server: Server, limits: ServerLimits): Http2Side {
  const isTls = server.listenerCount('secureConnection') > 0
  const event = isTls ? 'secureConnection' : 'connection'
  // The first listener is Node's own, which begins to read HTTP/1.1.
  const [serveHttp1] = server.listeners(event) as [(socket: Socket) => void]
  const sessions = new Set<Http2Session>()
  const http2 = createServer({
    settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: MAX_HEAD, enablePush: false },
    maxSessionInvalidFrames: 100,
  })
  http2.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    // A connection that breaks is its client's matter.
    session.on('error', () => undefined)
    limitSession(session, limits)
  })
  http2.on('request', (request, response) => {
    request.stream.on('error', () => undefined)
    forwardToHttp1(request, response, (end) => serveHttp1.call(server, end as unknown as Socket))
  })
  server.off(event, serveHttp1)
  server.prependListener(event, (socket: Socket & { alpnProtocol?: string | false | null }) => {
    if (isTls) {
      if (socket.alpnProtocol === 'h2') http2.emit('connection', socket)
      else serveHttp1.call(server, socket)
      return
    }
    firstOctets(socket, PREFACE.length, limits.headersTimeout, (octets) => {
      if (octets.equals(PREFACE)) http2.emit('connection', socket)
      else serveHttp1.call(server, socket)
    })
  })
  return {
    close: () => {
      for (const session of sessions) session.close()
    },
  }
}

/** `count`, or fewer where they cannot become the preface. A client that ends before that, or is slow, is dropped. */
function firstOctets(socket: Socket, count: number, timeout: number, onOctets: (octets: Buffer) => void): void {
  let octets = Buffer.alloc(0)
  const drop = (): void => void socket.destroy()
  const timer = timeout === 0 ? undefined : setTimeout(drop, timeout)
  const read = (): void => {
    const more = socket.read() as Buffer | null
    if (more === null) return
    // They are put back only once all have arrived, because bytes that are put back are announced as new ones.
    octets = Buffer.concat([octets, more])
    const first = octets.subarray(0, count)
    if (first.length < count && PREFACE.subarray(0, first.length).equals(first)) return
    clearTimeout(timer)
    socket.off('readable', read).off('end', drop).off('error', drop)
    socket.unshift(octets)
    onOctets(first)
  }
  socket.on('readable', read).on('end', drop).on('error', drop)
  socket.once('close', () => clearTimeout(timer))
}

/** A connection without a stream is closed once it has been idle for too long, one whose client does not read is dropped. */
function limitSession(
  session: ServerHttp2Session,
  { headersTimeout, keepAliveTimeout, stallTimeout }: ServerLimits,
): void {
  const streams = new Set<ServerHttp2Stream>()
  let idle: NodeJS.Timeout | undefined
  const closeAfter = (ms: number): void => {
    idle = ms === 0 ? undefined : setTimeout(() => session.destroy(), ms)
  }
  closeAfter(headersTimeout)
  session.on('stream', (stream) => {
    streams.add(stream)
    clearTimeout(idle)
    stream.once('close', () => {
      streams.delete(stream)
      if (streams.size === 0 && !session.closed) closeAfter(keepAliveTimeout)
    })
  })
  session.once('close', () => clearTimeout(idle))
  if (stallTimeout > 0) closeUnread(session, streams, stallTimeout)
}

/** How often within the limit it is looked whether a client reads. */
const STALL_CHECKS = 20

/** Only data and its acknowledgement change the window; Node's own timeout begins again with each part and ping. */
function closeUnread(session: ServerHttp2Session, streams: ReadonlySet<ServerHttp2Stream>, timeout: number): void {
  let window: number | undefined
  let unchanged = 0
  const check = setInterval(() => {
    const { remoteWindowSize } = session.state
    const isUnread = [...streams].some(({ writableLength }) => writableLength > 0)
    unchanged = isUnread && remoteWindowSize === window ? unchanged + 1 : 0
    window = remoteWindowSize
    if (unchanged >= STALL_CHECKS) session.destroy()
  }, timeout / STALL_CHECKS)
  check.unref()
  session.once('close', () => clearInterval(check))
}
