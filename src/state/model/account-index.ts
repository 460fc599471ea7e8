import type { Account, Scope } from '../../domain/account.ts'
import type { AccountFinder } from '../../domain/locator.ts'
import type { Position } from '../../domain/page-token.ts'
import { type Entry, type Page, pageAt, RowsInOrder, searchedText } from './rows-in-order.ts'
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

/** The fields that a filter can name; those that tell most accounts apart come first. */
const FIELDS = ['identifier', 'user_id', 'organization_id', 'connection_id', 'connector', 'provider'] as const
type Field = (typeof FIELDS)[number]

type Entries = readonly Entry<Account>[]
type Test = (entry: Entry<Account>) => boolean

/** Of so many filters the matches are kept. */
const MAX_ANSWERS = 4

/** Accounts by id, by locator in every scope, by field, by text, and in creation order. */
export class AccountIndex implements Index<Account>, AccountFinder {
  /** Rows by id are the table's own. */
  readonly #find: (id: string) => Account | undefined
  readonly #rows = new RowsInOrder<Account>((account, field) =>
    field === UNUSUAL ? unusual(account) : [account[field as Field]],
  )
  /** The matches of the last filters with several fields or a text, for the next pages. A new account is added to them. */
  readonly #answers = new Map<string, { readonly matches: Entry<Account>[]; readonly test: Test }>()

  constructor(find: (id: string) => Account | undefined) {
    this.#find = find
    // Nearly every request finds its account by this map: the first one would have to wait for it.
    this.#rows.with('identifier', '')
  }

  update(before: Account | undefined, after: Account | undefined): void {
    if (after) this.#refuseTaken(after)
    const entry = before && this.#rows.at(before.sequence)
    const isThere = entry?.row.id === before?.id
    if (entry && isThere && after && hasSameFields(entry.row, after)) {
      entry.row = after
      return
    }
    const isLast = !before && after && after.sequence > (this.#rows.all.at(-1)?.row.sequence ?? 0)
    if (before && isThere) this.#rows.remove(before)
    const added = after && this.#rows.add(after)
    if (!added || !isLast) this.#answers.clear()
    else for (const { matches, test } of this.#answers.values()) if (test(added)) matches.push(added)
  }

  #refuseTaken({ sequence, id }: Account): void {
    const holder = this.#rows.at(sequence)?.row
    if (holder && holder.id !== id) throw new Error(`the sequence ${sequence} of account ${id} belongs to ${holder.id}`)
  }

  byId(id: string): Account | undefined {
    return this.#find(id)
  }

  inScope(connector: string, identifier: string, { organization_id, user_id }: Scope): Account | undefined {
    return this.#exact({ connector, identifier, organization_id, user_id })[0]
  }

  withinScope(connector: string, identifier: string, { organization_id, user_id }: Scope): readonly Account[] {
    const given = { ...(organization_id && { organization_id }), ...(user_id && { user_id }) }
    return this.#exact({ connector, identifier, ...given })
  }

  named(connector: string, identifier: string): readonly Account[] {
    return this.#exact({ connector, identifier })
  }

  /** The accounts of a connector, in creation order. */
  ofConnector(connector: string): readonly Account[] {
    return this.#exact({ connector })
  }

  /** The identifier of an account that differs from this one by case or blanks alone; undefined when an account has this one. */
  similar(identifier: string): string | undefined {
    if (this.#rows.with('identifier', identifier).length > 0) return undefined
    const plain = withoutCaseAndBlanks(identifier)
    if (this.#rows.with('identifier', plain).length > 0) return plain
    return this.#rows.with(UNUSUAL, plain)[0]?.row.identifier
  }

  /** Up to `size` matches after or before a position, in creation order (G4). */
  page(filter: AccountFilter, position: Position, size: number): Page<Account> {
    const { rows, ...rest } = pageAt(this.#matches(filter), ({ row }) => row.sequence, position, size)
    return { rows: rows.map(({ row }) => row), ...rest }
  }

  #matches(filter: AccountFilter): Entries {
    const { connectors, query, ...exact } = filter
    const values = valuesIn(exact)
    if (values.length <= 1 && connectors === undefined && query === undefined) return this.#rows.fewestWith(values)
    const text = JSON.stringify([values, connectors ?? null, query ?? null])
    const known = this.#answers.get(text)
    if (known) return known.matches
    const hasQuery = query === undefined ? () => true : hasText(query.toLowerCase())
    const test: Test = (entry) =>
      (connectors?.includes(entry.row.connector) ?? true) && hasValues(entry, values) && hasQuery(entry)
    const matches = this.#rows.fewestWith(values).filter(test)
    const [oldest] = this.#answers.keys()
    if (this.#answers.size >= MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest)
    this.#answers.set(text, { matches, test })
    return matches
  }

  #exact(exact: Exact): readonly Account[] {
    const values = valuesIn(exact)
    const entries = this.#rows.fewestWith(values).filter((entry) => hasValues(entry, values))
    return entries.map(({ row }) => row)
  }
}

type Exact = Partial<Record<Field, string | undefined>>

/** The fields that a filter names, in the order of {@link FIELDS}. */
function valuesIn(exact: Exact): [Field, string][] {
  const values: [Field, string][] = []
  for (const field of FIELDS) if (exact[field] !== undefined) values.push([field, exact[field]])
  return values
}

function hasValues({ row }: Entry<Account>, values: ReturnType<typeof valuesIn>): boolean {
  return values.every(([field, value]) => row[field] === value)
}

/** `text` being in lower case. Connectors and providers have few distinct names, which are tested once each. */
function hasText(text: string): Test {
  const names = new Map<string, boolean>()
  const hasName = (name: string): boolean => {
    let isNamed = names.get(name)
    if (isNamed === undefined) names.set(name, (isNamed = name.toLowerCase().includes(text)))
    return isNamed
  }
  return (entry) => hasName(entry.row.connector) || hasName(entry.row.provider) || identifierText(entry).includes(text)
}

function hasSameFields(a: Account, b: Account): boolean {
  return a.sequence === b.sequence && FIELDS.every((field) => a[field] === b[field])
}

function identifierText(entry: Entry<Account>): string {
  return searchedText(entry, 'identifier', ({ identifier }) => identifier)
}

/** Identifiers with capitals or blanks have a map by what is left without them: few have any. */
const UNUSUAL = 'without case and blanks'

/** Characters without another case, and no blank. */
const USUAL = /^[!-@[-~]*$/

function unusual({ identifier }: Account): string[] {
  if (USUAL.test(identifier)) return []
  const plain = withoutCaseAndBlanks(identifier)
  return plain === identifier ? [] : [plain]
}

function withoutCaseAndBlanks(identifier: string): string {
  return identifier.toLowerCase().replaceAll(/\s/g, '')
}
