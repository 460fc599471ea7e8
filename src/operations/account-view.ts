import type { Account } from '../domain/account.ts'
import { fullDetails, publicDetails } from '../domain/account-credentials.ts'

/** The account object of list and search (2.1): no `api_config`, no `authorization_details`. */
export function summary(account: Account) {
  const { token_expires_at, last_used_at } = account
  return {
    id: account.id,
    connection_id: account.connection_id,
    connector: account.connector,
    provider: account.provider,
    identifier: account.identifier,
    authorization_type: account.authorization_type,
    status: account.status,
    ...(token_expires_at ? { token_expires_at } : {}),
    ...(last_used_at ? { last_used_at } : {}),
    updated_at: account.updated_at,
  }
}

/** The account object of create, update and get-auth, with credentials (2.1, 2.2). */
export function withCredentials(account: Account) {
  return {
    ...summary(account),
    api_config: account.api_config,
    authorization_details: fullDetails(account.credentials, account.authorization_type),
  }
}

/** The account object of get-details: what is no credential (4.5, G22). */
export function withoutCredentials(account: Account) {
  return {
    ...summary(account),
    api_config: account.api_config,
    authorization_details: publicDetails(account.credentials, account.authorization_type),
  }
}
