import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Ids } from '../domain/ports.ts'
import type { WireAnswer } from './answer.ts'
import { hasBody, readBody } from './body.ts'
import type { AnswerSink, Deliver, SentRequest } from './request-context.ts'

/** An HTTP/1.1 request and its response, in the form that the pipeline takes. */
export class NodeRequest implements SentRequest, AnswerSink {
  readonly method: string
  readonly url: string
  readonly query: string
  readonly headers: IncomingHttpHeaders
  readonly pathParameters: Readonly<Record<string, string>>
  readonly response: ServerResponse
  readonly #message: IncomingMessage

  constructor(message: IncomingMessage, response: ServerResponse, pathParameters: Readonly<Record<string, string>>) {
    const { url = '/' } = message
    const at = url.indexOf('?')
    this.method = message.method ?? 'GET'
    this.url = url
    this.query = at < 0 ? '' : url.slice(at + 1)
    this.headers = message.headers
    this.pathParameters = pathParameters
    this.response = response
    this.#message = message
  }

  get rawHeaders(): readonly string[] {
    return this.#message.rawHeaders
  }

  get hasBody(): boolean {
    return hasBody(this.#message)
  }

  readBody(limit: number): Promise<Buffer> {
    return readBody(this.#message, limit)
  }

  readSentBody(limit: number): Promise<Buffer> {
    return readBody(this.#message, limit, 'identity')
  }

  baseUrl(configured: string | undefined): string {
    return baseUrlOf(this.#message, configured)
  }

  get call(): undefined {
    return undefined
  }

  get closed(): boolean {
    return this.response.destroyed
  }

  send(answer: WireAnswer, deliver: Deliver | undefined): Promise<void> | undefined {
    if (deliver && !this.closed) return deliver(this.response, { ...answer, body: answer.text })
    sendAnswer(this.response, answer)
    return undefined
  }
}

/** Sends an answer, unless the client has gone. */
export function sendAnswer(response: ServerResponse, { status, headers, text }: WireAnswer): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, headers)
  // Node writes headers in the encoding of a text behind them. One with as many octets as characters is ASCII.
  const isAscii = Number(headers['Content-Length']) === text.length
  response.end(isAscii ? text : Buffer.from(text), 'latin1')
}

/** `X-Request-Id`: the request's own where it has a usable one, else a new one (G18). */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>, ids: Ids): string {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && /^[\w.:/+=@-]{1,128}$/.test(sent) ? sent : ids.id('req')
}

/**
 * What links and redirects are built on, without a trailing slash: the configured base URL, else the address that the
 * client used, as a proxy in front of the mock forwards it.
 */
export function baseUrlOf(request: Addressed, configured: string | undefined): string {
  if (configured) return configured.replace(/\/+$/, '')
  const encrypted = 'encrypted' in request.socket
  const protocol = forwarded(request, 'x-forwarded-proto', /^https?$/) ?? (encrypted ? 'https' : 'http')
  const host = forwarded(request, 'x-forwarded-host', HOST) ?? matching(request.headers.host, HOST)
  return `${protocol}://${host ?? localAddress(request)}`
}

/**
 * Where the caller reaches the mock, which in another container is no address for a browser. The configured base URL knows
 * more (a path, the scheme of a proxy) and is used when the caller used its host.
 */
export function addressOf(request: IncomingMessage, configured: string | undefined): string {
  const used = baseUrlOf(request, undefined)
  if (configured === undefined || !URL.canParse(configured) || !URL.canParse(used)) return used
  return new URL(configured).host === new URL(used).host ? configured.replace(/\/+$/, '') : used
}

/** What an address is taken from. */
type Addressed = Pick<IncomingMessage, 'headers' | 'socket'>

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i

function forwarded(request: Addressed, name: string, form: RegExp): string | undefined {
  const value = request.headers[name]
  if (value === undefined) return undefined
  const first = (Array.isArray(value) ? value[0] : value)?.split(',')[0]
  return matching(first?.trim(), form)
}

function matching(value: string | undefined, form: RegExp): string | undefined {
  return value !== undefined && form.test(value) ? value : undefined
}

function localAddress({ socket }: Addressed): string {
  const { localAddress: address = '127.0.0.1', localPort = 0 } = socket
  return address.includes(':') ? `[${address}]:${localPort}` : `${address}:${localPort}`
}
