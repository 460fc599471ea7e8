import { type AuthorizationType, TRAITS } from '../domain/authorization-type.ts'
import type { Connector } from '../domain/connector.ts'
import type { Environment } from '../state/environment.ts'
import { applicationOf } from './application.ts'
import { authorizationCode } from './grants/authorization-code.ts'
import { clientCredentials } from './grants/client-credentials.ts'
import { type GrantType, type TokenCall, type TokenReply, refused } from './grants/grant-type.ts'
import { jwtBearer } from './grants/jwt-bearer.ts'
import { refreshToken } from './grants/refresh-token.ts'
import { tokenExchange } from './grants/token-exchange.ts'
import { ACCOUNT_HEADER, type ReceivedRequest, type WireAnswer, decodePart, headerOf, jsonAnswer } from './wire.ts'

const byConsent = (type: AuthorizationType): boolean => TRAITS[type].source === 'consent'

/** The grant types, by the name that a token request gives them, and who may use each. */
const GRANT_TYPES: ReadonlyMap<string, { run: GrantType; allows: (type: AuthorizationType) => boolean }> = new Map([
  ['authorization_code', { run: authorizationCode, allows: byConsent }],
  ['refresh_token', { run: refreshToken, allows: byConsent }],
  ['client_credentials', { run: clientCredentials, allows: (type) => type === 'OAUTH_M2M' }],
  ['urn:ietf:params:oauth:grant-type:jwt-bearer', { run: jwtBearer, allows: (type) => type === 'WORKSPACE_DWD' }],
  ['urn:ietf:params:oauth:grant-type:token-exchange', { run: tokenExchange, allows: (type) => type === 'TRUSTED_IDP' }],
])

/** A third party's `POST /oauth/token` (RFC 6749 3.2). */
export function answerToken(environment: Environment, connector: Connector, request: ReceivedRequest): WireAnswer {
  if (request.method !== 'POST') return jsonAnswer(405, { error: 'invalid_request' }, { Allow: 'POST' })
  const reply = environment.model.transact(() => exchange(environment, connector, request))
  const headers = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
  if ('body' in reply) return jsonAnswer(200, reply.body, headers)
  const body = { error: reply.error, error_description: reply.description }
  if (reply.error !== 'invalid_client') return jsonAnswer(400, body, headers)
  return jsonAnswer(401, body, { ...headers, 'WWW-Authenticate': 'Basic realm="token"' })
}

function exchange(environment: Environment, connector: Connector, request: ReceivedRequest): TokenReply {
  const form = readForm(request)
  if (!form) return refused('invalid_request', 'send each field once, as application/x-www-form-urlencoded')
  const application = applicationOf(environment, connector.connector)
  const presented = basicCredentials(request) ?? { id: form.get('client_id'), secret: form.get('client_secret') }
  if (presented.id !== application.client_id || presented.secret !== application.client_secret) {
    return refused('invalid_client', 'the application is not registered here, or its secret is wrong')
  }
  const name = form.get('grant_type')
  if (name === undefined) return refused('invalid_request', 'grant_type is missing')
  const grantType = GRANT_TYPES.get(name)
  if (!grantType) return refused('unsupported_grant_type', `known are ${[...GRANT_TYPES.keys()].join(', ')}`)
  if (!grantType.allows(connector.authorization_type))
    return refused('unauthorized_client', 'not for applications of this kind')
  const call: TokenCall = { environment, connector, application, form, accountId: headerOf(request, ACCOUNT_HEADER) }
  return grantType.run(call)
}

function readForm(request: ReceivedRequest): Map<string, string> | undefined {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headerOf(request, 'content-type'))) return undefined
  const form = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(request.body.toString('utf8'))) {
    if (form.has(name)) return undefined
    form.set(name, value)
  }
  return form
}

/** RFC 6749 2.3.1: both parts are form-encoded before they are joined. */
function basicCredentials(
  request: ReceivedRequest,
): { id: string | undefined; secret: string | undefined } | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(headerOf(request, 'authorization')) ?? []
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon === -1) return { id: undefined, secret: undefined }
  return { id: decodePart(text.slice(0, colon)), secret: decodePart(text.slice(colon + 1)) }
}
