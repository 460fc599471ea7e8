import type { ServerResponse } from 'node:http'
import type { Account } from '../domain/account.ts'
import type { Connector } from '../domain/connector.ts'
import { type JsonObject, type JsonValue, own } from '../domain/json.ts'
import { RequestTrace } from '../domain/request-trace.ts'
import type { Environment } from '../state/environment.ts'
import { deliverWhole, deliveryOf, encoded, injectedAnswer, waitBefore } from './delivery.ts'
import type { WireAnswer } from './faults/fault.ts'
import type { Pauses } from './pauses.ts'
import type { ScenarioRequest } from './scenario-request.ts'
import type { EnvironmentScenarios, Verdict } from './scenarios.ts'

/** A request that the service sent to a third party, as that one received it (`third-party/listener.ts`). */
export interface ThirdPartyRequest {
  readonly environment: Environment
  readonly connector: Connector
  readonly kind: 'api' | 'token'
  readonly request: {
    readonly method: string
    readonly apiPath: string
    readonly query: URLSearchParams
    readonly headers: Readonly<Record<string, string | string[] | undefined>>
    readonly body: Buffer
  }
  readonly account: Account | undefined
  readonly tool?: string | undefined
  readonly trace: RequestTrace | undefined
}

/** What happens instead of the plain answer; it sends the response itself. */
type ThirdPartyFault = (response: ServerResponse, answer: () => Promise<WireAnswer>) => Promise<void>

interface Context {
  readonly scenarios: (environment: Environment) => EnvironmentScenarios
  readonly pauses: Pauses
}

/**
 * The rules at `third_party` and `token_refresh`: what the service asks of a token endpoint without a user is a refresh
 * here, be it with a refresh token or by means of its own; the code of a consent is not.
 */
export function thirdPartyInterceptor({ scenarios: of, pauses }: Context) {
  return (exchange: ThirdPartyRequest): Promise<ThirdPartyFault | undefined> => {
    const scenarios = of(exchange.environment)
    const request = scenarios.active ? scenarioRequest(exchange) : undefined
    const verdict = request && scenarios.consider(request)
    if (!verdict || verdict.wire.length === 0) return Promise.resolve(undefined)
    return Promise.resolve(faultOf(verdict, { pauses, chance: () => scenarios.chance(), at: request.at }))
  }
}

function faultOf(
  { wire: effects }: Verdict,
  { at, ...means }: Pick<ScenarioRequest, 'at'> & { pauses: Pauses; chance: () => number },
): ThirdPartyFault {
  return async (response, plain) => {
    const wire = { response, ...means }
    if (await waitBefore(effects, wire)) return
    const injected = injectedAnswer(effects, { at, requestId: '', executionId: () => '' })
    const answer = injected ? encoded(injected) : await plain()
    const deliver = deliveryOf(effects)
    await (deliver ? deliver(wire, answer) : deliverWhole(response, answer))
  }
}

function scenarioRequest(exchange: ThirdPartyRequest): ScenarioRequest | undefined {
  const { connector, kind, request, account, trace, tool } = exchange
  const body = bodyOf(request.body.toString('utf8'), String(request.headers['content-type'] ?? ''))
  if (kind === 'token' && isCodeGrant(body)) return undefined
  return {
    at: kind === 'api' ? 'third_party' : 'token_refresh',
    connector: connector.connector,
    tool,
    method: request.method,
    path: decoded(request.apiPath),
    body,
    query: fieldsOf(request.query),
    headers: request.headers as JsonObject,
    account,
    trace: trace ?? new RequestTrace(),
  }
}

function isCodeGrant(body: JsonValue | undefined): boolean {
  return typeof body === 'object' && own(body as JsonObject, 'grant_type') === 'authorization_code'
}

function bodyOf(text: string, type: string): JsonValue | undefined {
  if (type.toLowerCase().startsWith('application/x-www-form-urlencoded')) return fieldsOf(new URLSearchParams(text))
  if (text === '') return undefined
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return text
  }
}

function fieldsOf(parameters: URLSearchParams): JsonObject {
  const fields = Object.create(null) as JsonObject
  for (const name of new Set(parameters.keys())) {
    const [first = '', ...more] = parameters.getAll(name)
    fields[name] = more.length > 0 ? [first, ...more] : first
  }
  return fields
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
