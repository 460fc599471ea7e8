import type { Account, Scope } from '../domain/account.ts'
import type { AccountFinder } from '../domain/locator.ts'
import type { Position } from '../domain/page-token.ts'
import type { Index } from './table.ts'

/** Exact matches, but for `query`, which is a case-insensitive substring of identifier, connector or provider (G1, G3). */
export interface AccountFilter {
  organization_id?: string | undefined
  user_id?: string | undefined
  connector?: string | undefined
  /** Any of these connectors. */
  connectors?: readonly string[] | undefined
  identifier?: string | undefined
  provider?: string | undefined
  connection_id?: string | undefined
  query?: string | undefined
}

export interface AccountPage {
  rows: readonly Account[]
  /** All matches across pages. */
  total: number
  has_previous: boolean
  has_next: boolean
}

/** Accounts by id, by locator in every scope, and in creation order. */
export class AccountIndex implements Index<Account>, AccountFinder {
  readonly #byId = new Map<string, Account>()
  readonly #named = new Map<string, Account[]>()

  update(before: Account | undefined, after: Account | undefined): void {
    if (before) {
      this.#byId.delete(before.id)
      const key = nameKey(before.connector, before.identifier)
      const rest = (this.#named.get(key) ?? []).filter((account) => account.id !== before.id)
      if (rest.length > 0) this.#named.set(key, rest)
      else this.#named.delete(key)
    }
    if (after) {
      this.#byId.set(after.id, after)
      const key = nameKey(after.connector, after.identifier)
      this.#named.set(key, [...(this.#named.get(key) ?? []), after])
    }
  }

  byId(id: string): Account | undefined {
    return this.#byId.get(id)
  }

  inScope(connector: string, identifier: string, scope: Scope): Account | undefined {
    return this.named(connector, identifier).find(
      (account) => account.organization_id === scope.organization_id && account.user_id === scope.user_id,
    )
  }

  named(connector: string, identifier: string): readonly Account[] {
    return this.#named.get(nameKey(connector, identifier)) ?? []
  }

  /** The accounts of a connector, in creation order. */
  ofConnector(connector: string): readonly Account[] {
    return this.#sorted().filter((account) => account.connector === connector)
  }

  page(filter: AccountFilter, position: Position, size: number): AccountPage {
    const matches = this.#sorted().filter((account) => matchesFilter(account, filter))
    const inside = matches.filter((account) =>
      'after' in position ? account.sequence > position.after : account.sequence < position.before,
    )
    const rows = 'after' in position ? inside.slice(0, size) : inside.slice(Math.max(0, inside.length - size))
    const first = rows[0]?.sequence ?? ('after' in position ? position.after + 1 : position.before)
    const last = rows.at(-1)?.sequence ?? ('after' in position ? position.after : position.before - 1)
    return {
      rows,
      total: matches.length,
      has_previous: matches.some((account) => account.sequence < first),
      has_next: matches.some((account) => account.sequence > last),
    }
  }

  #sorted(): Account[] {
    return [...this.#byId.values()].sort((a, b) => a.sequence - b.sequence)
  }
}

function nameKey(connector: string, identifier: string): string {
  return `${connector}\n${identifier}`
}

function matchesFilter(account: Account, filter: AccountFilter): boolean {
  const exact = ['organization_id', 'user_id', 'connector', 'identifier', 'provider', 'connection_id'] as const
  if (exact.some((field) => filter[field] !== undefined && filter[field] !== account[field])) return false
  if (filter.connectors && !filter.connectors.includes(account.connector)) return false
  if (filter.query === undefined) return true
  const text = filter.query.toLowerCase()
  return [account.identifier, account.connector, account.provider].some((value) => value.toLowerCase().includes(text))
}
