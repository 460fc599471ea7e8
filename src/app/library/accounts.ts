import type { ControlClient } from './control-client.ts'
import type { AccountView, ConnectionView, NewConnection } from './types.ts'

/**
 * Events of connected accounts that the client under test does not cause (3.1, "States" in `docs/fidelity.md`). Every call takes
 * the account's id (`ca_…`), or its identifier where only one account has it, and answers the account after the event.
 *
 * All throw ToolmockError: `ACCOUNT_NOT_FOUND`, `AMBIGUOUS_ACCOUNT` for an identifier of several accounts, or `ILLEGAL_MOVE` with from, event and what is allowed.
 */
export interface MockAccounts {
  /** `EXPIRED`, as if its token had expired and could not be renewed. */
  expire(id: string): Promise<AccountView>
  /** `DISCONNECTED`, as if access had been removed at the third party, which then refuses its credentials. */
  disconnect(id: string): Promise<AccountView>
  /** The third party revokes the refresh token; the access token stays valid until it expires. */
  revokeRefreshToken(id: string): Promise<AccountView>
  /** The access token has expired; the next use renews it if it can be renewed (G46). */
  expireAccessToken(id: string): Promise<AccountView>
}

/**
 * Further connections of a provider, and events of connections (3.2). Every call but `create` takes the connection's id or its `key_id` (`mail`) and answers the connection after
 * it.
 *
 * All throw ToolmockError: `CONNECTION_NOT_FOUND`, `CONNECTION_EXISTS`, `CONNECTION_NOT_REMOVABLE`, or `ILLEGAL_MOVE` with from, event and what is allowed.
 */
export interface MockConnections {
  /**
   * Another connection of a provider, with its tools and accounts of its own: `{ key_id: 'mail-eu', provider_key: 'mail' }`.
   * @throws ToolmockError INVALID_BODY for an unknown provider
   */
  create(connection: NewConnection): Promise<ConnectionView>
  /** Its accounts become `DISCONNECTED`. That of a connector or custom provider itself cannot be removed. */
  remove(id: string): Promise<void>
  /** From `DRAFT` to `IN_PROGRESS`. */
  start(id: string): Promise<ConnectionView>
  /** From `IN_PROGRESS` to `COMPLETED`. */
  complete(id: string): Promise<ConnectionView>
  enable(id: string): Promise<ConnectionView>
  /** Its tools and links are then refused with 400 `CONNECTION_DISABLED`. */
  disable(id: string): Promise<ConnectionView>
}

/** @internal */
export function mockAccounts(control: ControlClient): MockAccounts {
  type Event = 'expire' | 'disconnect' | 'revoke_refresh_token' | 'expire_access_token'
  const apply = (event: Event) => async (id: string) =>
    (await control.call('POST /accounts/{id}/{event}', { path: { id, event } })).account
  return {
    expire: apply('expire'),
    disconnect: apply('disconnect'),
    revokeRefreshToken: apply('revoke_refresh_token'),
    expireAccessToken: apply('expire_access_token'),
  }
}

/** @internal */
export function mockConnections(control: ControlClient): MockConnections {
  type Event = 'start' | 'complete' | 'enable' | 'disable'
  const apply = (event: Event) => async (id: string) =>
    (await control.call('POST /connections/{id}/{event}', { path: { id, event } })).connection
  return {
    create: async (body) => (await control.call('POST /connections', { body })).connection,
    remove: (id) => control.send('DELETE /connections/{id}', { path: { id } }),
    start: apply('start'),
    complete: apply('complete'),
    enable: apply('enable'),
    disable: apply('disable'),
  }
}
