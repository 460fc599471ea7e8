import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import { baseUrlOf } from '../../model/domain/request-headers.ts'
import { sendResponse } from './wire-response.ts'
import { hasBody, readWholeBody, readSentBody, type SentBody } from './body.ts'
import type { Deliver, SentRequest } from './request-context.ts'

/** An HTTP/1.1 request of `node:http` and its response, in the form that the pipeline takes. */
export class NodeRequest implements SentRequest {
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
    return readWholeBody(this.#message, limit)
  }

  readSentBody(limit: number, buffered: number): Promise<SentBody> {
    return readSentBody(this.#message, limit, buffered)
  }

  baseUrl(configured: string | undefined): string {
    return baseUrlOf(this.#message, configured)
  }

  get call(): undefined {
    return undefined
  }

  send(response: EncodedResponse, deliver: Deliver | undefined): Promise<void> | undefined {
    if (deliver && !this.response.destroyed) return deliver(this.response, response)
    sendResponse(this.response, response)
    return undefined
  }
}
