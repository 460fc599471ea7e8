import type { Readable } from 'node:stream'
import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http'
import { decodeBody } from './body-text.ts'
import { parseUrl } from '../model/domain/parse-url.ts'

/** Bytes that a compressed body may have when it is read. */
const MAX_DECODED = 64 * 1024 * 1024

export interface HttpClientOptions {
  /** How long a request may go without any sign of the server; no limit when absent. */
  readonly timeoutMs?: number | undefined
  /** Keeps connections open between requests until `close`; each request has a connection of its own when absent. */
  readonly keepAlive?: boolean | undefined
  /** PEM text of the authority to trust, beside those that Node.js trusts. */
  readonly ca?: string | undefined
  /** Accepts every certificate: for a server of this process, and where nothing secret is sent. */
  readonly anyCertificate?: boolean | undefined
}

export interface HttpRequest {
  readonly method: string
  /** Below the base URL, query included, sent as it is; or a whole URL. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
  /** Ends the request, and the reading of its answer. */
  readonly signal?: AbortSignal | undefined
}

/** A request whose body may still be coming in. A header can come more than once. */
interface StreamedRequest extends Omit<HttpRequest, 'headers' | 'body'> {
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined
  readonly body?: string | Readable | undefined
}

export interface HttpResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Not `fetch`: tests replace it, it follows redirects, and it adds headers of its own. */
export class HttpClient {
  readonly #base: URL
  readonly #options: HttpClientOptions
  readonly #agents = new Map<string, Agent>()

  constructor(baseUrl: string, options: HttpClientOptions = {}) {
    this.#base = new URL(baseUrl)
    this.#options = options
  }

  /** @throws Error when there is no answer */
  async send(request: HttpRequest): Promise<HttpResponse> {
    try {
      return await this.#sendOnce(request)
    } catch (error) {
      // A server may close an idle connection at the moment in which it is used again.
      if (error instanceof StaleConnectionError) return this.#sendOnce(request)
      throw error
    }
  }

  /** Closes the connections that are kept open. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy()
  }

  /** The answer as soon as its head is there; its body is read by the caller. @throws Error when there is no answer */
  async open({ method, path, headers, body, signal }: StreamedRequest): Promise<IncomingMessage> {
    const { timeoutMs, ca, anyCertificate } = this.#options
    const url = path.startsWith('/') ? this.#base : new URL(path)
    const { Agent, request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
    const sending = request({
      protocol: url.protocol,
      hostname: url.hostname.replaceAll(/^\[|\]$/g, ''),
      port: url.port,
      method,
      path: url === this.#base ? `${url.pathname.replace(/\/$/, '')}${path}` : `${url.pathname}${url.search}`,
      agent: this.#agentFor(url.protocol, Agent),
      headers: { ...(typeof body === 'string' ? { 'Content-Length': Buffer.byteLength(body) } : {}), ...headers },
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
      ...(ca === undefined ? {} : { ca }),
      ...(signal === undefined ? {} : { signal }),
      ...(anyCertificate === true ? { rejectUnauthorized: false } : {}),
    })
    sending.on('timeout', () => sending.destroy(new Error(`does not answer within ${timeoutMs} ms`)))
    if (typeof body === 'object') body.pipe(sending)
    else sending.end(body)
    return responseTo(sending)
  }

  async #sendOnce(request: HttpRequest): Promise<HttpResponse> {
    const response = await this.open(request)
    const chunks: Buffer[] = []
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
    const { statusCode: status = 0, headers } = response
    return { status, headers, text: decodeBody(Buffer.concat(chunks), headers, MAX_DECODED) }
  }

  #agentFor(protocol: string, AgentOfProtocol: typeof Agent): RequestOptions['agent'] {
    if (this.#options.keepAlive !== true) return false
    const agent = this.#agents.get(protocol) ?? new AgentOfProtocol({ keepAlive: true })
    this.#agents.set(protocol, agent)
    return agent
  }
}

function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', (error: NodeJS.ErrnoException) => {
      reject(request.reusedSocket && error.code === 'ECONNRESET' ? new StaleConnectionError(error.message) : error)
    })
  })
}

class StaleConnectionError extends Error {}

/** Why there was no answer, in a few words: where several addresses were tried, the message is empty and the code says it. */
export function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as NodeJS.ErrnoException
  return error.message === '' ? (code ?? error.name) : error.message
}

/** The origin of another server that an answer redirects to; undefined for every other answer. */
export function redirectAway({ status, headers }: Omit<HttpResponse, 'text'>, baseUrl: string): string | undefined {
  const { location = '' } = headers
  if (status < 300 || status >= 400) return undefined
  const origin = parseUrl(location, baseUrl)?.origin
  return origin === new URL(baseUrl).origin ? undefined : origin
}
