import type { Connector } from '../../model/domain/connector.ts'
import { instant } from '../../model/domain/instant.ts'
import { withoutUndefined } from '../../model/domain/json.ts'
import { withParameters } from '../../model/domain/redirect-url.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import { consentFault } from '../../scenarios/third-party.ts'
import type { Environment } from '../../state/environment.ts'
import { applicationOf } from './schemes.ts'
import type { EnvironmentRegistry } from '../../state/environment-registry.ts'
import type { ScenarioRegistry } from '../../scenarios/environment-scenarios.ts'
import type { Pauses } from '../../scenarios/pauses.ts'

/** RFC 6749 4.1.2 recommends at most ten minutes. */
const CODE_LIFETIME = 10 * 60_000

/** What the service asks a third party to authorize. */
export interface AuthorizationRequest {
  /** The redirect returns it unchanged. */
  state: string
  redirectUri: string
  scopes: readonly string[]
  /** The account that is being connected, shown on the consent page. */
  loginHint?: string | undefined
}

/** The decision on a request, and who signed in; `person` is empty when it was denied without signing in. */
export interface AuthorizationResponse extends AuthorizationRequest {
  decision: 'approve' | 'deny'
  person: string
}

/** Where the service sends a browser for consent (RFC 6749 4.1.1). `baseUrl` has no slash at its end. */
export function authorizeUrl(
  baseUrl: string,
  environment: Environment,
  connector: Connector,
  request: AuthorizationRequest,
): string {
  const query = new URLSearchParams({
    client_id: applicationOf(environment, connector.connector).client_id,
    redirect_uri: request.redirectUri,
    response_type: 'code',
    scope: request.scopes.join(' '),
    state: request.state,
  })
  if (request.loginHint !== undefined) query.set('login_hint', request.loginHint)
  return `${baseUrl}/third-party/${encodeURIComponent(connector.connector.toWellFormed())}/authorize?${query.toString()}`
}

/** With a code, or with `access_denied`. Without a browser (G31) any person can sign in. */
export function decisionUrl(environment: Environment, connector: Connector, response: AuthorizationResponse): string {
  if (response.decision === 'deny') {
    return redirectTo(response, { error: 'access_denied', error_description: 'The request was denied.' })
  }
  const code = environment.model.transact(() => issueCode(environment, connector, response))
  return redirectTo(response, { code })
}

export interface ConsentParts {
  readonly registry: EnvironmentRegistry
  readonly scenarios: ScenarioRegistry
  readonly pauses: Pauses
}

/** Like {@link decisionUrl}, where rules of scenarios at `consent` may answer for the third party (1.4). */
export async function decideWithScenarios(
  { registry, scenarios, pauses }: ConsentParts,
  { environment, connector }: { environment: Environment; connector: Connector },
  response: AuthorizationResponse,
  trace: RequestTrace,
): Promise<string> {
  const { link } = registry.byOauthState.get(response.state) ?? {}
  const account = link && environment.model.tables.accounts.get(link.account_id)
  const { error, scopes } = await consentFault(scenarios.of(environment), { connector, account, trace }, pauses)
  return error
    ? redirectTo(response, { ...error })
    : decisionUrl(environment, connector, { ...response, ...withoutUndefined({ scopes }) })
}

/** Where the browser goes back to the service with an answer (RFC 6749 4.1.2). */
export function redirectTo(
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  response: Readonly<Record<string, string>>,
): string {
  return withParameters(redirectUri, new Map(Object.entries({ ...response, state })))
}

function issueCode(environment: Environment, connector: Connector, response: AuthorizationResponse): string {
  const id = `code_${environment.ids.opaque()}`
  environment.model.tables.authorization_codes.put({
    id,
    connector: connector.connector,
    person: response.person,
    scopes: [...response.scopes],
    redirect_uri: response.redirectUri,
    expires_at: instant(environment.clock.now() + CODE_LIFETIME),
  })
  return id
}
