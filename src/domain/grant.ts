import type { Instant } from './instant.ts'

/** One set of credentials at a fake third party, which has issued them or accepted them from a caller. */
export interface Grant {
  id: string
  connector: string
  /** The account whose credentials these are; empty when the token request named none. */
  account_id: string
  /** Who signed in. */
  person: string
  scopes: string[]
  /** The look-up key of a call: an access token, a key id, or the static headers as one string. */
  access: string
  /** The secret that signs requests; empty for types that do not sign. */
  secret: string
  /** Empty when there is none. */
  refresh_token: string
  /** When the access token stops working; absent when never. */
  expires_at?: Instant
  revoked: boolean
  refresh_revoked: boolean
  /** Refused permanently, for every account that presents it (the setting `revocation`). */
  final?: true
}

/** An authorization code between the consent page and the token endpoint. */
export interface AuthorizationCode {
  /** The code itself. */
  id: string
  connector: string
  person: string
  scopes: string[]
  redirect_uri: string
  expires_at: Instant
}
