import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { fieldValues } from '../../model/domain/json.ts'
import { headerPairs, passedOn } from '../../model/domain/request-headers.ts'
import { isLoopback } from '../../model/domain/loopback.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { failureReason, HttpClient, redirectAway } from '../../platform/http-client.ts'
import { MAX_KEPT, type Recorded, type RecordedResponse, type RecordedBody } from './recorded.ts'

export interface ProxyOptions {
  /** The base URL of the service. */
  readonly upstream: string
  readonly now: () => number
  readonly recorded: (exchange: Recorded) => void
}

/** Where the probe asks: a path of the service, which refuses it for want of a token. */
const PROBED_PATH = '/api/v1/connections'

/** A proxy in front of the service, which passes everything on unchanged, in both directions, and keeps a copy. */
export class RecordingProxy {
  readonly #options: ProxyOptions
  readonly #client: HttpClient
  readonly #server: Server
  readonly #running = new Set<Promise<void>>()

  constructor(options: ProxyOptions) {
    this.#options = options
    // A connection that is used again may be closed at that moment, which the client would take for an answer of the service.
    this.#client = new HttpClient(options.upstream)
    this.#server = createServer((request, response) => {
      const passing = this.#passOn(request, response)
      this.#running.add(passing)
      void passing.finally(() => this.#running.delete(passing))
    })
    // How long requests may take is a matter of the service.
    this.#server.requestTimeout = 0
  }

  /** Listens, and asks the service once. @throws StartError for one that cannot be recorded */
  async listen(host: string, port: number): Promise<string> {
    const { upstream } = this.#options
    const service = new URL(upstream)
    const servicePort = service.port || (service.protocol === 'https:' ? '443' : '80')
    if (isLoopback(service.hostname) && Number(servicePort) === port)
      throw new StartError(`--upstream ${upstream} is this recorder itself; name the service, or choose another --port`)
    this.#server.listen(port, host)
    await once(this.#server, 'listening').catch((error: unknown) => {
      throw new StartError(
        `the recorder cannot listen on port ${port} (${failureReason(error)}); choose another --port`,
      )
    })
    try {
      await this.#checkUpstream(upstream)
    } catch (error) {
      await this.close()
      throw error
    }
    return `http://${host}:${(this.#server.address() as AddressInfo).port}`
  }

  /** Lets requests end that are under way, for a short time. */
  async close(): Promise<void> {
    this.#server.close()
    await Promise.race([Promise.all(this.#running), pause(1000, undefined, { ref: false })])
    this.#server.closeAllConnections()
    await Promise.all(this.#running)
  }

  async #checkUpstream(upstream: string): Promise<void> {
    const response = await this.#client.send({ method: 'GET', path: PROBED_PATH }).catch((error: unknown) => {
      throw new StartError(`--upstream ${upstream} does not answer (${failureReason(error)})`)
    })
    const location = redirectAway(response, upstream)
    if (location === undefined) return
    throw new StartError(`--upstream ${upstream} redirects to ${location}; name that one, if it is the service`)
  }

  async #passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { now, recorded } = this.#options
    // A target that is a whole URL would lead to any server.
    if (request.url?.startsWith('/') !== true) {
      response.writeHead(400).end('the recorder takes paths only')
      return
    }
    const startedAt = now()
    const beginning = beginningOf(request)
    let recordedResponse: RecordedResponse | undefined
    try {
      recordedResponse = await this.#forwardRequest(request, response)
    } finally {
      // A request whose sender has gone does not end.
      if (!request.complete) await finished(request.resume()).catch(() => undefined)
      recorded({
        startedAt,
        durationMs: now() - startedAt,
        method: request.method ?? 'GET',
        target: request.url ?? '/',
        request: { headers: headerPairs(request.rawHeaders), body: beginning() },
        response: recordedResponse,
      })
    }
  }

  /** The answer as it went on to the client; undefined where there was none, and the connection to the client ends as well. */
  async #forwardRequest(request: IncomingMessage, response: ServerResponse): Promise<RecordedResponse | undefined> {
    const aborted = new AbortController()
    response.once('close', () => aborted.abort())
    let incoming: IncomingMessage
    try {
      incoming = await this.#client.open({
        method: request.method ?? 'GET',
        path: request.url ?? '/',
        headers: fieldValues(passedOn(request, ['host', 'expect'])),
        body: announcesBody(request) ? request : undefined,
        signal: aborted.signal,
      })
    } catch {
      response.destroy()
      return undefined
    }
    const received = beginningOf(incoming)
    const { statusCode: status = 502, statusMessage: reason = '' } = incoming
    response.sendDate = false
    response.writeHead(status, reason, passedOn(incoming).flat())
    response.flushHeaders()
    // A client that leaves, or a service that ends the connection, ends the other side too.
    const isTorn = await pipeline(incoming, response).then(
      () => false,
      () => true,
    )
    return { status, reason, headers: headerPairs(incoming.rawHeaders), body: received(), isTorn }
  }
}

/** Keeps the beginning of a body while it passes; what is returned tells what has passed so far. */
function beginningOf(body: Readable): () => RecordedBody {
  const chunks: Buffer[] = []
  let size = 0
  body.on('data', (chunk: Buffer) => {
    if (size < MAX_KEPT) chunks.push(chunk.subarray(0, MAX_KEPT - size))
    size += chunk.length
  })
  return () => ({ bytes: Buffer.concat(chunks), size })
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
