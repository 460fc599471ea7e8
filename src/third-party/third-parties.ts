import type { ThirdParty } from '../domain/ports.ts'
import type { RequestTrace, UpstreamCall } from '../domain/request-trace.ts'
import type { Environment } from '../state/environment.ts'
import { CallsUnderWay } from './calls-under-way.ts'
import { type ClientParts, ThirdPartyClient } from './client.ts'
import { HttpExchange } from './exchange.ts'
import { type Interceptor, startListener } from './listener.ts'
import { Templates } from './template.ts'

export interface ThirdPartiesOptions {
  environment: (name: string) => Environment | undefined
  /** The seam for scenarios at `third_party` and `token_refresh`. */
  intercept?: Interceptor | undefined
  /** Told of every request of the service to a third party. */
  onCall?: ((call: UpstreamCall) => void) | undefined
  /** Whether a connector's `base_url` may leave loopback. */
  allowOutbound?: boolean | undefined
  /** Resolves when everything that was changed so far is on disk. */
  durable?: (() => Promise<void> | undefined) | undefined
}

/** The fake third-party applications of a server, listening, and the way to them. */
export interface ThirdParties {
  /** Where they listen, `http://127.0.0.1:4711`. */
  readonly origin: string
  /** The service's side of them for one environment; calls are noted in the trace of the request behind them. */
  client(environment: Environment, trace?: RequestTrace): ThirdParty
  close(): Promise<void>
}

export async function startThirdParties(options: ThirdPartiesOptions): Promise<ThirdParties> {
  const { environment, intercept, onCall, allowOutbound, durable } = options
  const templates = new Templates()
  const http = new HttpExchange()
  const underWay = new CallsUnderWay()
  const listener = await startListener({ environment, templates, intercept, underWay, durable })
  const parts: ClientParts = { listenerOrigin: listener.origin, templates, http, onCall, allowOutbound, underWay }
  return {
    origin: listener.origin,
    client: (of, trace) => new ThirdPartyClient(parts, of, trace),
    close: async () => {
      http.close()
      await listener.close()
    },
  }
}
