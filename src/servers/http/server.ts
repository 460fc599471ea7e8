import { once } from 'node:events'
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http'
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers'
import express, { type Express } from 'express'
import { MAX_TIMER_MS } from '../../model/domain/duration.ts'
import { callableHost, listenAddresses } from '../../model/domain/loopback.ts'
import { hasCode } from '../../model/domain/system-error.ts'
import { continueWhenRead, endAfterBody, isUnread } from './body.ts'

export type ExpressApp = Express

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** What an HTTPS server takes; HTTP/1.1 alone unless ALPN names more. */
interface TlsSettings {
  readonly cert: string
  readonly key: string
  readonly ALPNProtocols?: string[]
}

export interface FastExpress {
  /** One application at a time is served. */
  readonly createFastApp: () => Express
  readonly createFastServer: (handle: RequestListener, limits: ServerLimits, tls?: TlsSettings) => Promise<Server>
}

/**
 * Express sets the prototype of request and response on every request, which makes V8 drop its optimizations: stock
 * Express 5 serves 0.17 of a bare node:http server, this one 0.9, because `createFastServer` creates both with the
 * prototypes that the application uses.
 */
export function createFastExpress(): FastExpress {
  const responses = new ResponseBatch()
  class FastRequest extends IncomingMessage {}
  class FastResponse extends ServerResponse<FastRequest> {
    override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
      if (isUnread(this)) {
        if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) super.write(chunk, encoding as BufferEncoding)
        const ended = (typeof chunk === 'function' ? chunk : callback) as (() => void) | undefined
        endAfterBody(this, () => super.end(ended))
      } else responses.add(() => super.end(chunk, encoding as BufferEncoding, callback as () => void))
      return this
    }
  }
  const createFastApp = (): Express => {
    const app = express()
    app.disable('x-powered-by')
    app.disable('etag')
    app.enable('strict routing')
    app.enable('case sensitive routing')
    app.set('query parser', false)
    copyPrototypeMembers(FastRequest.prototype, app.request)
    copyPrototypeMembers(FastResponse.prototype, app.response)
    // Both know their application, which is another one when a replica becomes active again.
    Object.assign(FastRequest.prototype, { app })
    Object.assign(FastResponse.prototype, { app })
    app.request = FastRequest.prototype as unknown as typeof app.request
    app.response = FastResponse.prototype as unknown as typeof app.response
    return app
  }

  const classes = { IncomingMessage: FastRequest, ServerResponse: FastResponse }
  return {
    createFastApp,
    createFastServer: async (handle, limits, tls) => {
      const queue = new RequestQueue()
      const serve: RequestListener = (request, response) => {
        toOriginForm(request)
        handle(request, response)
      }
      const listener = queue.of(serve) as RequestListener<typeof FastRequest, typeof FastResponse>
      const https = tls && (await import('node:https'))
      const options = { ...classes, ...serverOptions(limits) }
      // The head of a request cannot come before the handshake is over. 0 would be Node's default of two minutes.
      const handshakeTimeout = limits.headersTimeout || MAX_TIMER_MS
      const server = https
        ? https.createServer({ ...options, ...tls, handshakeTimeout }, listener)
        : createServer(options, listener)
      limitServer(server, limits)
      // Node ends the connection of a client that says it sends no more. What is answered by then goes before that.
      server.on(https ? 'secureConnection' : 'connection', (socket: Socket) => {
        socket.prependListener('end', responses.send)
      })
      const expecting = queue.of((request, response) => {
        continueWhenRead(request, response)
        serve(request, response)
      })
      return server.on('checkContinue', expecting)
    },
  }
}

/** A target in absolute form, as proxies send it: its path is served, and its host counts in place of `Host` (RFC 9112 3.2.2). */
function toOriginForm(request: IncomingMessage): void {
  const { url = '/' } = request
  if (url.startsWith('/')) return
  // OPTIONS of the whole server, which is no path that is served.
  if (url === '*') request.url = '/*'
  const { host, path } = /^https?:\/\/(?<host>[^/?#]+)(?<path>[^#]*)/i.exec(url)?.groups ?? {}
  if (host === undefined || path === undefined) return
  request.url = path.startsWith('/') ? path : `/${path}`
  request.headers.host = host
}

/** Copies the members of a prototype chain of Express, nearest first, down to node's own prototype. */
function copyPrototypeMembers(target: object, source: object): void {
  for (let from: object | null = source; from && !isNodes(from); from = Object.getPrototypeOf(from) as object | null) {
    for (const [name, member] of Object.entries(Object.getOwnPropertyDescriptors(from))) {
      if (!Object.hasOwn(target, name)) Object.defineProperty(target, name, { ...member, configurable: true })
    }
  }
}

function isNodes(prototype: object): boolean {
  return prototype === IncomingMessage.prototype || prototype === ServerResponse.prototype
}

/** Milliseconds; 0 waits for ever. Time in which the mock keeps clients waiting does not count (faults, long polls). */
export interface ServerLimits {
  /** For the head of a request, from its first octet, or from the connection if none comes; then 408. */
  readonly headersTimeout: number
  /** For a whole request, its body included; then 408. */
  readonly requestTimeout: number
  /** For the next request on a connection, which is then closed. */
  readonly keepAliveTimeout: number
  /** For a client to take more of its answer; then the connection is dropped. */
  readonly stallTimeout: number
  /** For requests under way when the server closes; then their connections are dropped. */
  readonly closeTimeout: number
}

/** The server keeps connections longer than usual clients do, so that no request goes into one that is being closed. */
const DEFAULT_LIMITS: ServerLimits = {
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 95_000,
  stallTimeout: 30_000,
  closeTimeout: 2000,
}

/** The given limits, with defaults for the rest. A head is part of its request, so its limit cannot be longer. */
export function serverLimits(asked: Partial<ServerLimits> = {}): ServerLimits {
  const limits = { ...DEFAULT_LIMITS, ...asked }
  const { headersTimeout, requestTimeout } = limits
  return requestTimeout > 0 && headersTimeout > requestTimeout ? { ...limits, headersTimeout: requestTimeout } : limits
}

/** Node looks for late clients four times within the shortest limit, and at least every five seconds. */
function serverOptions({ headersTimeout, requestTimeout, keepAliveTimeout }: ServerLimits): ServerOptions {
  const shortest = Math.min(headersTimeout || Infinity, requestTimeout || Infinity)
  const connectionsCheckingInterval = Math.max(10, Math.min(5000, Math.floor(shortest / 4)))
  // A request without `Host` is refused as every other, and not by Node, whose 400 has no body and no request id.
  return { headersTimeout, requestTimeout, keepAliveTimeout, connectionsCheckingInterval, requireHostHeader: false }
}

function limitServer(server: Server, { stallTimeout }: ServerLimits): void {
  // Node drops headers beyond this number silently. Their size is limited, which is enough.
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = 0
  // Each of many pipelined requests of a connection listens for its end.
  server.on('connection', (socket: Socket) => socket.setMaxListeners(0))
  server.setTimeout(stallTimeout, (socket) => {
    if (!isWaitingForServer(socket)) socket.destroy()
  })
}

/** Whether a connection on which nothing moves waits for the mock, and not for its client. */
function isWaitingForServer(socket: Socket): boolean {
  // Its first request has a time limit of its own.
  if (socket.bytesWritten === 0 && !pendingResponse(socket)) return true
  // An answer is to come, and the client has taken everything of it so far.
  return pendingResponse(socket) !== undefined && socket.writableLength === 0
}

/**
 * Sent together: waking a waiting client for each answer costs the server a sixth of the CPU of a GET with 16
 * connections, and a third where the client waits for a core.
 */
class ResponseBatch {
  #responses: (() => void)[] = []

  add(send: () => void): void {
    if (this.#responses.length === 0) setImmediate(this.send)
    this.#responses.push(send)
  }

  readonly send = (): void => {
    const responses = this.#responses
    this.#responses = []
    for (const send of responses) send()
  }
}

/**
 * Node reads all requests that a client has sent ahead (pipelined), and would keep the answers of all in memory for a
 * client that reads none. A request waits until the answer before it has left, and nothing more is read from its
 * connection.
 */
class RequestQueue {
  readonly #waiting = new Map<Duplex, number>()

  of(listener: Listener): Listener {
    return (request, response) => {
      const { socket } = request
      if (pendingResponse(socket) === response) {
        listener(request, response)
        return
      }
      this.#pauseSocket(socket)
      // Node gives a response its connection once the response before it has left.
      response.once('socket', () => {
        setImmediate(() => {
          this.#resumeSocket(socket)
          listener(request, response)
        })
      })
    }
  }

  #pauseSocket(socket: Duplex): void {
    const before = this.#waiting.get(socket) ?? 0
    this.#waiting.set(socket, before + 1)
    if (before > 0) return
    socket.pause()
    // What reads the bodies of requests would resume it.
    socket.on('resume', pauseAgain)
    socket.once('close', () => this.#waiting.delete(socket))
  }

  #resumeSocket(socket: Duplex): void {
    const left = (this.#waiting.get(socket) ?? 1) - 1
    this.#waiting.set(socket, left)
    if (left > 0) return
    this.#waiting.delete(socket)
    socket.off('resume', pauseAgain)
    socket.resume()
  }
}

function pauseAgain(this: Duplex): void {
  this.pause()
}

interface HttpSocket extends Duplex {
  _httpMessage?: ServerResponse | null
  parser?: { incoming?: IncomingMessage | null } | null
}

/** The answer that a connection carries next. Node has no public API for it; its own time limits look here too. */
export function pendingResponse(socket: Duplex): ServerResponse | undefined {
  return (socket as HttpSocket)._httpMessage ?? undefined
}

export function isBodyIncomplete(socket: Duplex): boolean {
  return (socket as HttpSocket).parser?.incoming?.complete === false
}

/** Connections that may wait to be accepted: a load test opens its thousand at once. */
const BACKLOG = 4096

/** How often connections that have become idle are looked for while the server closes. */
const SWEEP_MS = 20

export interface Serving {
  /** `port` 0 takes a free one. @throws what the operating system says about the address */
  listen(address: { host: string; port: number }): Promise<{ url: string; host: string; port: number }>
  /** Lets requests under way finish within a time limit, then drops their connections. */
  close(): Promise<void>
}

/** @param closeTimeout how long requests under way may take to finish when serving ends, in milliseconds */
export function servingOf(server: Server, protocol: 'http' | 'https', closeTimeout: number): Serving {
  const open = new Set<Socket>()
  const others: NetServer[] = []
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return {
    listen: async ({ host, port: asked }) => {
      const [first, second] = listenAddresses(host)
      await once(server.listen({ host: first, port: asked, backlog: BACKLOG }), 'listening')
      const { port } = server.address() as AddressInfo
      if (second !== undefined) {
        const listening = createNetServer({ noDelay: true }, (socket) => server.emit('connection', socket))
        try {
          await once(listening.listen({ host: second, port, backlog: BACKLOG }), 'listening')
          others.push(listening)
        } catch (error) {
          // A machine without IPv6.
          if (!hasCode(error, 'EADDRNOTAVAIL', 'EAFNOSUPPORT')) throw error
        }
      }
      return { url: `${protocol}://${callableHost(host)}:${port}`, host, port }
    },
    close: async () => {
      for (const other of others) other.close()
      await closeServer(server, open, closeTimeout)
    },
  }
}

/** Closes idle connections at once, and every other after its answer. */
async function closeServer(server: Server, open: ReadonlySet<Socket>, closeTimeout: number): Promise<void> {
  if (!server.listening) return
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
  })
  const sweep = setInterval(() => {
    server.closeIdleConnections()
  }, SWEEP_MS)
  const drop = setTimeout(() => {
    for (const socket of open) socket.destroy()
  }, closeTimeout)
  const isClosed = once(server.close(), 'close')
  // Browsers open connections that they may never use.
  for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  await isClosed
  clearInterval(sweep)
  clearTimeout(drop)
}
