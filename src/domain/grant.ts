import type { Instant } from './instant.ts'

/** What a fake third party knows of one set of credentials: issued by itself, or accepted from a caller. */
export interface Grant {
  id: string
  connector: string
  /** The account whose credentials these are; empty until the code that led here was redeemed. */
  account_id: string
  /** Who signed in. */
  person: string
  scopes: string[]
  /** What finds this grant when a call presents it: an access token, a key id, or the static headers as one string. */
  access: string
  /** What signatures are made with, for the types that sign; empty for the rest. */
  secret: string
  /** Empty when there is none. */
  refresh_token: string
  /** When the access token stops working; absent when never. */
  expires_at?: Instant
  revoked: boolean
  refresh_revoked: boolean
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
