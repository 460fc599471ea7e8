import { createHmac } from 'node:crypto'
import { type AuthorizationType, TRAITS } from '../../model/domain/authorization-type.ts'
import type { Connector } from '../../model/domain/connector.ts'
import type { Grant } from '../../model/domain/generated/tables.ts'
import { milliseconds } from '../../model/domain/instant.ts'
import { type JsonObject, ownMember, textAt } from '../../model/domain/json.ts'
import { type TokenEvent, tokenDigest } from '../../model/domain/request-trace.ts'
import { isSameSecret } from '../../model/domain/secret.ts'
import { percentDecoded } from '../../model/domain/text.ts'
import { type Environment, now } from '../../state/environment.ts'
import { hasExpired } from '../../state/expiry.ts'
import { isReusable, revokedGrant } from '../../state/grants.ts'
import { verifyJwt } from './jwt.ts'
import { type Application, applicationOf, expiryOf, rejectsText, sessionToken } from './schemes.ts'
import {
  ACCOUNT_HEADER,
  headerOf,
  jsonResponse,
  type ReceivedRequest,
  type ThirdPartyResponse,
} from './http-messages.ts'

/** A token request whose form was read and whose application was authenticated. */
interface TokenCall {
  readonly environment: Environment
  readonly connector: Connector
  readonly application: Application
  readonly form: ReadonlyMap<string, string>
  /** The account that the service asks for; empty when the request names none. */
  readonly accountId: string
}

/** The errors of RFC 6749 5.2. */
type OauthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'

/** `apply` runs in a transaction: for its own client that which stores the tokens, so that no crash comes between. */
type TokenReply = { readonly apply?: () => void; readonly event?: TokenEvent } & (
  { readonly body: JsonObject } | { readonly error: OauthErrorCode; readonly description: string }
)

type GrantType = (call: TokenCall) => TokenReply

type TokenRequest = Pick<ReceivedRequest, 'method' | 'headers' | 'body'>

/** A third party's `POST /oauth/token` (RFC 6749 3.2). */
export function respondToTokenRequest(
  environment: Environment,
  connector: Connector,
  request: TokenRequest,
): Pick<TokenReply, 'event'> & { readonly response: ThirdPartyResponse; readonly apply?: (() => void) | undefined } {
  if (request.method !== 'POST') return { response: jsonResponse(405, { error: 'invalid_request' }, { Allow: 'POST' }) }
  const reply = decideToken(environment, connector, request)
  const { apply, event } = reply
  const noted = event && { event }
  const headers = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
  if ('body' in reply) return { response: jsonResponse(200, reply.body, headers), apply, ...noted }
  const body = { error: reply.error, error_description: reply.description }
  if (reply.error !== 'invalid_client') return { response: jsonResponse(400, body, headers), apply, ...noted }
  return { response: jsonResponse(401, body, { ...headers, 'WWW-Authenticate': 'Basic realm="token"' }) }
}

function decideToken(environment: Environment, connector: Connector, request: TokenRequest): TokenReply {
  const form = thirdPartyForm(request)
  if (!form) return tokenRefusal('invalid_request', 'send each field once, as application/x-www-form-urlencoded')
  const application = applicationOf(environment, connector.connector)
  const { id = '', secret = '' } = applicationIn(request, form)
  // A client that renews tokens itself names the application by its own credentials at the service.
  const client = environment.model.tables.clients.get(id)
  const expected = id === application.client_id ? application.client_secret : client?.client_secret
  if (expected === undefined || !isSameSecret(secret, expected)) {
    return tokenRefusal('invalid_client', 'the application is not registered here, or its secret is wrong')
  }
  const name = form.get('grant_type')
  if (name === undefined) return tokenRefusal('invalid_request', 'grant_type is missing')
  const grantType = GRANT_TYPES.get(name)
  if (!grantType) return tokenRefusal('unsupported_grant_type', `known are ${[...GRANT_TYPES.keys()].join(', ')}`)
  if (!grantType.allows(connector.authorization_type))
    return tokenRefusal('unauthorized_client', 'not for applications of this kind')
  return grantType.run({ environment, connector, application, form, accountId: headerOf(request, ACCOUNT_HEADER) })
}

/** The client id of a token request; undefined where it names none. */
export function clientIdIn(request: TokenRequest): string | undefined {
  return applicationIn(request, thirdPartyForm(request)).id
}

/** The account whose refresh token a request presents. */
export function accountIdIn({ model }: Environment, connector: string, request: TokenRequest): string | undefined {
  return model.grantIndex.byRefreshToken(connector, thirdPartyForm(request)?.get('refresh_token') ?? '')?.account_id
}

function thirdPartyForm(request: TokenRequest): Map<string, string> | undefined {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headerOf(request, 'content-type'))) return undefined
  const form = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(request.body.toString('utf8'))) {
    if (form.has(name)) return undefined
    form.set(name, value)
  }
  return form
}

/** The client credentials of a request, in HTTP Basic (RFC 6749 2.3.1: each part is encoded by itself) or in its form. */
function applicationIn(
  request: TokenRequest,
  form: ReadonlyMap<string, string> | undefined,
): { id?: string | undefined; secret?: string | undefined } {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(headerOf(request, 'authorization')) ?? []
  if (encoded === undefined) return { id: form?.get('client_id'), secret: form?.get('client_secret') }
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  return id === undefined || secret === undefined ? {} : { id: percentDecoded(id), secret: percentDecoded(secret) }
}

function tokenRefusal(error: OauthErrorCode, description: string, apply?: () => void): TokenReply {
  return { error, description, ...(apply && { apply }) }
}

/** RFC 6749 4.1.3: a code works once, in time, and with the redirect URI that it was issued for. */
const authorizationCode: GrantType = (call) => {
  const { environment, connector, form } = call
  const id = form.get('code')
  if (id === undefined) return tokenRefusal('invalid_request', 'code is missing')
  const code = environment.model.tables.authorization_codes.get(id)
  if (!code || code.connector !== connector.connector)
    return tokenRefusal('invalid_grant', 'the code is unknown or was used before')
  const consume = (): void => environment.model.tables.authorization_codes.remove(id)
  if (code.expires_at <= now(environment)) return tokenRefusal('invalid_grant', 'the code has expired', consume)
  if (code.redirect_uri !== form.get('redirect_uri'))
    return tokenRefusal('invalid_grant', 'redirect_uri is not the one of the authorization', consume)
  const renewable = TRAITS[connector.authorization_type].expires && connector.oauth.refresh_token !== 'none'
  const refresh_token = renewable ? newRefreshToken(environment) : ''
  const { grant, body, apply } = newGrant(call, { person: code.person, scopes: code.scopes, refresh_token })
  return {
    body,
    apply: () => {
      const isUsed = !environment.model.tables.authorization_codes.get(id)
      consume()
      apply()
      // Since the decision another request used the same code (RFC 6749 4.1.2), or it has expired.
      if (isUsed) environment.model.tables.grants.put(revokedGrant(environment, grant))
    },
  }
}

/** RFC 6749 6. A replaced one that comes again counts as stolen: what descends from it is revoked (RFC 9700 4.14.2). */
const refreshToken: GrantType = (call) => {
  const { environment, connector, form } = call
  const presented = form.get('refresh_token')
  if (presented === undefined || presented === '') return tokenRefusal('invalid_request', 'refresh_token is missing')
  const { grantIndex } = environment.model
  const byRefreshToken = grantIndex.byRefreshToken(connector.connector, presented)
  // Several accounts may store the same token: then the grant of the calling account counts (G65).
  const isOwn = (grant: Grant): boolean =>
    grant.connector === connector.connector && grant.refresh_token === presented && !grant.revoked
  const spent = byRefreshToken?.final
    ? byRefreshToken
    : (grantIndex.ofAccount(call.accountId).findLast(isOwn) ?? byRefreshToken)
  if (!spent) return tokenRefusal('invalid_grant', 'the refresh token is unknown')
  const derived = successorTokens(call, spent)
  const successor = isReusable(environment, spent, connector)
    ? grantIndex.byRefreshToken(connector.connector, derived.refresh_token)
    : undefined
  if (successor && !successor.revoked) return { body: tokenBody(connector, successor, environment.clock.now()) }
  if (spent.revoked) return tokenRefusal('invalid_grant', 'the refresh token has been revoked')
  if (spent.refresh_revoked) {
    const description = 'the refresh token was used before; everything issued from it is revoked'
    const replayed = { kind: 'replayed', token: tokenDigest(presented) } as const
    return { ...tokenRefusal('invalid_grant', description, () => revokeFamily(environment, spent)), event: replayed }
  }
  if (connector.oauth.refresh_token === 'none')
    return tokenRefusal('unauthorized_client', 'this application renews no tokens')
  const rotates = connector.oauth.refresh_token === 'rotate'
  const tokens = rotates && connector.oauth.reuse_interval !== undefined && derived
  const refresh_token = tokens ? tokens.refresh_token : rotates ? newRefreshToken(environment) : presented
  const { account_id, person, scopes } = spent
  const renewed = newGrant(call, { account_id, person, scopes, ...tokens, refresh_token })
  const { refresh_token: _kept, ...body } = renewed.body
  const apply = (): void => {
    const { grants } = environment.model.tables
    const current = grants.get(spent.id) ?? spent
    // Another request has renewed it since the decision, and has got the same tokens.
    if (isReusable(environment, current, connector)) return
    const replaced_at = tokens && { replaced_at: now(environment) }
    grants.put(rotates ? { ...current, refresh_revoked: true, ...replaced_at } : { ...current, refresh_token: '' })
    renewed.apply()
    // Another request used the same refresh token since the decision. One that its owner has ended was not used.
    if (current.refresh_revoked && !current.revoked) revokeFamily(environment, spent)
  }
  if (!rotates) return { body, apply }
  const event = { kind: 'renewed', token: tokenDigest(presented), next: tokenDigest(refresh_token) } as const
  return { body: renewed.body, apply, event }
}

/** The tokens that replace those of a grant, the same ones for requests that present its refresh token at the same time (G72). */
function successorTokens({ environment, connector }: TokenCall, { account_id, refresh_token }: Grant) {
  const { client_secret } = applicationOf(environment, connector.connector)
  const derived = (kind: string): string =>
    createHmac('sha256', client_secret).update(`${kind} ${account_id} ${refresh_token}`).digest('base64url')
  return { access: `at_${derived('access')}`, refresh_token: `rt_${derived('refresh')}` }
}

/** Revokes everything that was issued from the same consent. */
function revokeFamily(environment: Environment, spent: Grant): void {
  for (const grant of environment.model.grantIndex.ofAccount(spent.account_id)) {
    if (grant.connector !== spent.connector || grant.person !== spent.person) continue
    environment.model.tables.grants.put(revokedGrant(environment, grant))
  }
}

/** RFC 6749 4.4: the application itself signs in (`OAUTH_M2M`). */
const clientCredentials: GrantType = (call) => newGrant(call, { person: call.application.client_id })

/** RFC 7523: the application vouches for the user for whom it acts (`WORKSPACE_DWD`). */
const jwtBearer: GrantType = (call) => replyToAssertion(call, 'assertion', (person) => newGrant(call, { person }))

/** RFC 8693: a trusted identity gets temporary keys (`TRUSTED_IDP`; provisioned clusters need `db_user`, 2.2). */
const tokenExchange: GrantType = (call) =>
  replyToAssertion(call, 'subject_token', (person) => {
    const { environment, connector, form } = call
    const user = form.get('db_user') ?? ''
    if (connector.cluster === 'provisioned' && user === '')
      return tokenRefusal('invalid_request', 'a provisioned cluster needs db_user')
    if (rejectsText(connector, user)) return tokenRefusal('invalid_grant', 'access for this db_user is not allowed')
    const [access, secret] = [environment.ids.id('key'), `sk_${environment.ids.opaque()}`]
    const { body, apply } = newGrant(call, { person, access, secret })
    // The session token takes the place of an access token; the keys are what requests are signed with.
    const keys = { access_key_id: access, secret_access_key: secret, access_token: sessionToken(access, secret) }
    const issued_token_type = 'urn:ietf:params:oauth:token-type:access_token'
    return { body: { ...body, ...keys, issued_token_type, token_type: 'N_A' }, apply }
  })

const byConsent = (type: AuthorizationType): boolean => TRAITS[type].source === 'consent'

/** The grant types, by the name that a token request gives them, and which connectors may use each. */
const GRANT_TYPES: ReadonlyMap<string, { run: GrantType; allows: (type: AuthorizationType) => boolean }> = new Map([
  ['authorization_code', { run: authorizationCode, allows: byConsent }],
  ['refresh_token', { run: refreshToken, allows: byConsent }],
  ['client_credentials', { run: clientCredentials, allows: (type) => type === 'OAUTH_M2M' }],
  ['urn:ietf:params:oauth:grant-type:jwt-bearer', { run: jwtBearer, allows: (type) => type === 'WORKSPACE_DWD' }],
  ['urn:ietf:params:oauth:grant-type:token-exchange', { run: tokenExchange, allows: (type) => type === 'TRUSTED_IDP' }],
])

/** The reply for the subject of a signed assertion, or why the assertion is refused. */
function replyToAssertion(call: TokenCall, field: string, reply: (subject: string) => TokenReply): TokenReply {
  const { environment, connector, application, form } = call
  const token = form.get(field)
  if (token === undefined) return tokenRefusal('invalid_request', `${field} is missing`)
  const claims = verifyJwt(token, application.client_secret)
  if (!claims || ownMember(claims, 'iss') !== application.client_id)
    return tokenRefusal('invalid_grant', 'the assertion is not signed by this application')
  const expires = ownMember(claims, 'exp')
  if (typeof expires !== 'number' || expires * 1000 <= environment.clock.now())
    return tokenRefusal('invalid_grant', 'the assertion has expired')
  const subject = textAt(claims, 'sub')
  if (subject === '') return tokenRefusal('invalid_grant', 'the assertion names no subject')
  if (rejectsText(connector, subject)) return tokenRefusal('invalid_grant', 'access for this subject is not allowed')
  return reply(subject)
}

/** The scopes that a request names, or all that the connector has. */
function requestedScopes({ connector, form }: TokenCall): string[] {
  const scopes = (form.get('scope') ?? '').split(' ').filter((scope) => scope !== '')
  return scopes.length > 0 ? scopes : connector.oauth.scopes
}

type NewGrant = Pick<Grant, 'person'> & Partial<Omit<Grant, 'id' | 'connector' | 'expires_at'>>

/** A new grant, the answer with its tokens, and how it is stored, inside a transaction. */
function newGrant(call: TokenCall, values: NewGrant): { grant: Grant; body: JsonObject; apply: () => void } {
  const { environment, connector } = call
  const { grantIndex } = environment.model
  const account_id = values.account_id || call.accountId
  const valid = account_id === '' ? [] : grantIndex.ofAccount(account_id).filter((grant) => !grant.revoked)
  const expires_at = expiryOf(environment, connector)
  const grant: Grant = {
    id: environment.ids.id('grant'),
    connector: connector.connector,
    account_id,
    person: values.person,
    scopes: values.scopes ?? requestedScopes(call),
    access: values.access ?? `at_${environment.ids.opaque()}`,
    secret: values.secret ?? '',
    refresh_token: values.refresh_token ?? '',
    ...(expires_at === undefined ? {} : { expires_at }),
    revoked: false,
    refresh_revoked: false,
  }
  const apply = (): void => {
    const { grants } = environment.model.tables
    removeSpent(environment, account_id)
    // The account was deleted or disconnected since the decision: what it has got is revoked, and so is this.
    const isRevoked = valid.some(({ id }) => grants.get(id)?.revoked)
    grants.put(isRevoked ? revokedGrant(environment, grant) : grant)
  }
  return { grant, body: tokenBody(connector, grant), apply }
}

function newRefreshToken(environment: Environment): string {
  return `rt_${environment.ids.opaque()}`
}

/** How many spent grants of an account stay, so that a refresh token that is used again is recognized. */
const SPENT_GRANTS = 5

/** A grant is spent when its access token has expired and its refresh token no longer works. */
function removeSpent(environment: Environment, accountId: string): void {
  if (accountId === '') return
  const spent = environment.model.grantIndex
    .ofAccount(accountId)
    .filter(
      (grant) =>
        !grant.final && (grant.refresh_token === '' || grant.refresh_revoked) && hasExpired(environment, grant),
    )
  for (const grant of spent.slice(0, -SPENT_GRANTS)) environment.model.tables.grants.remove(grant.id)
}

/** The fields that every successful answer has (RFC 6749 5.1); `at` is the time of one whose tokens were issued before. */
function tokenBody(connector: Connector, grant: Grant, at?: number): JsonObject {
  const { access_token_lifetime, domain } = connector.oauth
  const { expires_at } = grant
  const remaining = expires_at === undefined || at === undefined ? access_token_lifetime : milliseconds(expires_at) - at
  return {
    access_token: grant.access,
    token_type: 'Bearer',
    ...(expires_at === undefined ? {} : { expires_in: Math.floor(Math.max(0, remaining) / 1000) }),
    ...(grant.refresh_token === '' ? {} : { refresh_token: grant.refresh_token }),
    scope: grant.scopes.join(' '),
    ...(domain === '' ? {} : { domain }),
  }
}
