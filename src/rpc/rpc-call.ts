import type { IncomingHttpHeaders } from 'node:http'
import type { WireAnswer } from '../http/answer.ts'
import { baseUrlOf } from '../domain/request-headers.ts'
import type { AnswerSink, Deliver, RemoteCall, SentRequest } from '../http/request-context.ts'
import type { Protocol } from '../request-journal/entry.ts'
import type { FaultResponse } from '../scenarios/faults/fault-response.ts'
import type { RpcExchange } from './rpc-exchange.ts'
import type { RestRequest } from './transcoding.ts'

/** A call in the form that the request pipeline takes: the REST request that it was transcoded to. */
export class RpcCall implements SentRequest, AnswerSink {
  readonly call: Mutable<RemoteCall>
  readonly method: string
  readonly url: string
  readonly query: string
  readonly pathParameters: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  /** Undefined until the pipeline has answered, and when a fault has ended the call. */
  answer: WireAnswer | undefined
  readonly #rest: RestRequest
  readonly #exchange: RpcExchange

  constructor(
    exchange: RpcExchange,
    {
      name,
      protocol,
      rest,
      refused,
    }: { name: string; protocol: Protocol; rest: RestRequest; refused: Error | undefined },
  ) {
    const { headers, rawHeaders } = exchange.request
    this.call = { protocol, method: name, refused, cancelled: undefined }
    this.method = rest.binding.verb
    this.query = rest.query
    this.url = rest.query === '' ? rest.path : `${rest.path}?${rest.query}`
    this.pathParameters = rest.pathParameters
    const authority = headers[':authority']
    this.headers = { host: String(authority), ...headers, 'content-type': 'application/json' }
    this.rawHeaders = rawHeaders.filter((_, at) => !rawHeaders[at - (at % 2)]?.startsWith(':'))
    this.#rest = rest
    this.#exchange = exchange
  }

  get hasBody(): boolean {
    return this.#rest.body !== undefined
  }

  /** The size of the message was checked when it came in. */
  readBody(): Promise<Buffer> {
    return Promise.resolve(Buffer.from(JSON.stringify(this.#rest.body)))
  }

  baseUrl(configured: string | undefined): string {
    return baseUrlOf({ headers: this.headers, socket: this.#exchange.socket }, configured)
  }

  get closed(): boolean {
    return this.#exchange.abandoned.aborted
  }

  send(answer: WireAnswer, deliver: Deliver | undefined): undefined {
    this.answer = answer
    this.#exchange.deliver = deliver
  }

  get response(): FaultResponse {
    return this.#exchange.faultResponse()
  }
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
