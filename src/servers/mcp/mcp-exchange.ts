import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { baseUrlOf } from '../../model/domain/request-headers.ts'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import type { RepeatedMember } from '../../model/domain/repeated-members.ts'
import { sendResponse } from '../http/wire-response.ts'
import { StreamWriter } from '../http/stream-writer.ts'
import type { OpenEntry } from '../../journal/request-journal/request-entries.ts'
import type { Deliver } from '../http/request-context.ts'
import type { ServiceParts } from '../http/services.ts'
import type { Environment } from '../../state/environment.ts'
import type { Caller } from './caller.ts'
import type { ServerAddress } from './server-tools.ts'

/** A request, as far as it is known before its body is read. */
export interface McpRequest {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  /** Ended by its first call of a tool, or by itself when it has none. */
  readonly entry: OpenEntry
  readonly address: ServerAddress
}

/** One HTTP request to a virtual MCP server, and its response. */
export class McpExchange {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  readonly caller: Caller
  readonly environment: Environment
  readonly #entry: OpenEntry
  readonly baseUrl: string
  readonly address: ServerAddress
  /** How a fault sends the response; undefined when it is sent as it is. */
  deliver: Deliver | undefined
  /** Members that its body has twice. */
  readonly repeated: readonly RepeatedMember[]
  /** Calls of tools so far: a request can be a batch of them. */
  calls = 0
  /** Calls whose result is still to come. */
  pending = 0
  /** Set when the token or session of the caller has ended during a call: the response says so. */
  unauthenticated: Error | undefined
  /** The answer of a rule about the request of MCP, in place of everything else. */
  injected: EncodedResponse | undefined
  /** Set when a fault is to end the connection without an answer: progress is not told either. */
  isSilent = false
  readonly #writer: StreamWriter
  readonly #gone = new AbortController()

  constructor(
    { message, response, entry, address }: McpRequest,
    {
      caller,
      environment,
      repeated,
    }: { caller: Caller; environment: Environment; repeated: readonly RepeatedMember[] },
    { baseUrl, registry }: ServiceParts,
  ) {
    this.message = message
    this.address = address
    this.response = response
    this.caller = caller
    this.environment = environment
    this.repeated = repeated
    this.#entry = entry
    this.#writer = new StreamWriter(response, registry)
    this.baseUrl = baseUrlOf(message, baseUrl)
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

  /** The entry of the request for the first call; each further call of a batch begins its own. */
  entryOfCall(): OpenEntry | undefined {
    this.calls += 1
    return this.calls === 1 ? this.#entry : undefined
  }

  /**
   * Sends what cannot wait: progress of calls, and all of a stream that does not end.
   * @param sends whether the next part is sent
   * @returns the rest of the answer, for {@link send}
   */
  async stream(response: Response, sends: () => boolean): Promise<EncodedResponse> {
    const { status } = response
    // Whether the connection stays open is not the library's to say: the client may want to close it.
    response.headers.delete('connection')
    const headers = { ...Object.fromEntries(response.headers), 'X-Request-Id': this.#entry.requestId }
    const later: Uint8Array[] = []
    const chunks: AsyncIterable<Uint8Array> | [] = response.body ?? []
    for await (const chunk of chunks) {
      if (this.isUnwanted) continue
      if (sends()) await this.#writeChunk(status, headers, chunk)
      else later.push(chunk)
    }
    return { status, headers, body: Buffer.concat(later).toString() }
  }

  /** Sends an answer, or the rest of one, as a fault wants it. */
  async send({ status, headers, body }: EncodedResponse): Promise<void> {
    const { response, deliver } = this
    if (this.isUnwanted) return
    const length = { 'Content-Length': String(Buffer.byteLength(body)) }
    const wireResponse = { status, headers: { ...headers, 'X-Request-Id': this.#entry.requestId, ...length }, body }
    if (deliver) await deliver(response, { ...wireResponse, malformed: malformedEvent(body.toString()) })
    else if (response.headersSent) response.end(body)
    else sendResponse(response, wireResponse)
  }

  /** Whether nobody waits for the answer, or another one has taken its place. */
  get isUnwanted(): boolean {
    return this.isOver || this.unauthenticated !== undefined || this.injected !== undefined
  }

  async #writeChunk(status: number, headers: Record<string, string>, chunk: Uint8Array): Promise<void> {
    const { response } = this
    if (!response.headersSent) this.#writer.begin(status, headers)
    if (this.#writer.write(chunk) || this.isOver) return
    await once(response, 'drain', { signal: this.gone }).catch(() => undefined)
  }
}

/** The message of an event is broken, not the event around it. */
function malformedEvent(text: string): Buffer {
  return Buffer.from(text.replace(/.(\s*)$/, ',$1'))
}
