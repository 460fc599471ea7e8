import type { Account } from './account.ts'
import { TRAITS } from './authorization-type.ts'
import type { Credentials } from './credentials.ts'
import { type Instant, instant } from './instant.ts'
import { type LifecycleEvent, nextStatus } from './lifecycle.ts'

/** Credentials with the end of their life, as the service stores them. */
export interface Issued {
  credentials: Credentials
  token_expires_at?: Instant
}

/** When a token stored now will expire (G25); absent for types and tokens without expiry. */
export function issued(
  account: Pick<Account, 'authorization_type'>,
  credentials: Credentials,
  lifetime: number | null,
  now: number,
): Issued {
  if (lifetime === null || !TRAITS[account.authorization_type].expires) return { credentials }
  return { credentials, token_expires_at: instant(now + lifetime) }
}

/** The account after `event`, with its status by the table; every such change moves `updated_at`. */
export function moved(account: Account, event: LifecycleEvent, at: Instant): Account {
  return { ...account, status: nextStatus(account.status, event), updated_at: at }
}

/** The account with these credentials live; what waits for verification goes on waiting. */
export function withLive(account: Account, live: Issued): Account {
  const { token_expires_at: _former, ...rest } = account
  return { ...rest, ...live }
}

/** The account with credentials that wait for verification. */
export function withPending(account: Account, pending: Issued): Account {
  return { ...account, pending }
}

/** The account without what waited for verification. */
export function withoutPending(account: Account): Account {
  const { pending: _pending, ...rest } = account
  return rest
}
