import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * How long the server waits for its clients, in milliseconds; 0 waits for ever. What the mock itself keeps a client
 * waiting for does not count: faults of scenarios, long polls and event streams last as long as they are to.
 */
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

/** Connections are kept longer than the usual clients keep theirs, so that none sends a request into one that closes. */
const DEFAULT_LIMITS: ServerLimits = {
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 95_000,
  stallTimeout: 30_000,
  closeTimeout: 2000,
}

/** What was asked for, the defaults for the rest. A head is part of its request, so it cannot take longer. */
export function limitsOf(asked: Partial<ServerLimits> = {}): ServerLimits {
  const limits = { ...DEFAULT_LIMITS, ...asked }
  const { headersTimeout, requestTimeout } = limits
  return requestTimeout > 0 && headersTimeout > requestTimeout ? { ...limits, headersTimeout: requestTimeout } : limits
}

/** Clients that are late are looked for four times in the time they have, and at least every five seconds. */
export function serverOptions({ headersTimeout, requestTimeout, keepAliveTimeout }: ServerLimits): ServerOptions {
  const shortest = Math.min(headersTimeout || Infinity, requestTimeout || Infinity)
  const connectionsCheckingInterval = Math.max(10, Math.min(5000, Math.floor(shortest / 4)))
  return { headersTimeout, requestTimeout, keepAliveTimeout, connectionsCheckingInterval }
}

/** What node takes no option for. */
export function limitServer(server: Server, { stallTimeout }: ServerLimits): void {
  // Node would drop headers beyond a number in silence; their size is bounded, which is enough.
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = 0
  // Each of many requests that are sent ahead on one connection watches for its end.
  server.on('connection', (socket: Socket) => socket.setMaxListeners(0))
  server.setTimeout(stallTimeout, (socket) => {
    if (!isWaitedFor(socket)) socket.destroy()
  })
}

/** Nothing has moved on a connection. Whether that is as it should be. */
function isWaitedFor(socket: Socket): boolean {
  // Its first request has a time limit of its own.
  if (socket.bytesWritten === 0 && !answerUnderWay(socket)) return true
  // With an answer to come, and nothing of it left to take, it is the mock that lets its client wait.
  return answerUnderWay(socket) !== undefined && socket.writableLength === 0
}

interface HttpSocket extends Duplex {
  _httpMessage?: ServerResponse | null
  parser?: { incoming?: IncomingMessage | null } | null
}

/** The answer that a connection is to carry next. Node tells it nowhere else; its own time limits look here, too. */
export function answerUnderWay(socket: Duplex): ServerResponse | undefined {
  return (socket as HttpSocket)._httpMessage ?? undefined
}

/** Whether the body of a request is still coming in. */
export function isInBody(socket: Duplex): boolean {
  return (socket as HttpSocket).parser?.incoming?.complete === false
}
