import { TRAITS } from './authorization-type.ts'
import { type Credentials, endingAt } from './credentials.ts'
import { type Instant, instant } from './instant.ts'
import type { Account } from './generated/tables.ts'
import type { JsonValue } from './json.ts'
import { equalValues } from './value-match.ts'

export type { Account }

export const ACCOUNT_STATUSES = ['ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED'] as const
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number]

/** The owner of an account; both are empty for an unscoped account (2.1, G20). */
export interface Scope {
  organization_id: string
  user_id: string
}

export function scopeOf(fields: { [Field in keyof Scope]?: Scope[Field] | undefined }): Scope {
  return { organization_id: fields.organization_id ?? '', user_id: fields.user_id ?? '' }
}

type Named = Pick<Account, 'connector' | 'identifier' | keyof Scope>

/** A text that no other account of an environment has: an identifier is unique at a connector in a scope (G55). */
export function accountName({ connector, identifier, organization_id, user_id }: Named): string {
  return JSON.stringify([connector, identifier, organization_id, user_id])
}

/** Credentials with the time at which their token expires. */
export interface Issued {
  credentials: Credentials
  token_expires_at?: Instant
  token_expired?: true
}

/** When a token stored now will expire (G25); absent for types and tokens without expiry. Only a refresh token: now (G24). */
export function expiryOfIssue(
  account: Pick<Account, 'authorization_type'>,
  credentials: Credentials,
  lifetime: number | null,
  now: number,
): Issued {
  if (!TRAITS[account.authorization_type].expires) return { credentials }
  const duration = credentials.oauth_token?.access_token === '' ? 0 : lifetime
  if (duration === null) return { credentials }
  const token_expires_at = instant(now + duration)
  const ended = duration === 0 ? ({ token_expired: true } as const) : {}
  return { credentials: endingAt(credentials, token_expires_at), token_expires_at, ...ended }
}

/** The account with these live credentials; pending ones stay pending. */
export function withLive(account: Account, live: Issued): Account {
  const { token_expires_at: _former, token_expired: _ended, ...unexpired } = account
  return { ...unexpired, ...live }
}

/** `changed` with its `updated_at`: now when its credentials or its `api_config` differ from before, else as it was (2.1, G27). */
export function updatedAccount(before: Account, changed: Account, at: Instant): Account {
  const configuration = ({ credentials, token_expires_at, api_config }: Account): JsonValue =>
    [credentials, token_expires_at ?? null, api_config] as unknown as JsonValue
  const isSame = equalValues(configuration(before), configuration(changed))
  return { ...changed, updated_at: isSame ? before.updated_at : at }
}

export function withPending(account: Account, pending: Issued): Account {
  return { ...account, pending }
}

export function withoutPending(account: Account): Account {
  const { pending: _pending, ...settled } = account
  return settled
}
