import type { Grant } from '../domain/grant.ts'
import type { Index } from './table.ts'

/** Grants by what a call presents, by refresh token, and by account. */
export class GrantIndex implements Index<Grant> {
  readonly #byAccess = new Map<string, Grant>()
  readonly #byRefresh = new Map<string, Grant>()
  readonly #byAccount = new Map<string, Map<string, Grant>>()

  update(before: Grant | undefined, after: Grant | undefined): void {
    if (before) {
      removeIf(this.#byAccess, key(before.connector, before.access), before.id)
      removeIf(this.#byRefresh, key(before.connector, before.refresh_token), before.id)
      this.#byAccount.get(before.account_id)?.delete(before.id)
      if (this.#byAccount.get(before.account_id)?.size === 0) this.#byAccount.delete(before.account_id)
    }
    if (!after) return
    if (after.access !== '') this.#byAccess.set(key(after.connector, after.access), after)
    if (after.refresh_token !== '') this.#byRefresh.set(key(after.connector, after.refresh_token), after)
    const ofAccount = this.#byAccount.get(after.account_id) ?? new Map<string, Grant>()
    this.#byAccount.set(after.account_id, ofAccount.set(after.id, after))
  }

  byAccess(connector: string, access: string): Grant | undefined {
    return this.#byAccess.get(key(connector, access))
  }

  byRefreshToken(connector: string, refreshToken: string): Grant | undefined {
    return this.#byRefresh.get(key(connector, refreshToken))
  }

  ofAccount(accountId: string): Grant[] {
    return [...(this.#byAccount.get(accountId)?.values() ?? [])]
  }
}

function key(connector: string, value: string): string {
  return `${connector}\n${value}`
}

function removeIf(map: Map<string, Grant>, at: string, id: string): void {
  if (map.get(at)?.id === id) map.delete(at)
}
