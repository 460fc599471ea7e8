import type { Connector } from '../../domain/connector.ts'
import type { Grant } from '../../domain/grant.ts'
import type { JsonObject } from '../../domain/json.ts'
import type { Environment } from '../../state/environment.ts'
import type { Application } from '../application.ts'

/** A token request whose form was read and whose application was authenticated. */
export interface TokenCall {
  environment: Environment
  connector: Connector
  application: Application
  form: ReadonlyMap<string, string>
  /** The account that the service asks for; empty when it did not say. */
  accountId: string
}

/** The errors of RFC 6749 5.2. */
export type OauthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'

export type TokenReply = { body: JsonObject } | { error: OauthErrorCode; description: string }

/** One grant type, run inside a transaction: what it changes stays also when it refuses. */
export type GrantType = (call: TokenCall) => TokenReply

export function refused(error: OauthErrorCode, description: string): TokenReply {
  return { error, description }
}

/** The fields that every successful answer has (RFC 6749 5.1). */
export function tokenBody(connector: Connector, grant: Grant): JsonObject {
  const { access_token_lifetime, domain } = connector.oauth
  return {
    access_token: grant.access,
    token_type: 'Bearer',
    ...(grant.expires_at === undefined ? {} : { expires_in: access_token_lifetime / 1000 }),
    ...(grant.refresh_token === '' ? {} : { refresh_token: grant.refresh_token }),
    scope: grant.scopes.join(' '),
    ...(domain === '' ? {} : { domain }),
  }
}

/** The scopes a request names, or all that the connector has. */
export function requestedScopes(call: TokenCall): string[] {
  const scopes = (call.form.get('scope') ?? '').split(' ').filter((scope) => scope !== '')
  return scopes.length > 0 ? scopes : call.connector.oauth.scopes
}
