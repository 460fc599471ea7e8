import { createHash, createHmac } from 'node:crypto'
import type { Account } from '../../model/domain/account.ts'
import { type AuthorizationType, TRAITS } from '../../model/domain/authorization-type.ts'
import type { Connector } from '../../model/domain/connector.ts'
import { areLive, type Credentials, type StoredByCallers } from '../../model/domain/credentials.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import type { Grant } from '../../model/domain/generated/tables.ts'
import { type Instant, instant } from '../../model/domain/instant.ts'
import { isNumber, jsonText, type JsonValue } from '../../model/domain/json.ts'
import { matchesGlob } from '../../model/domain/value-match.ts'
import { type Environment, now } from '../../state/environment.ts'
import { meetsExpiry } from '../../state/expiry.ts'
import { revokedGrant } from '../../state/grants.ts'
import {
  ACCOUNT_HEADER,
  encodePart,
  headerOf,
  headerValue,
  type OutgoingRequest,
  allParameters,
  type ReceivedRequest,
} from './http-messages.ts'
import { authorizationFields, oauth1Signature, type Pair } from './oauth1.ts'
import { TemplateError } from './template-error.ts'
import type { Templates } from './template.ts'

/** A third party of one environment. */
interface PartyContext {
  readonly environment: Environment
  readonly connector: Connector
}

export interface SchemeContext extends PartyContext {
  readonly templates: Templates
}

/** Why a call is refused, as its answer says it. */
export const REFUSALS = {
  missing: 'the request carries no credential',
  malformed: 'the credential cannot be read',
  unknown: 'the credential was never issued, or has been replaced',
  expired: 'the credential has expired',
  revoked: 'the credential has been revoked',
  bad_signature: 'the signature does not fit the request',
} as const
type Refusal = keyof typeof REFUSALS

/** What the third party stores of credentials to recognize them. */
type KnownCredential = Pick<Grant, 'access' | 'secret' | 'refresh_token' | 'scopes'>

/** One way to authenticate a call: how the service presents a credential, and how the third party checks it. */
interface Scheme {
  /** Whether {@link present} has to see a body as a whole. */
  readonly signsBody?: boolean
  /** Service side: adds the credential to a request. */
  present(request: OutgoingRequest, credentials: Credentials, context: SchemeContext): void
  /** Third party: the grant of a call's credential, undefined where none is asked for, or why the call is refused. */
  verify(request: ReceivedRequest, context: PartyContext): Grant | Refusal | undefined
  /** The `WWW-Authenticate` of a refusal. */
  challenge(connector: Connector, refusal: Refusal): string
  /** What a grant for credentials that a caller stored contains; undefined when they contain nothing to present. */
  known(credentials: Credentials, context: SchemeContext): KnownCredential | undefined
}

/** Finds the grant of an access string and checks that it is valid at this moment. */
function validGrant(request: ReceivedRequest, context: PartyContext, access: string): Grant | Refusal {
  const grant = access === '' ? undefined : findGrant(context, access, headerOf(request, ACCOUNT_HEADER))
  if (!grant) return 'unknown'
  if (grant.revoked) return 'revoked'
  return meetsExpiry(context.environment, 'grants', grant) ? 'expired' : grant
}

/** Several accounts may store the same key: then the grant of the calling account counts, or else one that is valid (G65). */
function findGrant({ environment, connector }: PartyContext, access: string, accountId: string): Grant | undefined {
  const { grantIndex, tables } = environment.model
  const byAccessToken = grantIndex.byAccess(connector.connector, access)
  if (byAccessToken && (byAccessToken.account_id === accountId || byAccessToken.final)) return byAccessToken
  const isSame = (grant: Grant): boolean => grant.connector === connector.connector && grant.access === access
  const ofAccount = grantIndex.ofAccount(accountId).find(isSame)
  if (ofAccount) return ofAccount
  if (byAccessToken && !byAccessToken.revoked) return byAccessToken
  // The index knows the latest grant only, which may have been revoked, and then removed.
  for (const grant of tables.grants.values()) if (isSame(grant) && !grant.revoked) return grant
  return byAccessToken
}

function realmParameter(connector: Connector): string {
  return `realm="${encodeURIComponent(connector.connector.toWellFormed())}"`
}

/** `Authorization: Bearer …` (RFC 6750): the types whose access tokens come from a token endpoint. */
const bearer: Scheme = {
  present(request, credentials) {
    const token = headerValue(storedBearerToken(credentials))
    if (token !== '') request.headers['Authorization'] = `Bearer ${token}`
  },

  verify(request, context) {
    const header = headerOf(request, 'authorization')
    if (header === '') return 'missing'
    const [, token] = /^Bearer +(\S.*)$/i.exec(header) ?? []
    return token === undefined ? 'malformed' : validGrant(request, context, token)
  },

  challenge(connector, refusal) {
    const challenge = `Bearer ${realmParameter(connector)}`
    if (refusal === 'missing') return challenge
    return `${challenge}, error="invalid_token", error_description="${REFUSALS[refusal]}"`
  },

  known(credentials) {
    const { oauth_token, workspace_dwd } = credentials
    const access = headerValue(storedBearerToken(credentials))
    const refresh_token = oauth_token?.refresh_token ?? ''
    if (access === '' && refresh_token === '') return undefined
    return { access, secret: '', refresh_token, scopes: oauth_token?.scopes ?? workspace_dwd?.scopes ?? [] }
  },
}

function storedBearerToken(credentials: Credentials): string {
  return credentials.oauth_token?.access_token ?? credentials.workspace_dwd?.access_token ?? ''
}

/** Credentials that never change: keys, passwords and tokens, sent as the connector's `credentials.send` says. */
const staticCredential: Scheme = {
  present(request, credentials, context) {
    const values = staticValues(credentials, context)
    const { headers, query } = staticNames(context.connector)
    for (const [at, name] of headers.entries()) if (values[at]) request.headers[name] = values[at]
    for (const [at, name] of query.entries()) {
      const value = values[headers.length + at]
      if (value) request.query.push([name, value])
    }
  },

  verify(request, context) {
    const { headers, query } = staticNames(context.connector)
    const values = headers.map((name) => headerOf(request, name))
    for (const name of query) values.push(request.query.get(name) ?? '')
    const access = accessOf(values)
    return access === undefined ? 'missing' : validGrant(request, context, access)
  },

  challenge: (connector) => `${challengeName(connector)} ${realmParameter(connector)}`,

  known(credentials, context) {
    const access = accessOf(staticValues(credentials, context))
    return access === undefined ? undefined : { access, secret: '', refresh_token: '', scopes: [] }
  },
}

/** The headers and query parameters that carry static credentials, in the order of the connector's file. */
function staticNames({ credentials: { send } }: Connector): { headers: readonly string[]; query: readonly string[] } {
  const [headers, query] = [Object.keys(send.headers), Object.keys(send.query)]
  return headers.length === 0 && query.length === 0 ? OPAQUE : { headers, query }
}

/** A connector that does not say how its credentials travel gets all of them as one opaque header. */
const OPAQUE = { headers: ['Authorization'], query: [] }

/** The values of {@link staticNames}: first the headers, then the query parameters. */
function staticValues(credentials: Credentials, { environment, connector, templates }: SchemeContext): string[] {
  const details = credentials.static_auth?.details ?? {}
  const { headers, query } = connector.credentials.send
  const scope = { values: { credentials: details }, clock: environment.clock, ids: environment.ids }
  const values: string[] = []
  try {
    for (const name in headers) values.push(headerValue(templates.renderComplete(headers[name] ?? '', scope)))
    for (const name in query) values.push(templates.renderComplete(query[name] ?? '', scope).toWellFormed())
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    const what = `the credentials cannot be sent as the connector ${connector.connector} says: ${error.message}`
    throw new ServiceError('INVALID_AUTHORIZATION_DETAILS', what)
  }
  if (values.length > 0) return values
  return [`Credentials ${createHash('sha256').update(jsonText(details)).digest('base64url')}`]
}

/** One string for the whole credential, so that one look-up finds it; undefined when every part is empty. */
function accessOf(values: readonly string[]): string | undefined {
  return values.every((value) => value === '') ? undefined : jsonText(values)
}

function challengeName({ authorization_type: type }: Connector): string {
  if (type === 'BASIC' || type === 'BASIC_AUTH') return 'Basic'
  return type === 'BEARER_TOKEN' ? 'Bearer' : 'ApiKey'
}

/**
 * One-legged (RFC 5849): the consumer's secret signs, the token names the account. The third party accepts old
 * timestamps and repeated nonces, since tests repeat themselves and move the clock.
 */
const oauth1: Scheme = {
  present(request, credentials, context) {
    const { client_id, client_secret } = applicationOf(context.environment, context.connector.connector)
    const token = credentials.oauth_token?.access_token ?? ''
    if (token === '') return
    const oauth: Pair[] = [
      ['oauth_consumer_key', client_id],
      ['oauth_token', token.toWellFormed()],
      ['oauth_signature_method', 'HMAC-SHA1'],
      ['oauth_timestamp', String(Math.floor(context.environment.clock.now() / 1000))],
      ['oauth_nonce', context.environment.ids.opaque()],
      ['oauth_version', '1.0'],
    ]
    const { method, path } = request
    const url = `${request.origin}${path}`
    const signature = oauth1Signature(
      { method, url, parameters: [...allParameters(request), ...oauth] },
      client_secret,
      '',
    )
    const signed = [...oauth, ['oauth_signature', signature] as const]
    const fields = signed.map(([name, value]) => `${name}="${encodePart(value)}"`)
    request.headers['Authorization'] = `OAuth ${[realmParameter(context.connector), ...fields].join(', ')}`
  },

  verify(request, context) {
    const header = headerOf(request, 'authorization')
    if (header === '') return 'missing'
    const fields = authorizationFields(header)
    if (!fields) return 'malformed'
    const { client_id, client_secret } = applicationOf(context.environment, context.connector.connector)
    if (fields.get('oauth_consumer_key') !== client_id) return 'unknown'
    const signed = [...fields].filter(([name]) => name !== 'realm' && name !== 'oauth_signature')
    const { method, url } = request
    const parameters = [...request.query, ...signed]
    const expected = oauth1Signature({ method, url, parameters }, client_secret, '')
    if (fields.get('oauth_signature') !== expected) return 'bad_signature'
    return validGrant(request, context, fields.get('oauth_token') ?? '')
  },

  challenge: (connector) => `OAuth ${realmParameter(connector)}`,

  known({ oauth_token }) {
    const access = oauth_token?.access_token.toWellFormed() ?? ''
    if (access === '') return undefined
    return { access, secret: '', refresh_token: '', scopes: oauth_token?.scopes ?? [] }
  },
}

const KEY_ALGORITHM = 'TMK1-HMAC-SHA256'

/**
 * An HMAC-SHA256 over method, path, query, date, session token and body, by the secret key, which is never sent. The
 * session token is derived from the key: the third party can check that they belong together.
 */
const temporaryKey: Scheme = {
  signsBody: true,

  present(request, credentials, context) {
    const { access_key_id = '', secret_access_key = '', session_token = '' } = credentials.trusted_idp ?? {}
    if (access_key_id === '') return
    const date = now(context.environment)
    const { method, path, body } = request
    const query = allParameters(request)
    const signature = keySignature({ method, path, query, date, session: session_token, body }, secret_access_key)
    request.headers['X-Date'] = date
    request.headers['X-Session-Token'] = session_token
    request.headers['Authorization'] = `${KEY_ALGORITHM} Credential=${access_key_id}, Signature=${signature}`
  },

  verify(request, context) {
    const header = headerOf(request, 'authorization')
    if (header === '') return 'missing'
    const [, keyId, signature] = /^TMK1-HMAC-SHA256 Credential=([^,\s]+), Signature=([0-9a-f]{64})$/.exec(header) ?? []
    if (keyId === undefined) return 'malformed'
    const grant = validGrant(request, context, keyId)
    if (typeof grant === 'string') return grant
    const { secret } = grant
    const session = headerOf(request, 'x-session-token')
    if (session !== sessionToken(keyId, secret)) return 'unknown'
    const { method, rawPath: path, query, body } = request
    const expected = keySignature({ method, path, query, date: headerOf(request, 'x-date'), session, body }, secret)
    return signature === expected ? grant : 'bad_signature'
  },

  challenge: (connector) => `${KEY_ALGORITHM} ${realmParameter(connector)}`,

  known(credentials) {
    const { access_key_id = '', secret_access_key = '' } = credentials.trusted_idp ?? {}
    if (access_key_id === '' || secret_access_key === '') return undefined
    return { access: access_key_id, secret: secret_access_key, refresh_token: '', scopes: [] }
  },
}

export function sessionToken(keyId: string, secret: string): string {
  return `st_${createHmac('sha256', secret).update(`session ${keyId}`).digest('base64url')}`
}

interface KeySignedParts {
  method: string
  path: string
  query: Iterable<Pair>
  date: string
  session: string
  body: string | Buffer
}

function keySignature({ method, path, query, date, session, body }: KeySignedParts, secret: string): string {
  const parameters = Array.from(query, ([name, value]) => `${encodePart(name)}=${encodePart(value)}`).sort()
  const bodyHash = createHash('sha256').update(body).digest('hex')
  const text = [KEY_ALGORITHM, method, path, parameters.join('&'), date, session, bodyHash].join('\n')
  return createHmac('sha256', secret).update(text).digest('hex')
}

/** `NO_AUTH`: calls carry no credential, and the third party asks for none. */
const none: Scheme = {
  present: () => undefined,
  verify: () => undefined,
  challenge: () => '',
  known: () => undefined,
}

/** How calls authenticate, by the connector's authorization type. */
export const SCHEMES: Readonly<Record<AuthorizationType, Scheme>> = {
  OAUTH: bearer,
  API_KEY: staticCredential,
  BASIC_AUTH: staticCredential,
  BEARER_TOKEN: staticCredential,
  CUSTOM: staticCredential,
  BASIC: staticCredential,
  OAUTH_M2M: bearer,
  TRACKER_OAUTH1: oauth1,
  WORKSPACE_DWD: bearer,
  TRUSTED_IDP: temporaryKey,
  SMART_FHIR: bearer,
  NO_AUTH: none,
}

/** Revokes what the account had before. Those that `reject` names stay unknown: 401. Only inside a transaction. */
export function acceptCredentials(
  context: SchemeContext,
  account: Account,
  credentials: Credentials,
  byCaller: StoredByCallers = credentials,
): void {
  const { environment, connector } = context
  const { grantIndex, tables } = environment.model
  const scheme = SCHEMES[connector.authorization_type]
  const { oauth_token, static_auth } = byCaller
  const credential = areLive(credentials, account.authorization_type) ? scheme.known(credentials, context) : undefined
  const isRefused = isRejected(connector, credentials)
  // Credentials that wait for verification leave the live ones valid ("States").
  const waits = account.pending?.credentials === credentials
  const pending = account.pending && scheme.known(account.pending.credentials, context)?.access
  let current: Grant | undefined
  // What was not sent again works only if it still did (G27).
  const sendsAccess = !oauth_token || Boolean(oauth_token.access_token)
  let accesses = sendsAccess
  let refreshes = Boolean(oauth_token?.refresh_token)
  const validKeys = new Set(Object.keys(static_auth?.details ?? {}))
  for (const grant of grantIndex.ofAccount(account.id)) {
    const isValid = !grant.revoked
    refreshes ||= isValid && grant.refresh_token === credential?.refresh_token && !grant.refresh_revoked
    if (isValid && static_auth) for (const key of keysOf(grant, credentials)) validKeys.add(key)
    if (grant.final) continue
    const isSame = grant.connector === connector.connector && grant.access === credential?.access
    if (!current && isSame && (isValid || sendsAccess)) [current, accesses] = [grant, true]
    else if (!waits && grant.access !== pending) tables.grants.put(revokedGrant(environment, grant))
  }
  if (!credential || (isRefused && !static_auth)) return
  const keys = Object.keys(credentials.static_auth?.details ?? {}).filter((key) => validKeys.has(key))
  if (static_auth) accesses = !isRefused && keys.length === Object.keys(credentials.static_auth?.details ?? {}).length
  const grant: Grant = {
    id: current?.id ?? environment.ids.id('grant'),
    connector: connector.connector,
    account_id: account.id,
    person: account.identifier,
    scopes: credential.scopes,
    access: accesses ? credential.access : '',
    // Keys work together: a grant without access remembers which of them are valid until all are.
    secret: static_auth ? JSON.stringify(keys) : credential.secret,
    refresh_token: refreshes ? credential.refresh_token : '',
    revoked: false,
    refresh_revoked: false,
  }
  const isFresh = sendsAccess && credential.access !== ''
  const expires_at = isFresh ? expiryOf(environment, connector) : current?.expires_at
  if (expires_at !== undefined) grant.expires_at = expires_at
  if (!isFresh && current?.expired) grant.expired = true
  tables.grants.put(grant)
}

/** The static keys that a valid grant was stored with. */
function keysOf({ access, secret }: Grant, { static_auth }: Credentials): string[] {
  if (secret !== '') return JSON.parse(secret) as string[]
  return access === '' ? [] : Object.keys(static_auth?.details ?? {})
}

/** When an access token issued now expires; undefined for types whose tokens never do. */
export function expiryOf({ clock }: Environment, connector: Connector): Instant | undefined {
  if (!TRAITS[connector.authorization_type].expires) return undefined
  return instant(clock.now() + connector.oauth.access_token_lifetime)
}

/** Whether the third party refuses this text, by the connector's `reject`. */
export function rejectsText({ reject }: Connector, text: string): boolean {
  return reject.some((glob) => matchesGlob(glob, text))
}

function isRejected(connector: Connector, { oauth_token, static_auth }: Credentials): boolean {
  const values = [oauth_token?.access_token, oauth_token?.refresh_token, ...textsInside(static_auth?.details ?? null)]
  return values.some((value) => value && rejectsText(connector, value))
}

function textsInside(value: JsonValue): string[] {
  if (typeof value === 'string') return [value]
  if (isNumber(value)) return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsInside) : []
}

/** The service's own registration at a third party: one application per environment and connector. */
export interface Application {
  client_id: string
  client_secret: string
}

const CLIENT_ID_PREFIX = 'toolmock-'

/** Derived instead of stored: only this process needs the secret. */
export function applicationOf(environment: Environment, connector: string): Application {
  const secret = createHash('sha256').update(`${environment.name}\n${connector}`).digest('base64url')
  return { client_id: `${CLIENT_ID_PREFIX}${environment.name}`, client_secret: secret }
}

/** The name of the environment whose application a `client_id` names; undefined when it names none. */
export function environmentOfClientId(clientId: string): string | undefined {
  return clientId.startsWith(CLIENT_ID_PREFIX) ? clientId.slice(CLIENT_ID_PREFIX.length) : undefined
}
