import { isSameSecret } from '../../model/domain/secret.ts'
import { type FieldViolation, invalidField, ruleAndFound, ServiceError, TokenError } from '../../model/domain/errors.ts'
import { fieldValues } from '../../model/domain/json.ts'
import { formDecoded, quote, shorten } from '../../model/domain/text.ts'
import { decodeText } from './body.ts'
import type { OperationContext } from './request-context.ts'
import type { ServiceParts } from './services.ts'

const FORM = 'application/x-www-form-urlencoded'

/** Reads the body of the token request, which is a form (G14). @throws TokenError, ServiceError */
export async function readTokenForm(context: OperationContext, limit: number): Promise<void> {
  const { request } = context
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== FORM) {
    const description = ruleAndFound(`must be ${FORM}`, type === undefined ? 'nothing' : quote(type))
    throw invalidField('Content-Type', description, 'content_type')
  }
  context.rawBody = await request.readBody(limit)
  context.body = fieldValues(new URLSearchParams(decodeText(context.rawBody)))
}

/**
 * In the body or as HTTP Basic (5.1, G14, RFC 6749 4.4). A client id pattern of a seed may make the environment now
 * (1.2). @throws TokenError
 */
export async function authenticateClient(
  context: OperationContext,
  { registry, environments }: ServiceParts,
): Promise<void> {
  const form = tokenForm(context.body)
  const header = context.request.headers.authorization
  // Clients send their old bearer token along when they renew it: another scheme counts only where the form names no client.
  const isMeant = header !== undefined && (/^basic(?: |$)/i.test(header) || !form.get('client_id'))
  const basic = isMeant ? basicCredentials(header) : undefined
  const grantType = form.get('grant_type')
  if (!grantType) {
    throw invalidTokenRequest('grant_type is required; send grant_type=client_credentials', missingField('grant_type'))
  }
  if (grantType !== 'client_credentials') {
    const description = ruleAndFound('must be client_credentials', quote(grantType))
    throw new TokenError('unsupported_grant_type', `grant_type ${description}`, false, [
      { field: 'grant_type', description, constraint: 'enum' },
    ])
  }
  if (basic && form.get('client_secret')) {
    // RFC 6749 2.3: a client must not use more than one method of authentication in a request.
    const message =
      'the client authenticates twice, by HTTP Basic and by client_secret; send its credentials in one place'
    const description = 'must not be sent beside an Authorization: Basic header'
    throw invalidTokenRequest(message, { field: 'client_secret', description, constraint: 'exclusive' })
  }
  const clientId = form.get('client_id')
  if (basic && clientId && clientId !== basic.id) {
    const description = 'must be the client of the Authorization header'
    throw invalidField('client_id', description, 'exclusive')
  }
  const { id, secret } = basic ?? bodyCredentials(form)
  const client = registry.byClient.get(id) ?? (await environments.createForClient(id, secret))
  // Whoever names a client has its refusal in the environment of that client.
  context.environment = client?.environment
  context.client = client?.client
  if (!client || !isSameSecret(secret, client.client.client_secret)) {
    const problem = client ? undefined : environments.seedProblem
    const unread = problem === undefined ? '' : `; client id patterns are not known, because ${problem}`
    throw new TokenError('invalid_client', `client_id or client_secret is wrong${unread}`, basic !== undefined)
  }
}

/** Every 400 and 401 of the token endpoint has the body of RFC 6749 5.2 (G14): a 401 where its environment was removed. */
export function asTokenError(error: unknown): unknown {
  if (!(error instanceof ServiceError) || (error.status !== 400 && error.status !== 401)) return error
  const code = error.status === 400 ? 'invalid_request' : 'invalid_client'
  return new TokenError(code, error.message, false, error.context.violations)
}

/** @throws TokenError invalid_request when a field is sent more than once (RFC 6749 3.2) */
function tokenForm(body: unknown): ReadonlyMap<string, string> {
  const form = new Map<string, string>()
  for (const [name, value] of Object.entries(body ?? {}) as [string, unknown][]) {
    if (typeof value !== 'string') {
      const description = ruleAndFound('must be sent once', 'it more than once')
      const message = `${quote(name)} is sent more than once; send it once`
      throw invalidTokenRequest(message, { field: shorten(name, 80), description, constraint: 'repeated' })
    }
    form.set(name, value)
  }
  return form
}

function invalidTokenRequest(message: string, violation: FieldViolation): TokenError {
  return new TokenError('invalid_request', message, false, [violation])
}

function missingField(field: string): FieldViolation {
  return { field, description: 'is required', constraint: 'required' }
}

/** @throws TokenError invalid_client without client authentication (RFC 6749 5.2) */
function bodyCredentials(form: ReadonlyMap<string, string>): { id: string; secret: string } {
  for (const name of ['client_id', 'client_secret']) {
    if (form.get(name)) continue
    const message = `${name} is required; send client_id and client_secret as form fields, or an Authorization: Basic header`
    throw new TokenError('invalid_client', message, false, [missingField(name)])
  }
  return { id: form.get('client_id') ?? '', secret: form.get('client_secret') ?? '' }
}

/** RFC 6749 2.3.1: both parts are form-encoded before they are joined and base64-encoded. */
function basicCredentials(header: string): { id: string; secret: string } {
  const [scheme = '', encoded = ''] = header.split(' ')
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (scheme.toLowerCase() !== 'basic' || colon < 0) {
    throw new TokenError('invalid_client', 'the Authorization header is not of the form "Basic <credentials>"', true)
  }
  return { id: formDecoded(text.slice(0, colon)), secret: formDecoded(text.slice(colon + 1)) }
}
