import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { Connector } from '../../model/domain/connector.ts'
import { didYouMean } from '../../model/domain/suggestion.ts'
import { quote } from '../../model/domain/text.ts'
import { baseUrlOf } from '../../model/domain/request-headers.ts'
import type { OpenEntry } from '../../journal/request-journal/request-entries.ts'
import type { ThirdPartyReply } from '../../scenarios/third-party.ts'
import type { Environment } from '../../state/environment.ts'
import {
  ACCOUNT_HEADER,
  headerOf,
  jsonResponse,
  receivedRequest,
  type ReceivedRequest,
  type ThirdPartyResponse,
} from './http-messages.ts'
import { noEnvironment } from './listener.ts'
import { accountIdIn, clientIdIn } from './tokens.ts'
import { SCHEMES } from './schemes.ts'
import type { EnvironmentRegistry } from '../../state/environment-registry.ts'
import type { ThirdParties } from './client.ts'

interface DirectParts {
  readonly registry: EnvironmentRegistry
  readonly thirdParties: ThirdParties
  readonly defaultEnvironment: () => Environment | undefined
}

/** Names the environment of a call whose credential does not: of an application that asks for none. */
const ENVIRONMENT_HEADER = 'x-toolmock-environment'

/** A call, and what is found out about it. */
interface DirectCall extends OpenEntry {
  body: Buffer | string
}

/** Makes the handler of a route whose answers are those of a third party. */
export type DirectRoute = (
  handle: (request: Request, response: Response, call: DirectCall) => Promise<ThirdPartyReply | undefined>,
) => RequestHandler

/** Below `/{connector}/api` and `/{connector}/oauth/token`. The credential of a call identifies its environment. */
export function directApiRoutes(services: DirectParts, route: DirectRoute): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.route('/:connector/api{/*path}').all(route((...call) => directResponse(services, call, 'api')))
  router.route('/:connector/oauth/token').all(route((...call) => directResponse(services, call, 'token')))
  return router
}

function directResponse(
  services: DirectParts,
  [request, response, call]: Parameters<Parameters<DirectRoute>[0]>,
  kind: 'api' | 'token',
): Promise<ThirdPartyReply | undefined> {
  const { trace } = call
  // The control API has the same origin: what an application answers must not run there.
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Content-Security-Policy', 'sandbox')
  return services.thirdParties.replyOf(request, response, (body) => {
    call.body = body
    const address = { origin: baseUrlOf(request, undefined), target: request.originalUrl }
    const received = receivedRequest(request, { ...address, body })
    const target = foundAt(services, String(request.params['connector']), received, kind)
    if ('status' in target) return target
    const { environment, connector } = target
    call.environment = environment
    const presented = kind === 'token' ? accountIdIn(environment, connector.connector, received) : undefined
    const account = environment.model.tables.accounts.get(presented ?? headerOf(received, ACCOUNT_HEADER))
    trace.account ??= account
    return { environment, connector, kind, request: received, account, tool: undefined, trace, ticket: '' }
  })
}

const ISSUED: ReadonlySet<string> = new Set(['expired', 'revoked', 'bad_signature'])

/** Which environment's application is called: the one that knows the credential, or that the caller names. */
function foundAt(
  { registry, defaultEnvironment }: DirectParts,
  name: string,
  request: ReceivedRequest,
  kind: 'api' | 'token',
): { environment: Environment; connector: Connector } | ThirdPartyResponse {
  const owner = kind === 'token' ? registry.byClient.get(clientIdIn(request) ?? '')?.environment.name : undefined
  const environmentName = owner ?? headerOf(request, ENVIRONMENT_HEADER)
  if (environmentName !== '' && !registry.environment(environmentName)) return noEnvironment(environmentName)
  const asked = environmentName === '' ? registry.environments() : [registry.environment(environmentName)]
  const there = asked.flatMap((environment) => {
    const connector = environment?.connector(name)
    return environment && connector?.base_url === null ? [{ environment, connector }] : []
  })
  const isKnown = (each: { environment: Environment; connector: Connector }): boolean => {
    const grant = SCHEMES[each.connector.authorization_type].verify(request, each)
    // A credential that is no longer valid was issued there all the same.
    return typeof grant === 'string' ? ISSUED.has(grant) : grant !== undefined
  }
  const ofDefault = there.find(({ environment }) => environment === defaultEnvironment())
  const candidate = there.find(isKnown) ?? ofDefault ?? there[0]
  if (candidate) return candidate
  const names = asked
    .flatMap((environment) => [...(environment?.model.tables.connectors.values() ?? [])])
    .map(({ connector }) => connector)
  const message = `there is no fake application ${quote(name)} here${didYouMean(name, names)}`
  return jsonResponse(404, { error: 'not_found', message })
}
