import type { Account, Scope } from '../../model/domain/account.ts'
import { foldCase } from '../../model/domain/fold-case.ts'
import type { AccountFinder } from '../../model/domain/locator.ts'
import { Lookup, RowsInOrder } from './rows-in-order.ts'
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

/** Accounts in creation order, and by identifier: nearly every request names one. */
export class AccountIndex implements Index<Account>, AccountFinder {
  /** Rows by id are the table's own. */
  readonly #find: (id: string) => Account | undefined
  readonly #rows = new RowsInOrder<Account, number, { text: string }>(placeOf, (a, b) => a - b)
  /** Those whose identifiers differ by case or blanks alone are together. */
  readonly #byIdentifier = new Lookup<Account>(({ identifier }) => withoutCaseAndBlanks(identifier))

  constructor(find: (id: string) => Account | undefined) {
    this.#find = find
  }

  update(before: Account | undefined, after: Account | undefined): void {
    this.#rows.update(before, after)
    this.#byIdentifier.update(before, after)
  }

  byId(id: string): Account | undefined {
    return this.#find(id)
  }

  inScope(connector: string, identifier: string, { organization_id, user_id }: Scope): Account | undefined {
    return this.#accountsNamed(identifier, { connector, organization_id, user_id })[0]
  }

  withinScope(connector: string, identifier: string, { organization_id, user_id }: Scope): readonly Account[] {
    const scope = { ...(organization_id && { organization_id }), ...(user_id && { user_id }) }
    return this.#accountsNamed(identifier, { connector, ...scope })
  }

  /** The accounts that meet a filter, in creation order. */
  where(filter: AccountFilter): readonly Account[] {
    const { query, ...exact } = filter
    const text = query && foldCase(query)
    // Made once, because folding takes longer than the rest.
    const matches = text
      ? this.#rows.all.filter((queried) => (queried.text ??= searchedText(queried.row)).includes(text))
      : this.#rows.all
    return matches.map(({ row }) => row).filter(meetsCriteria(exact))
  }

  /** The identifier of an account that differs from this one by case or blanks alone; undefined when an account has this one. */
  similar(identifier: string): string | undefined {
    const plain = withoutCaseAndBlanks(identifier)
    const identifiers = this.#alike(plain).map((account) => account.identifier)
    return identifiers.includes(identifier) ? undefined : (identifiers.find((each) => each === plain) ?? identifiers[0])
  }

  #accountsNamed(identifier: string, filter: AccountFilter): readonly Account[] {
    const alike = this.#alike(withoutCaseAndBlanks(identifier))
    return alike.length === 0 ? alike : alike.filter(meetsCriteria({ ...filter, identifier }))
  }

  #alike(plain: string): readonly Account[] {
    const accounts = this.#byIdentifier.get(plain)
    return accounts.length > 1 ? accounts.toSorted((a, b) => a.sequence - b.sequence) : accounts
  }
}

const placeOf = ({ sequence }: Account): number => sequence

function searchedText({ identifier, connector, provider }: Account): string {
  return foldCase([identifier, connector, provider].join('\0'))
}

function meetsCriteria({ connectors, ...exact }: Omit<AccountFilter, 'query'>): (account: Account) => boolean {
  const fields = Object.entries(exact).filter(([, wanted]) => wanted !== undefined) as [keyof Account, string][]
  return (account) => {
    for (const [field, wanted] of fields) if (account[field] !== wanted) return false
    return connectors?.includes(account.connector) ?? true
  }
}

function withoutCaseAndBlanks(identifier: string): string {
  return foldCase(identifier).replaceAll(/\s/g, '')
}
