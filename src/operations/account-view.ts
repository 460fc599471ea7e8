import type { Account } from '../domain/account.ts'
import { fullDetails, publicDetails } from '../domain/credentials.ts'
import type { Instant } from '../domain/instant.ts'

/**
 * The account object of list and search (2.1): no `api_config`, no `authorization_details`. Grown field by field, as
 * all of this file: literals with spreads in them made V8 draw up new hidden classes for each account, which cost 5 µs here
 * and as much again in the check of the answer.
 */
export function summary(account: Account) {
  const view = named(account)
  if (account.token_expires_at) view.token_expires_at = account.token_expires_at
  if (account.last_used_at) view.last_used_at = account.last_used_at
  return Object.assign(view, { updated_at: account.updated_at })
}

/** The account object of create, update and get-auth, with credentials (2.1, 2.2). */
export function withCredentials(account: Account) {
  const { api_config, credentials, authorization_type } = account
  return Object.assign(summary(account), {
    api_config,
    authorization_details: fullDetails(credentials, authorization_type),
  })
}

/** The account object of get-details: what is no credential (4.5, G22). */
export function withoutCredentials(account: Account) {
  const { api_config, credentials, authorization_type } = account
  return Object.assign(summary(account), {
    api_config,
    authorization_details: publicDetails(credentials, authorization_type),
  })
}

type Named = Pick<
  Account,
  'id' | 'connection_id' | 'connector' | 'provider' | 'identifier' | 'authorization_type' | 'status'
> & { token_expires_at?: Instant; last_used_at?: Instant }

function named(account: Account): Named {
  return {
    id: account.id,
    connection_id: account.connection_id,
    connector: account.connector,
    provider: account.provider,
    identifier: account.identifier,
    authorization_type: account.authorization_type,
    status: account.status,
  }
}
