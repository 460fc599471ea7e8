import type { ServerResponse } from 'node:http'
import type { Account } from '../model/domain/account.ts'
import { decodeBody } from '../platform/body-text.ts'
import type { Connector } from '../model/domain/connector.ts'
import type { EncodedResponse } from '../model/domain/encoded-response.ts'
import {
  fieldValues,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownMember,
  parsedJson,
} from '../model/domain/json.ts'
import { RequestTrace } from '../model/domain/request-trace.ts'
import { percentDecoded } from '../model/domain/text.ts'
import type { Environment } from '../state/environment.ts'
import { actBefore, deliveryOf, encodeInjected, injectedResponse } from './delivery.ts'
import type { Pauses } from './pauses.ts'
import type { EnvironmentScenarios, ScenarioRegistry } from './environment-scenarios.ts'
import type { ScenarioRequest } from './rule-matching.ts'

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
  /** The account that the service calls for, and the tool that the call is made for. */
  readonly account: Account | undefined
  readonly tool: string | undefined
  /** Of the request that causes the call: rules that fire here are noted in it. */
  readonly trace: RequestTrace | undefined
}

/** The answer of a third party, and how a fault sends it. */
export interface ThirdPartyReply {
  readonly wireResponse: EncodedResponse
  readonly deliver?: ((response: EncodedResponse) => Promise<void>) | undefined
}

/** The reply in place of the plain answer, with or without asking for it; undefined once a fault has ended the connection. */
export type ThirdPartyFault = (
  response: ServerResponse,
  plain: () => Promise<EncodedResponse>,
) => Promise<ThirdPartyReply | undefined>

interface Context {
  readonly scenarios: ScenarioRegistry
  readonly pauses: Pauses
}

/** A token request without a user is a refresh, by whatever means; the code of a consent is none. */
export function thirdPartyInterceptor({ scenarios: registry, pauses }: Context) {
  return (exchange: ThirdPartyRequest): ThirdPartyFault | undefined => {
    const scenarios = registry.of(exchange.environment)
    const request = scenarios.active ? thirdPartyScenarioRequest(exchange) : undefined
    const fired = request && scenarios.match(request)
    if (!fired || fired.faults.length === 0) return undefined
    return async (response, plain) => {
      const connection = { response, pauses, random: () => scenarios.random(), trace: request.trace }
      if (await actBefore(fired.faults, connection)) return undefined
      const injected = injectedResponse(fired.faults, { ...NOT_AT_SERVICE, at: request.at })
      const wireResponse = injected ? encodeInjected(injected) : await plain()
      const deliver = deliveryOf(fired.faults)
      return { wireResponse, deliver: deliver && ((whole) => deliver(connection, whole)) }
    }
  }
}

function thirdPartyScenarioRequest(exchange: ThirdPartyRequest): ScenarioRequest | undefined {
  const { connector, kind, request, account, trace, tool } = exchange
  const type = String(request.headers['content-type'] ?? '')
  const body = bodyByType(decodeBody(request.body, { 'content-type': type }, Infinity), type)
  if (kind === 'token' && isCodeGrant(body)) return undefined
  return {
    at: kind === 'api' ? 'third_party' : 'token_refresh',
    connector: connector.connector,
    tool,
    method: request.method,
    path: percentDecoded(request.apiPath) ?? request.apiPath,
    body,
    query: fieldValues(request.query),
    headers: request.headers as JsonObject,
    account,
    trace: trace ?? new RequestTrace(),
  }
}

function isCodeGrant(body: JsonValue | undefined): boolean {
  return isJsonObject(body) && ownMember(body, 'grant_type') === 'authorization_code'
}

/** A body by its media type: the fields of a form, JSON, or a text; undefined when there is none. */
export function bodyByType(text: string, type: string): JsonValue | undefined {
  if (type.toLowerCase().startsWith('application/x-www-form-urlencoded')) return fieldValues(new URLSearchParams(text))
  if (text === '') return undefined
  const value = parsedJson(text)
  return value === undefined ? text : value
}

/** A decision at a third party's consent page, or without one. */
export interface ConsentRequest {
  readonly connector: Connector
  /** The account that is being connected. */
  readonly account: Account | undefined
  readonly trace: RequestTrace
}

/** Default bodies with ids are those of the service. */
const NOT_AT_SERVICE = { executionId: () => '', accountId: () => '' }

/** The OAuth error that the third party's redirect carries instead of what was decided (RFC 6749 4.1.2.1). */
export interface ConsentError {
  readonly error: string
  readonly error_description: string
}

/** What rules make of a decision; empty where they leave it as it is. */
interface ConsentOutcome {
  readonly error?: ConsentError
  /** What is granted in place of what was chosen. */
  readonly scopes?: readonly string[] | undefined
}

/** Applies the rules at `consent`, when the decision is made. */
export async function consentFault(
  scenarios: EnvironmentScenarios,
  { connector, account, trace }: ConsentRequest,
  pauses: Pauses,
): Promise<ConsentOutcome> {
  if (!scenarios.active) return {}
  const request = { connector: connector.connector, account, trace, body: undefined, query: {}, headers: {} }
  const fired = scenarios.match({ at: 'consent', ...request })
  if (!fired) return {}
  await actBefore(fired.faults, { pauses, trace, random: () => scenarios.random() })
  const response = injectedResponse(fired.faults, { ...NOT_AT_SERVICE, at: 'consent' })
  const grants = fired.faults.flatMap(({ fault, params }) => (fault.phase === 'consent' ? [fault.scopes(params)] : []))
  if (!response || !isJsonObject(response.body)) return { scopes: grants.at(-1) }
  const { error, error_description } = response.body
  return { error: { error: textOr(error, 'server_error'), error_description: textOr(error_description, '') } }
}

function textOr(value: JsonValue | undefined, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}
