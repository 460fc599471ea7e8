import { jsonText } from '../../model/domain/json.ts'
import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
  type ServerResponse,
} from 'node:http'
import type { Readable } from 'node:stream'
import { MAX_TIMER_MS } from '../../model/domain/duration.ts'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import type { ForwardedResponse } from '../../model/domain/ports.ts'
import { systemReason } from '../../model/domain/system-error.ts'

export interface ReceivedRequest {
  method: string
  /** That of a call which an extension answers; absent for HTTP. */
  protocol?: string
  /** The path as it was sent, still encoded; what signatures cover. */
  rawPath: string
  /** Where it was sent, without its query: `http://127.0.0.1:4711/default/mail/api/v1/messages`. */
  url: string
  /** The path inside the API, `/v1/messages`, still encoded. */
  apiPath: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: Buffer
}

/** Its API path begins after three parts: `/{environment}/{connector}/api`, or `/third-party/{connector}/api`. */
export function receivedRequest(
  { method = 'GET', headers }: IncomingMessage,
  { origin, target, body }: { readonly origin: string; readonly target: string; readonly body: Buffer },
): ReceivedRequest {
  const [rawPath = '/', ...search] = target.split('?')
  return {
    method,
    rawPath,
    url: `${origin.toLowerCase()}${rawPath}`,
    apiPath: `/${rawPath.split('/').slice(4).join('/')}`,
    query: new URLSearchParams(search.join('?')),
    headers,
    body,
  }
}

export interface OutgoingRequest {
  method: string
  /** `http://127.0.0.1:4711`. */
  origin: string
  /** Encoded, without the query. */
  path: string
  query: (readonly [name: string, value: string])[]
  /** A query that is sent as it is, in front of `query`. */
  search?: string
  headers: Record<string, string>
  body: string | Buffer
  /** What follows `body` and is still coming in; `headers` has the length of both, where it is known. */
  rest?: Readable | undefined
}

export function allParameters({ search = '', query }: OutgoingRequest): (readonly [name: string, value: string])[] {
  return search === '' ? query : [...new URLSearchParams(search), ...query]
}

export interface ThirdPartyResponse {
  status: number
  headers: Record<string, string>
  /** A text is sent in UTF-8. */
  body: string | Buffer
}

/** Tells accounts apart that store the same key, or none. Real third parties do not get it, and it grants no access. */
export const ACCOUNT_HEADER = 'x-toolmock-account'

/** As much as the proxy passes on. */
const MAX_BODY = 32 * 1024 * 1024

export function headerOf(request: Pick<ReceivedRequest, 'headers'>, name: string): string {
  const value = request.headers[name.toLowerCase()]
  return Array.isArray(value) ? value.join(', ') : (value ?? '')
}

/** A text as a header can contain it: one line, with characters beyond Latin-1 as the octets of UTF-8. */
export function headerValue(text: string): string {
  // Nearly every value is printable ASCII, and only needs trimming.
  if (PRINTABLE_ASCII.test(text)) return text.trim()
  // eslint-disable-next-line no-control-regex -- a header must not contain control characters
  const line = text.replaceAll(/[\u0000-\u001f\u007f]+/g, ' ').trim()
  return latin1Text(line)
}

const PRINTABLE_ASCII = /^[ -~]*$/

/** Percent-encodes one part of a path or query, so that the value stays inside its part. */
export function encodePart(value: string): string {
  // Nearly every value is plain, and this test takes a twentieth of the time.
  if (PLAIN_PART.test(value)) return value
  return encodeURIComponent(value.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

const PLAIN_PART = /^[\w.~-]*$/

export function jsonResponse(status: number, body: object, headers: Record<string, string> = {}): ThirdPartyResponse {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: jsonText(body) }
}

/** Adds `Content-Length` to the headers of the answer. */
export function sendThirdPartyResponse(response: ServerResponse, { status, headers, body }: EncodedResponse): void {
  const text = latin1Text(body)
  response.writeHead(status, status === 204 ? headers : { ...headers, 'Content-Length': String(text.length) })
  response.end(text, 'latin1')
}

/** Written as Latin-1 with the headers: with UTF-8 node writes these in UTF-8 too, a buffer is written separately. */
function latin1Text(body: string | Buffer): string {
  if (typeof body !== 'string') return body.toString('latin1')
  return isAscii(body) ? body : Buffer.from(body, 'utf8').toString('latin1')
}

function isAscii(text: string): boolean {
  // Every other character takes more bytes of UTF-8 than it has code units.
  return Buffer.byteLength(text) === text.length
}

/** The whole body; undefined when it is larger than `most` bytes. @throws Error when the connection breaks */
export function readMessageBody(message: IncomingMessage, most = MAX_BODY): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    message.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= most) chunks.push(chunk)
      else resolve(undefined)
    })
    message.on('end', () => {
      resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
    })
    message.on('error', reject)
  })
}

interface Server {
  protocol: string
  hostname: string
  port: string
}

/** Larger answers count as a broken connection. */
export const MAX_ANSWER = 5 * 1024 * 1024

/** The HTTP client of the service. One per server: it keeps the connections to the in-process listener. */
export class ThirdPartyHttpClient {
  readonly #kept = new Agent({ keepAlive: true })
  // A server of the user's may close idle connections at any time, and a call must not fail by that.
  readonly #single = new Agent({ keepAlive: false })
  #last: { origin: string; server: Server } | undefined

  /** Sends a request, with `Content-Length` added to its headers. Never throws: a failure is one of the results. */
  send(request: OutgoingRequest, timeout: number, keepAlive: boolean): Promise<ForwardedResponse> {
    const body = latin1Text(request.body)
    const { protocol, hostname, port } = this.#serverAt(request.origin)
    const { method, headers, rest } = request
    const isTls = protocol === 'https:'
    if (rest) {
      // A server that may close at once resets the connection when it answers before all is sent, and the answer is lost.
      headers['Connection'] = 'keep-alive'
      if (headers['content-length'] === undefined) headers['Transfer-Encoding'] = 'chunked'
    } else if (body !== '' || !WITHOUT_BODY.has(method)) headers['Content-Length'] = String(body.length)
    const agent = !isTls && (keepAlive ? this.#kept : this.#single)
    try {
      // Loaded only for connectors whose `base_url` needs it: TLS is slow to load.
      const send = isTls ? process.getBuiltinModule('node:https').request : requestHttp
      const sending = send({ hostname, port, method, path: requestTarget(request), headers, agent })
      return forwardedResponse(sending, { body, rest }, timeout)
    } catch (error) {
      // A header or path that no request can have.
      return Promise.resolve(failedExchange(error, false))
    }
  }

  close(): void {
    this.#kept.destroy()
    this.#single.destroy()
  }

  /** The parts of an origin; nearly every call goes to the same one. */
  #serverAt(origin: string): Server {
    if (this.#last?.origin === origin) return this.#last.server
    const { protocol, hostname, port } = new URL(origin)
    const server = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port }
    this.#last = { origin, server }
    return server
  }
}

function requestTarget({ path, search = '', query }: OutgoingRequest): string {
  if (query.length === 0) return search === '' ? path : `${path}?${search}`
  const added = query.map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`).join('&')
  return search === '' ? `${path}?${added}` : `${path}?${search}&${added}`
}

/** Methods whose requests have no body unless there is one to send (RFC 9110 8.6). */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

/** A text of octets, and what follows it. */
type OutgoingBody = { body: string } & Pick<OutgoingRequest, 'rest'>

function forwardedResponse(
  request: ClientRequest,
  { body, rest }: OutgoingBody,
  timeout: number,
): Promise<ForwardedResponse> {
  return new Promise((resolve) => {
    const finish = (received: ForwardedResponse): void => {
      clearTimeout(timer)
      resolve(received)
      if (!rest || rest.readableEnded) return
      // Answered or broken off before all was sent.
      rest.destroy()
      request.destroy()
    }
    let isSent = false
    request.on('finish', () => (isSent = true))
    const timer = setTimeout(
      () => {
        // It waits for the rest, and not for the third party.
        if (rest && !rest.readableEnded && !request.writableNeedDrain) {
          timer.refresh()
          return
        }
        finish({ kind: 'timed_out', message: `no answer within ${String(timeout)} ms`, arrived: isSent })
        request.destroy()
      },
      Math.min(timeout, MAX_TIMER_MS),
    )
    request.on('error', (error) => finish(failedExchange(error, isSent)))
    const refuse = (status: number | undefined): void => {
      const message = `the status ${String(status)} is not one of an answer (200 to 599)`
      finish(brokenExchange(message, true))
      request.destroy()
    }
    const answered = (response: IncomingMessage, body: Buffer | undefined): void => {
      const { statusCode: status = 0, headers } = response
      if (body) finish({ kind: 'answer', status, headers, body })
      else {
        finish(brokenExchange(`the answer is larger than ${String(MAX_ANSWER)} bytes`, true))
        response.destroy()
      }
    }
    request.on('response', (response) => {
      const { statusCode: status = 0 } = response
      if (status < 200 || status > 599) refuse(status)
      else
        readMessageBody(response, MAX_ANSWER).then(
          (body) => answered(response, body),
          (error: unknown) => finish(failedExchange(error, true)),
        )
    })
    // What comes before the answer (100 to 199) is passed over.
    request.on('upgrade', ({ statusCode }) => refuse(statusCode))
    if (!rest) {
      request.end(body, 'latin1')
      return
    }
    request.write(body, 'latin1')
    rest.on('data', () => timer.refresh())
    rest.on('error', (error) => finish(failedExchange(error, false)))
    rest.pipe(request)
  })
}

function failedExchange(error: unknown, arrived: boolean): ForwardedResponse {
  return brokenExchange(`the connection failed: ${systemReason(error)}`, arrived)
}

function brokenExchange(message: string, arrived: boolean): ForwardedResponse {
  return { kind: 'failed', status: null, message, arrived }
}
