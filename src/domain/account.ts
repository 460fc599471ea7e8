import type { AuthorizationType } from './authorization-type.ts'
import type { Credentials } from './credentials.ts'
import type { Instant } from './instant.ts'
import type { JsonObject } from './json.ts'

export const ACCOUNT_STATUSES = ['ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED'] as const
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number]

/** Whom an account belongs to; both empty for an unscoped account (2.1, G20). */
export interface Scope {
  organization_id: string
  user_id: string
}

/** A connected account as it is stored. Records are never changed in place: a change puts a new record. */
export interface Account extends Scope {
  /** `ca_…` (2.1). */
  id: string
  /** Position in creation order, which is the order of lists (G4); never reused. */
  sequence: number
  connection_id: string
  connector: string
  provider: string
  identifier: string
  authorization_type: AuthorizationType
  status: AccountStatus
  token_expires_at?: Instant
  last_used_at?: Instant
  updated_at: Instant
  api_config: JsonObject
  /** Live credentials: those that tools run with. */
  credentials: Credentials
  /** Credentials that wait for verification, with the lifetime they will have had from when they were issued. */
  pending?: { credentials: Credentials; token_expires_at?: Instant }
}
