import { ServiceError } from '../domain/errors.ts'
import { now } from '../state/environment.ts'
import type { AppServices } from '../app-services.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Finds environment and client by the bearer token (5.3, 1.2).
 * @throws ServiceError UNAUTHENTICATED on every operation without a valid one (G15)
 */
export function checkBearer(context: RequestContext, { registry }: AppServices): void {
  if (!context.route.bearer) return
  const header = context.request.headers.authorization
  if (!header)
    throw unauthenticated('the Authorization header is missing; send Bearer and an access token of POST /oauth/token')
  const space = header.indexOf(' ')
  const token = space < 0 ? '' : header.slice(space + 1)
  if (header.slice(0, space).toLowerCase() !== 'bearer' || token === '' || token.includes(' ')) {
    throw unauthenticated('the Authorization header is not of the form "Bearer <access token>"')
  }
  const found = registry.byBearer(token)
  if (!found) throw unauthenticated('the access token is unknown or was revoked', 'invalid_token')
  const client = found.environment.model.tables.clients.get(found.token.client_id)
  if (!client) throw unauthenticated('the client of this access token is gone', 'invalid_token')
  if (found.token.expires_at <= now(found.environment)) throw expired(found.token.expires_at)
  context.environment = found.environment
  context.client = client
}

function expired(at: string): ServiceError {
  return unauthenticated(`the access token expired at ${at}; get a new one with POST /oauth/token`, 'invalid_token')
}

/** RFC 6750 3: the error attribute only when a token was presented. */
function unauthenticated(message: string, error?: 'invalid_token'): ServiceError {
  const challenge = error ? `Bearer error="${error}"` : 'Bearer'
  return new ServiceError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': challenge } })
}
