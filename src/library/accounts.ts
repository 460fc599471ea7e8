import type { Control } from './control.ts'
import type { AccountView, ConnectionView } from './views/account.ts'

/**
 * What happens to connected accounts behind the client's back (3.1, "States" in `docs/fidelity.md`). Every call takes the
 * account's id (`ca_…`) and answers the account after it.
 *
 * All throw ToolmockError: `ACCOUNT_NOT_FOUND`, or `ILLEGAL_MOVE` with from, event and what is allowed.
 */
export interface MockAccounts {
  /** `EXPIRED`, as if its token had ended without a way to renew it. */
  expire(id: string): Promise<AccountView>
  /** `DISCONNECTED`, as if access had been removed at the third party, which refuses its credentials from now on. */
  disconnect(id: string): Promise<AccountView>
  /** The third party forgets the refresh token; the access token stays good for as long as it lasts. */
  revokeRefreshToken(id: string): Promise<AccountView>
  /** The access token's time is over; the next use renews it where there is a way to (G46). */
  expireAccessToken(id: string): Promise<AccountView>
}

/**
 * What happens to connections (3.2). Every call takes the connection's id or its `key_id` (`mail`) and answers it after that.
 *
 * All throw ToolmockError: `CONNECTION_NOT_FOUND`, or `ILLEGAL_MOVE` with from, event and what is allowed.
 */
export interface MockConnections {
  /** From `DRAFT` to `IN_PROGRESS`. */
  start(id: string): Promise<ConnectionView>
  /** From `IN_PROGRESS` to `COMPLETED`. */
  complete(id: string): Promise<ConnectionView>
  enable(id: string): Promise<ConnectionView>
  /** From then on its tools and links are refused with 400 `CONNECTION_DISABLED`. */
  disable(id: string): Promise<ConnectionView>
}

/** @internal */
export function accountsOf(control: Control): MockAccounts {
  const happen = (event: string) => async (id: string) =>
    (await control.call('POST /accounts/{id}/{event}', { path: { id, event } })).account
  return {
    expire: happen('expire'),
    disconnect: happen('disconnect'),
    revokeRefreshToken: happen('revoke_refresh_token'),
    expireAccessToken: happen('expire_access_token'),
  }
}

/** @internal */
export function connectionsOf(control: Control): MockConnections {
  const happen = (event: string) => async (id: string) =>
    (await control.call('POST /connections/{id}/{event}', { path: { id, event } })).connection
  return {
    start: happen('start'),
    complete: happen('complete'),
    enable: happen('enable'),
    disable: happen('disable'),
  }
}
