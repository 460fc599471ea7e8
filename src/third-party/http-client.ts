import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http'
import type { OutgoingRequest } from './wire.ts'
import { encodePart, octets } from './wire.ts'

/** What came back for a request; when nothing did, whether the whole request was sent. */
export type Received =
  | { kind: 'answer'; status: number; headers: IncomingHttpHeaders; body: Buffer }
  | { kind: 'broken'; message: string; sent: boolean }
  | { kind: 'timed_out'; message: string; sent: boolean }

interface Server {
  protocol: string
  hostname: string
  port: string
}

/** Larger answers count as a broken connection. */
const ANSWER_LIMIT = 5 * 1024 * 1024

/** The HTTP client of the service. One per server: it keeps the connections to the in-process listener. */
export class HttpClient {
  readonly #kept = new Agent({ keepAlive: true })
  // A server of the user's may close idle connections at any time, and a call must not fail by that.
  readonly #single = new Agent({ keepAlive: false })
  #last: { origin: string; server: Server } | undefined

  /** Sends a request. Never throws: a failure is one of the results. */
  async send(request: OutgoingRequest, timeout: number, kept: boolean): Promise<Received> {
    const body = octets(request.body)
    const { protocol, hostname, port } = this.#server(request.origin)
    const { method } = request
    const agent = kept ? this.#kept : this.#single
    const headers = { ...request.headers, ...lengthOf(method, body) }
    const options: RequestOptions = { hostname, port, method, path: target(request), headers, agent }
    try {
      if (protocol === 'https:') return await this.#overTls(body, { ...options, agent: false }, timeout)
      return await receive(requestHttp(options), body, timeout)
    } catch (error) {
      return { kind: 'broken', message: reason(error), sent: false }
    }
  }

  close(): void {
    this.#kept.destroy()
    this.#single.destroy()
  }

  /** The parts of an origin; nearly every call goes to the same one. */
  #server(origin: string): Server {
    if (this.#last?.origin === origin) return this.#last.server
    const { protocol, hostname, port } = new URL(origin)
    const server = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port }
    this.#last = { origin, server }
    return server
  }

  /** Loaded only for connectors whose `base_url` needs it: TLS is slow to load. */
  async #overTls(body: string, options: RequestOptions, timeout: number): Promise<Received> {
    const { request: requestHttps } = await import('node:https')
    return receive(requestHttps(options), body, timeout)
  }
}

function target({ path, search = '', query }: OutgoingRequest): string {
  if (query.length === 0) return search === '' ? path : `${path}?${search}`
  const added = query.map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`).join('&')
  return search === '' ? `${path}?${added}` : `${path}?${search}&${added}`
}

/** Methods whose requests have no body unless there is one to send (RFC 9110 8.6). */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

function lengthOf(method: string, body: string): Record<string, number> {
  return body === '' && WITHOUT_BODY.has(method) ? {} : { 'Content-Length': body.length }
}

function receive(request: ClientRequest, body: string, timeout: number): Promise<Received> {
  return new Promise((resolve) => {
    const finish = (received: Received): void => {
      clearTimeout(timer)
      resolve(received)
    }
    let sent = false
    request.on('finish', () => {
      sent = true
    })
    const timer = setTimeout(() => {
      finish({ kind: 'timed_out', message: `no answer within ${String(timeout)} ms`, sent })
      request.destroy()
    }, timeout)
    request.on('error', (error) => {
      finish({ kind: 'broken', message: reason(error), sent })
    })
    request.on('response', (response) => {
      collect(response, finish)
    })
    request.end(body, 'latin1')
  })
}

function collect(response: IncomingMessage, finish: (received: Received) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  response.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= ANSWER_LIMIT) chunks.push(chunk)
    else {
      finish({ kind: 'broken', message: `the answer is larger than ${String(ANSWER_LIMIT)} bytes`, sent: true })
      response.destroy()
    }
  })
  response.on('error', (error) => {
    finish({ kind: 'broken', message: reason(error), sent: true })
  })
  response.on('end', () => {
    const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
    finish({ kind: 'answer', status: response.statusCode ?? 0, headers: response.headers, body })
  })
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection failed'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.message
  return `the connection failed: ${code}`
}
