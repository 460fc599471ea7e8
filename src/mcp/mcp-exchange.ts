import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { baseUrlOf } from '../domain/request-headers.ts'
import { type EncodedAnswer, sendAnswer } from '../http/answer.ts'
import type { Deliver } from '../http/request-context.ts'
import type { ServiceParts } from '../http/services.ts'
import type { Environment } from '../state/environment.ts'
import type { Caller } from './caller.ts'
import type { ServerAddress } from './server-tools.ts'

type Recorder = (status: number, headers: Record<string, string>, body: string) => Promise<void>

/** A request, as far as it is known before its body is read. */
export interface McpRequest {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  /** The response is held back until this is called, or until it is durable. */
  readonly release: () => void
  /** Waits for that, before the response is recorded. @throws StorageError when the disk refuses */
  readonly durable: () => Promise<void> | undefined
  readonly address: ServerAddress
  readonly startedAt: number
  readonly requestId: string
}

/** One HTTP request to a virtual MCP server, and its response. */
export class McpExchange {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  readonly release: () => void
  readonly caller: Caller
  readonly environment: Environment
  readonly requestId: string
  /** Path and query, as they were sent. */
  readonly url: string
  readonly baseUrl: string
  /** How a fault sends the response; undefined when it is sent as it is. */
  deliver: Deliver | undefined
  /** Calls of tools so far: a request can be a batch of them. */
  calls = 0
  /** Calls whose result is still to come. */
  pending = 0
  /** Set when the token of the caller has ended during a call: the response is a 401. */
  unauthenticated: Error | undefined
  /** Set when a fault is to end the connection without an answer: progress is not told either. */
  isSilent = false
  #headSent = false
  readonly #gone = new AbortController()
  readonly #newId: () => string

  constructor(
    { message, response, requestId, release }: McpRequest,
    { caller, environment }: { caller: Caller; environment: Environment },
    { baseUrl, requestIds }: ServiceParts,
  ) {
    this.message = message
    this.response = response
    this.release = release
    this.caller = caller
    this.environment = environment
    this.requestId = requestId
    this.url = urlOf(message)
    this.baseUrl = baseUrlOf(message, baseUrl)
    this.#newId = () => requestIds.operations.id('req')
    response.once('close', () => {
      if (!response.writableFinished) this.#gone.abort()
    })
  }

  /** Aborted once the client no longer waits for the response. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  get isOver(): boolean {
    return this.gone.aborted
  }

  /** Ends a stream whose server is gone. */
  end(): void {
    this.#gone.abort()
    this.response.end()
  }

  /** The id of the request for the first call, another one for each further call of a batch. */
  nextRequestId(): string {
    this.calls += 1
    return this.calls === 1 ? this.requestId : this.#newId()
  }

  /**
   * Sends what the library answered, as a fault wants it. An answer to calls waits until the last of them is over; only
   * progress is sent before, and all of a stream that does not end.
   * @param record called with the answer of a request that called no tool, before it is sent
   */
  async send(answer: Response, { isEndless, record }: { isEndless: boolean; record: Recorder }): Promise<void> {
    const { status } = answer
    // Whether the connection stays open is not the library's to say: the client may want to close it.
    answer.headers.delete('connection')
    const headers = { ...Object.fromEntries(answer.headers), 'X-Request-Id': this.requestId }
    if (isEndless) await record(status, headers, '')
    const kept: Uint8Array[] = []
    const chunks: AsyncIterable<Uint8Array> | [] = answer.body ?? []
    for await (const chunk of chunks) {
      if (this.#isUnwanted) continue
      if (isEndless || this.pending > 0) await this.#stream(status, headers, chunk)
      else kept.push(chunk)
    }
    const text = Buffer.concat(kept).toString()
    if (this.calls === 0 && !isEndless && !this.#isUnwanted) await record(status, headers, text)
    await this.sendRest({ status, headers, body: text })
  }

  /** Sends what is left of an answer, as a fault wants it. */
  async sendRest({ status, headers, body }: EncodedAnswer): Promise<void> {
    const { response, deliver, requestId } = this
    if (this.#isUnwanted) return
    const answer = { status, headers: { ...headers, 'X-Request-Id': requestId }, body }
    if (deliver) await deliver(this.faultResponse(), { ...answer, malformed: malformed(body.toString()) })
    else if (this.#headSent) response.end(body)
    else {
      const length = String(Buffer.byteLength(body))
      sendAnswer(response, { ...answer, headers: { ...answer.headers, 'Content-Length': length } })
    }
  }

  get #isUnwanted(): boolean {
    return this.isOver || this.unauthenticated !== undefined
  }

  async #stream(status: number, headers: Record<string, string>, chunk: Uint8Array): Promise<void> {
    const { response } = this
    if (!this.#headSent) response.writeHead(status, headers)
    this.#headSent = true
    if (response.write(chunk) || this.isOver) return
    await once(response, 'drain', { signal: this.gone }).catch(() => undefined)
  }

  /** Progress may have sent the head already, which faults send too. */
  faultResponse(): ServerResponse {
    const { response } = this
    if (!this.#headSent) return response
    return Object.create(response, {
      writeHead: { value: () => response },
    }) as ServerResponse
  }
}

/** The message of an event is broken, not the event around it. */
function malformed(text: string): Buffer {
  return Buffer.from(text.replace(/.(\s*)$/, ',$1'))
}

/** Express takes the path of a router off `url`. */
export function urlOf(message: IncomingMessage): string {
  return 'originalUrl' in message ? String(message.originalUrl) : (message.url ?? '')
}
