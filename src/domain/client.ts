import type { Instant } from './instant.ts'

/** API credentials (5.2): they choose the environment. */
export interface Client {
  /** The `client_id`. */
  id: string
  client_secret: string
}

export interface BearerToken {
  /** The token itself; opaque. */
  id: string
  client_id: string
  expires_at: Instant
}
