import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { Connector } from '../domain/connector.ts'
import { RequestTrace } from '../domain/request-trace.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { quote } from '../domain/text.ts'
import { baseUrlOf } from '../domain/request-headers.ts'
import { type PageParts, recordAnswer } from '../request-journal/page-journal.ts'
import type { Environment } from '../state/environment.ts'
import {
  ACCOUNT_HEADER,
  headerOf,
  jsonAnswer,
  receivedRequest,
  type ReceivedRequest,
  type ThirdPartyAnswer,
} from './http-messages.ts'
import { noEnvironment } from './listener.ts'
import { accountIdIn, clientIdIn } from './tokens.ts'
import { SCHEMES } from './schemes.ts'
import type { EnvironmentRegistry } from '../state/environment-registry.ts'
import type { ThirdParties } from './client.ts'

interface DirectParts extends PageParts {
  readonly registry: EnvironmentRegistry
  readonly thirdParties: ThirdParties
  readonly defaultEnvironment: () => Environment | undefined
}

/** Names the environment of a call whose credential does not: of an application that asks for none. */
const ENVIRONMENT_HEADER = 'x-toolmock-environment'

/**
 * The API of every third party for programs that call it themselves, mounted at `/third-party`: below `/{connector}/api`, and
 * its token endpoint at `/{connector}/oauth/token`. The credential of the call identifies its environment.
 * @param hold holds an answer back, and with it the journal's entry, until what it says is durable
 */
export function directApiRoutes(services: DirectParts, hold: (response: Response) => void): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const answers =
    (kind: 'api' | 'token'): RequestHandler =>
    async (request, response) => {
      await answer(services, { request, response, hold }, kind)
    }
  router.route('/:connector/api{/*path}').all(answers('api'))
  router.route('/:connector/oauth/token').all(answers('token'))
  return router
}

/** What the journal's entry says of a call, as far as it is known. */
interface DirectCall {
  readonly kind: 'third_party'
  readonly trace: RequestTrace
  requestBody: Buffer | string
  environment: Environment | undefined
}

async function answer(
  services: DirectParts,
  { request, response, hold }: { request: Request; response: Response; hold: (response: Response) => void },
  kind: 'api' | 'token',
): Promise<void> {
  const trace = new RequestTrace()
  const entry: DirectCall = { kind: 'third_party', trace, requestBody: '', environment: undefined }
  trace.request = recordAnswer(services, request, response, (responseBody) => ({ ...entry, responseBody }))
  hold(response)
  // The control API has the same origin: what an application answers must not run there.
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Content-Security-Policy', 'sandbox')
  await services.thirdParties.serve(request, response, (body) => {
    entry.requestBody = body
    const address = { origin: baseUrlOf(request, undefined), target: request.originalUrl }
    const received = receivedRequest(request, { ...address, body })
    const found = foundAt(services, String(request.params['connector']), received, kind)
    if ('status' in found) return found
    const { environment, connector } = found
    entry.environment = environment
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
): { environment: Environment; connector: Connector } | ThirdPartyAnswer {
  const owner = kind === 'token' ? registry.byClient.get(clientIdIn(request) ?? '')?.environment.name : undefined
  const named = owner ?? headerOf(request, ENVIRONMENT_HEADER)
  if (named !== '' && !registry.environment(named)) return noEnvironment(named)
  const asked = named === '' ? registry.environments() : [registry.environment(named)]
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
  const found = there.find(isKnown) ?? ofDefault ?? there[0]
  if (found) return found
  const names = asked
    .flatMap((environment) => [...(environment?.model.tables.connectors.values() ?? [])])
    .map(({ connector }) => connector)
  const message = `there is no fake application ${quote(name)} here${didYouMean(name, names)}`
  return jsonAnswer(404, { error: 'not_found', message })
}
