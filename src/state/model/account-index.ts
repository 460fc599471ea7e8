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
  readonly #rows = new RowsInOrder<Account>()
  readonly #byIdentifier = new Lookup<Account>(({ identifier }) => identifier)
  readonly #byPlainIdentifier = new Lookup<Account>(({ identifier }) => withoutCaseAndBlanks(identifier))
  /** Folding takes longer than the rest of a search. */
  readonly #foldedTexts = new WeakMap<Account, readonly string[]>()

  constructor(find: (id: string) => Account | undefined) {
    this.#find = find
  }

  update(before: Account | undefined, after: Account | undefined): void {
    this.#rows.update(before, after)
    this.#byIdentifier.update(before, after)
    this.#byPlainIdentifier.update(before, after)
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
    const rows = this.#rows.all.filter(meetsCriteria(exact))
    if (query === undefined) return rows
    const text = foldCase(query)
    return rows.filter((account) => this.#foldedTextsOf(account).some((each) => each.includes(text)))
  }

  ofConnector(connector: string): readonly Account[] {
    return this.where({ connector })
  }

  /** The identifier of an account that differs from this one by case or blanks alone; undefined when an account has this one. */
  similar(identifier: string): string | undefined {
    if (this.#byIdentifier.get(identifier).length > 0) return undefined
    const plain = withoutCaseAndBlanks(identifier)
    const similar = this.#byPlainIdentifier.get(plain).toSorted((a, b) => a.sequence - b.sequence)
    return (similar.find((row) => row.identifier === plain) ?? similar[0])?.identifier
  }

  #foldedTextsOf(account: Account): readonly string[] {
    let texts = this.#foldedTexts.get(account)
    if (!texts) {
      texts = [account.identifier, account.connector, account.provider].map(foldCase)
      this.#foldedTexts.set(account, texts)
    }
    return texts
  }

  #accountsNamed(identifier: string, filter: AccountFilter): readonly Account[] {
    const accounts = this.#byIdentifier.get(identifier).filter(meetsCriteria(filter))
    return accounts.sort((a, b) => a.sequence - b.sequence)
  }
}

function meetsCriteria({ connectors, ...exact }: Omit<AccountFilter, 'query'>): (account: Account) => boolean {
  const fields = Object.entries(exact).filter(([, wanted]) => wanted !== undefined) as [keyof Account, string][]
  return (account) =>
    fields.every(([field, wanted]) => account[field] === wanted) && (connectors?.includes(account.connector) ?? true)
}

function withoutCaseAndBlanks(identifier: string): string {
  return foldCase(identifier).replaceAll(/\s/g, '')
}
