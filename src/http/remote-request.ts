import type { JsonValue } from '../domain/json.ts'
import type { FaultResponse } from '../scenarios/faults/fault-response.ts'
import type { WireAnswer } from './answer.ts'
import type { Deliver, RemoteCall, SentRequest } from './request-context.ts'

/** A call of another protocol and its response. */
interface CallExchange {
  /** How a fault sends the response; undefined when it is sent as it is. */
  deliver: Deliver | undefined
  /** The response as faults see it. */
  faultResponse(): FaultResponse
}

/** The request of HTTP that a call stands for. */
interface RestCall extends Pick<
  SentRequest,
  'method' | 'query' | 'pathParameters' | 'headers' | 'rawHeaders' | 'baseUrl'
> {
  readonly call: RemoteCall
  readonly path: string
  readonly body: JsonValue | undefined
}

/** A call in the form that the request pipeline takes. */
export interface RemoteRequest extends SentRequest {
  /** Undefined until the pipeline has answered, and when a fault has ended the call. */
  answer: WireAnswer | undefined
}

export function remoteRequest(exchange: CallExchange, { path, body, ...sent }: RestCall): RemoteRequest {
  return {
    ...sent,
    url: sent.query === '' ? path : `${path}?${sent.query}`,
    hasBody: body !== undefined,
    // The size of what was sent was checked when it came in.
    readBody: () => Promise.resolve(Buffer.from(JSON.stringify(body))),
    get response() {
      return exchange.faultResponse()
    },
    answer: undefined,
    send(answer, deliver) {
      this.answer = answer
      // Of a batch of calls the first fault counts.
      exchange.deliver ??= deliver
      return undefined
    },
  }
}
