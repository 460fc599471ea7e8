import type { IncomingHttpHeaders } from 'node:http'
import { routeOf } from '../contract/route.ts'
import type { JsonObject } from '../domain/json.ts'
import type { WireAnswer } from '../http/answer.ts'
import type { AnswerSink, Authenticated, Deliver, RemoteCall, SentRequest } from '../http/request-context.ts'
import type { McpExchange } from './mcp-exchange.ts'

const { method: METHOD, path: PATH } = routeOf('execute_tool')

/** A tool's call in the form that the request pipeline takes: the request of execute_tool that it stands for. */
export class McpCall implements SentRequest, AnswerSink {
  readonly call: RemoteCall
  readonly method = METHOD
  readonly url = PATH
  readonly query = ''
  readonly pathParameters = {}
  readonly hasBody = true
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  /** Undefined until the pipeline has answered, and when a fault has ended the connection. */
  answer: WireAnswer | undefined
  readonly #exchange: McpExchange
  readonly #body: JsonObject

  constructor(
    exchange: McpExchange,
    { body, refused, mcpClient }: { body: JsonObject; refused: Error | undefined; mcpClient: string | undefined },
  ) {
    const { message, url } = exchange
    this.call = {
      protocol: 'mcp',
      method: 'tools/call',
      url,
      mcpClient,
      refused,
      authenticate: (): Authenticated => exchange.caller.authenticate(),
      silence: () => {
        exchange.isSilent = true
      },
      get cancelled() {
        return exchange.isOver ? 'its client has gone' : undefined
      },
    }
    this.headers = { ...message.headers, 'content-type': 'application/json', 'x-request-id': exchange.nextRequestId() }
    this.rawHeaders = message.rawHeaders
    this.#exchange = exchange
    this.#body = body
  }

  readBody(): Promise<Buffer> {
    return Promise.resolve(Buffer.from(JSON.stringify(this.#body)))
  }

  baseUrl(): string {
    return this.#exchange.baseUrl
  }

  get closed(): boolean {
    return this.#exchange.isOver
  }

  get response(): McpExchange['response'] {
    return this.#exchange.response
  }

  /** The answer becomes the result of the call, which the exchange sends. */
  send(answer: WireAnswer, deliver: Deliver | undefined): undefined {
    this.answer = answer
    this.#exchange.deliver ??= deliver
  }
}
