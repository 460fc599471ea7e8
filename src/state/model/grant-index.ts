import type { Grant } from '../../domain/grant.ts'
import { DeferredRows, type Index } from './table.ts'

/** Grants by what a call presents, by refresh token, and by account. */
export class GrantIndex implements Index<Grant> {
  readonly #byAccess = new TokenMap()
  readonly #byRefresh = new TokenMap()
  /** Nearly every account has one grant, which needs no list. */
  readonly #byAccount = new Map<string, Grant | readonly Grant[]>()
  readonly #later = new DeferredRows<Grant>((grant) => this.#enter(undefined, grant))

  load(grant: Grant): void {
    this.#later.add(grant)
  }

  update(before: Grant | undefined, after: Grant | undefined): void {
    this.#later.enterAll()
    this.#enter(before, after)
  }

  /** Enters some of what was loaded; false when all of it is. */
  enterSome(): boolean {
    return this.#later.enterSome()
  }

  #enter(before: Grant | undefined, after: Grant | undefined): void {
    if (before) {
      this.#byAccess.remove(before.connector, before.access, before)
      this.#byRefresh.remove(before.connector, before.refresh_token, before)
    }
    if (after) {
      this.#byAccess.add(after.connector, after.access, after)
      this.#byRefresh.add(after.connector, after.refresh_token, after)
    }
    if (before && before.account_id === after?.account_id) this.#replace(before, after)
    else {
      if (before) this.#replace(before, undefined)
      if (after) this.#add(after)
    }
  }

  byAccess(connector: string, access: string): Grant | undefined {
    this.#later.enterAll()
    return this.#byAccess.get(connector, access)
  }

  byRefreshToken(connector: string, refreshToken: string): Grant | undefined {
    this.#later.enterAll()
    return this.#byRefresh.get(connector, refreshToken)
  }

  ofAccount(accountId: string): readonly Grant[] {
    this.#later.enterAll()
    return this.#listed(accountId)
  }

  #listed(accountId: string): readonly Grant[] {
    const found = this.#byAccount.get(accountId)
    if (!found) return NONE
    return 'id' in found ? [found] : found
  }

  #add(grant: Grant): void {
    const present = this.#byAccount.get(grant.account_id)
    if (present) this.#list(grant.account_id, [...this.#listed(grant.account_id), grant])
    else this.#byAccount.set(grant.account_id, grant)
  }

  #replace({ id, account_id }: Grant, after: Grant | undefined): void {
    const grants = this.#listed(account_id).flatMap((grant) => (grant.id === id ? (after ?? []) : grant))
    this.#list(account_id, grants)
  }

  #list(accountId: string, grants: readonly Grant[]): void {
    const [first, ...others] = grants
    if (first) this.#byAccount.set(accountId, others.length > 0 ? grants : first)
    else this.#byAccount.delete(accountId)
  }
}

const NONE: readonly never[] = Object.freeze([])

/**
 * Grants by connector and token; of several with the same token one that is refused permanently, else the latest. An empty
 * token finds nothing.
 */
class TokenMap {
  readonly #byConnector = new Map<string, Map<string, Grant>>()

  get(connector: string, token: string): Grant | undefined {
    return this.#byConnector.get(connector)?.get(token)
  }

  add(connector: string, token: string, grant: Grant): void {
    if (token === '' || this.get(connector, token)?.final) return
    const tokens = this.#byConnector.get(connector) ?? new Map<string, Grant>()
    this.#byConnector.set(connector, tokens.set(token, grant))
  }

  remove(connector: string, token: string, grant: Grant): void {
    const tokens = this.#byConnector.get(connector)
    if (tokens?.get(token)?.id !== grant.id) return
    tokens.delete(token)
    if (tokens.size === 0) this.#byConnector.delete(connector)
  }
}
