import type { JsonObject } from './json.ts'
import type { Instant } from './instant.ts'

/**
 * `authorization_details` as it is stored (2.2): at most one sub-object, the one that fits the authorization type (G23).
 * `NO_AUTH` and accounts without credentials hold `{}`.
 */
export interface Credentials {
  oauth_token?: OauthToken
  static_auth?: { details: JsonObject }
  workspace_dwd?: WorkspaceDwd
  trusted_idp?: TrustedIdp
}

export interface OauthToken {
  access_token: string
  /** Empty when there is none. */
  refresh_token: string
  scopes: string[]
  domain: string
}

export interface WorkspaceDwd {
  subject: string
  access_token: string
  scopes: string[]
  token_expires_at?: Instant
}

export interface TrustedIdp {
  db_user: string
  access_key_id: string
  expiry?: Instant
  /** Never returned in public responses (2.2). */
  secret_access_key: string
  /** Never returned in public responses (2.2). */
  session_token: string
}
