import {
  type Account,
  type Issued,
  expiryOfIssue,
  updatedAccount,
  withLive,
  withoutPending,
  withPending,
} from '../../model/domain/account.ts'
import { TRAITS } from '../../model/domain/authorization-type.ts'
import { generatedDetails } from '../../model/domain/connector-defaults.ts'
import {
  checkDatabaseUser,
  type Credentials,
  haveSameTokens,
  lacksDatabaseUser,
  mergeCredentials,
  promotedCredentials,
} from '../../model/domain/credentials.ts'
import { type Instant, instant } from '../../model/domain/instant.ts'
import type { MagicLink } from '../../model/domain/generated/tables.ts'
import { withoutUndefined } from '../../model/domain/json.ts'
import type { ThirdParty, TokenResponse } from '../../model/domain/ports.ts'
import { withParameters } from '../../model/domain/redirect-url.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import { shorten } from '../../model/domain/text.ts'
import { wireWord } from '../../model/domain/vocabulary.ts'
import { defaultPerson } from '../../ui/pages/consent-page.ts'
import { endRequests } from '../../state/account-changes.ts'
import { newAuthRequest } from '../../state/auth-requests.ts'
import { type Environment, now } from '../../state/environment.ts'
import { type AuthorizationRequest, type ConsentParts, decideWithScenarios } from '../../service/third-party/consent.ts'
import { LinkProblem, type OpenLink, refuseUnverifiable, usableLink } from './link-validity.ts'

/** The decisions that a user, or a program in their place, can take on a link. */
export const DECISIONS = ['approve', 'deny'] as const
export type Decision = (typeof DECISIONS)[number]

export interface LinkFlow {
  readonly services: ConsentParts
  readonly environment: Environment
  readonly thirdParty: ThirdParty
  /** What links and redirects are built on, without a trailing slash. */
  readonly baseUrl: string
  /** What the flow causes, for the journal. */
  readonly trace: RequestTrace
}

/** A decision without a browser, and who signs in: any identity, in the connector's `people` or not. */
export interface Choice {
  readonly decision: Decision
  readonly as?: string | undefined
  /** What is granted of what is asked for; all of it when absent. */
  readonly scopes?: readonly string[] | undefined
}

interface Consented {
  readonly credentials: Credentials
  /** Lifetime of the token in milliseconds (G25); null when it does not expire. */
  readonly lifetime: number | null
  /** Whether a person entered them, so that the third party has yet to accept them. */
  readonly entered?: boolean
}

/**
 * The steps that a browser would take (G31): static types get generated credentials that the third party accepts.
 * @throws LinkProblem when a browser would see its page
 */
export async function completeLink(flow: LinkFlow, linkId: string, choice: Choice): Promise<string> {
  const open = usableLink(flow.environment, linkId)
  const { source } = TRAITS[open.connector.authorization_type]
  if (source === 'consent') return completeConsent(flow, open, choice)
  if (choice.decision === 'deny') return denyConsent(flow, linkId)
  if (source === 'form') return storeGeneratedCredentials(flow, open, choice.as)
  return completeWithoutUser(flow, linkId, choice.as || open.account.identifier)
}

/** The authorize request of a link (RFC 6749 4.1.1). */
export function authorizationRequestOf(flow: LinkFlow, { link, account, connector }: OpenLink): AuthorizationRequest {
  return {
    state: link.oauth_state,
    redirectUri: `${flow.baseUrl}/connect/callback`,
    scopes: connector.oauth.scopes,
    loginHint: account.identifier,
  }
}

/**
 * A code is exchanged for tokens, an error ends the flow. @returns where the browser goes @throws LinkProblem when the
 * link stopped working, or the third party refuses the code
 */
export async function finishConsent(flow: LinkFlow, linkId: string, response: URLSearchParams): Promise<string> {
  const open = usableLink(flow.environment, linkId)
  const error = response.get('error')
  if (error === 'access_denied') return denyConsent(flow, linkId)
  if (error)
    throw new LinkProblem('refused', shorten(`${error} ${response.get('error_description') ?? ''}`.trim(), 200))
  const code = response.get('code')
  if (!code) throw new LinkProblem('unusable_callback')
  // Checked before the code is used up.
  refuseUnverifiable(flow.environment, open.link)
  const { redirectUri } = authorizationRequestOf(flow, open)
  return flow.thirdParty.redeem(open.connector, open.account, { code, redirectUri }, (response) =>
    approveConsent(flow, linkId, consentedCredentials(response)),
  )
}

/** The service obtains the credentials, where the type has any. @param databaseUser where the account has none yet */
export async function completeWithoutUser(flow: LinkFlow, linkId: string, databaseUser = ''): Promise<string> {
  const { link, account: stored, connector } = usableLink(flow.environment, linkId)
  refuseUnverifiable(flow.environment, link)
  if (TRAITS[connector.authorization_type].source === 'none') {
    return approveConsent(flow, linkId, { credentials: {}, lifetime: null })
  }
  const { credentials, authorization_type, identifier } = stored
  const patch = { trusted_idp: { db_user: databaseUser } }
  const account = lacksDatabaseUser(credentials, connector)
    ? { ...stored, credentials: mergeCredentials(credentials, patch, authorization_type, identifier) }
    : stored
  checkDatabaseUser(account.credentials, connector)
  const isUnchanged = (): boolean => {
    const current = flow.environment.model.tables.accounts.get(account.id)
    return !current || haveSameTokens(current.credentials, stored.credentials)
  }
  // Another subject or database user that was stored meanwhile needs a token of its own.
  const obtained = flow.thirdParty.obtain(connector, account, (response) =>
    isUnchanged() ? approveConsent(flow, linkId, consentedCredentials(response)) : undefined,
  )
  return (await obtained) ?? completeWithoutUser(flow, linkId, databaseUser)
}

async function completeConsent(flow: LinkFlow, open: OpenLink, { decision, as, scopes }: Choice): Promise<string> {
  const { services, environment, trace } = flow
  if (decision === 'approve') refuseUnverifiable(environment, open.link)
  const person = as || defaultPerson(open.connector.people, open.account.identifier)
  const response = { ...authorizationRequestOf(flow, open), ...withoutUndefined({ scopes }), decision, person }
  const callback = await decideWithScenarios(services, { environment, connector: open.connector }, response, trace)
  return finishConsent(flow, open.link.id, new URL(callback, flow.baseUrl).searchParams)
}

function storeGeneratedCredentials(flow: LinkFlow, { link, connector }: OpenLink, person: string | undefined): string {
  return flow.environment.model.transact(() => {
    const details = generatedDetails(connector.credentials.fields, flow.environment.ids, person || undefined)
    return approveConsent(flow, link.id, { credentials: { static_auth: { details } }, lifetime: null, entered: true })
  }, flow.trace)
}

function consentedCredentials(response: TokenResponse): Consented {
  if (response.granted) return { credentials: response.credentials, lifetime: response.lifetime_ms }
  const detail = shorten([response.error, response.description].filter(Boolean).join(': '), 200)
  throw new LinkProblem(response.status >= 500 ? 'unavailable' : 'refused', detail)
}

/**
 * The credentials become live, or wait for verification behind a new auth request when the link has a
 * `user_verify_url`; older auth requests are superseded. One transaction. @returns where the browser goes (G30) @throws
 * LinkProblem when the link stopped working in the meantime
 */
export function approveConsent(flow: LinkFlow, linkId: string, consented: Consented): string {
  const { environment, thirdParty, trace } = flow
  const { model } = environment
  return model.transact(() => {
    const { link, account, connector } = usableLink(environment, linkId)
    refuseUnverifiable(environment, link)
    const [kind = null] = Object.keys(consented.credentials)
    if (kind !== TRAITS[account.authorization_type].kind)
      throw new LinkProblem('refused', `${connector.connector} asks for other credentials by now`)
    endRequests(environment, account, 'superseded')
    const now = environment.clock.now()
    const at = instant(now)
    const fresh = expiryOfIssue(account, consented.credentials, consented.lifetime, now)
    const changed =
      link.user_verify_url === ''
        ? connectedAccount(trace, account, fresh, at)
        : awaitingVerification(trace, account, fresh, at)
    model.tables.accounts.put(changed)
    if (consented.entered) thirdParty.accept(connector, changed, consented.credentials)
    model.tables.magic_links.put({ ...link, completed_at: at })
    trace.link = { id: linkId, event: 'approved', verified: link.user_verify_url !== '' }
    return link.user_verify_url === ''
      ? successUrl(flow)
      : verifyUrl(environment, link, newAuthRequest(environment, account))
  }, trace)
}

/**
 * The link stays usable until it expires, because its flow has not completed (G28). @returns where the browser goes,
 * with `error=access_denied` and `state`
 */
export function denyConsent(flow: LinkFlow, linkId: string): string {
  const { link, account } = usableLink(flow.environment, linkId)
  flow.trace.moved(account, 'consent_denied', now(flow.environment))
  const response = new Map([['error', 'access_denied'], ...stateParameter(flow.environment, link)])
  return withParameters(link.user_verify_url || successUrl(flow), response)
}

/** The account with live credentials; credentials that waited for verification are dropped. */
function connectedAccount(trace: RequestTrace, account: Account, fresh: Issued, at: Instant): Account {
  const { oauth_token } = fresh.credentials
  const credentials = oauth_token ? fresh.credentials : promotedCredentials(account.credentials, fresh.credentials)
  const live = withLive(withoutPending(account), { ...fresh, credentials })
  return trace.moved(updatedAccount(account, live, at), 'consent_approved', at)
}

/** The account with credentials that wait for verification; the status stays where the table has no move (`ACTIVE`). */
function awaitingVerification(trace: RequestTrace, account: Account, fresh: Issued, at: Instant): Account {
  return withPending(trace.moved(account, 'consent_approved_unverified', at), fresh)
}

/** The parameters are named as the environment's vocabulary names the fields with the same values (G48). */
function verifyUrl(environment: Environment, link: MagicLink, requestId: string): string {
  const name = wireWord(environment.settings.vocabulary, 'auth_request_id')
  return withParameters(link.user_verify_url, new Map([[name, requestId], ...stateParameter(environment, link)]))
}

function successUrl(flow: LinkFlow): string {
  return `${flow.baseUrl}/connect/success`
}

function stateParameter({ settings }: Environment, link: MagicLink): [string, string][] {
  return link.state === null ? [] : [[wireWord(settings.vocabulary, 'state'), link.state]]
}
