import type { Account, Scope } from '../../domain/account.ts'
import type { AccountFinder } from '../../domain/locator.ts'
import type { Position } from '../../domain/page-token.ts'
import { DisjointLists, QueryCache, SequenceList, type Sequences, union, ValueIndex } from './sequence-list.ts'
import { DeferredRows, type Index } from './table.ts'
import { contains, type Searched, TextSearch } from './text-search.ts'

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

const LISTED = ['organization_id', 'user_id', 'connector', 'provider', 'connection_id'] as const
type ListedField = (typeof LISTED)[number]

/** Of more accounts with the same name than this, the one in a scope is found by its scope. */
const MANY = 16
/** What so few accounts have in common with others is found as quickly as remembered. */
const FEW = 256
/** Answers to several filters at once that are kept up to date for the next page. */
const KEPT_LISTS = 8

/** Accounts by id, by locator in every scope, by field, by text, and in creation order. */
export class AccountIndex implements Index<Account>, AccountFinder, Searched {
  readonly order = SequenceList.of([])
  /** Rows by id are the table's own. */
  readonly #find: (id: string) => Account | undefined
  readonly #few: number
  readonly #bySequence = new Map<number, Account>()
  readonly #named = new NameIndex()
  /** Made when a field is first asked for: a start need not wait for what may never be used. */
  readonly #fields = new Map<ListedField, ValueIndex>()
  /** Made when a text is first searched for. */
  #search: TextSearch | undefined
  readonly #kept = new QueryCache(KEPT_LISTS)

  /** `few` is given by tests alone: the size up to which an answer to several filters is not kept. */
  constructor(find: (id: string) => Account | undefined, few = FEW) {
    this.#find = find
    this.#few = few
  }

  update(before: Account | undefined, after: Account | undefined): void {
    if (after) this.#refuseTaken(after)
    if (before && this.#bySequence.get(before.sequence)?.id === before.id && (!after || !inSamePlaces(before, after)))
      this.#remove(before)
    if (after) this.#add(after, before)
    this.#search?.update(before, after)
    if (!before || !after || !inSamePlaces(before, after)) this.#kept.update(before, after)
  }

  load(account: Account): void {
    this.#refuseTaken(account)
    this.#bySequence.set(account.sequence, account)
    this.order.add(account.sequence)
    this.#named.load(account)
  }

  /** Enters some of what was loaded; false when all of it is. */
  enterSome(): boolean {
    return this.#named.enterSome()
  }

  #refuseTaken({ sequence, id }: Account): void {
    const holder = this.#bySequence.get(sequence)
    if (holder && holder.id !== id) throw new Error(`the sequence ${sequence} of account ${id} belongs to ${holder.id}`)
  }

  get lastSequence(): number {
    return this.order.last ?? 0
  }

  byId(id: string): Account | undefined {
    return this.#find(id)
  }

  bySequence(sequence: number): Account | undefined {
    return this.#bySequence.get(sequence)
  }

  accounts(): Iterable<Account> {
    return this.#bySequence.values()
  }

  byField(field: ListedField): ValueIndex {
    const known = this.#fields.get(field)
    if (known) return known
    const postings = new ValueIndex()
    for (const account of this.accounts()) postings.add(account[field], account.sequence)
    this.#fields.set(field, postings)
    return postings
  }

  inScope(connector: string, identifier: string, scope: Scope): Account | undefined {
    const named = this.#named.list(connector, identifier)
    const { organization_id, user_id } = scope
    const candidates =
      named.size <= MANY
        ? named
        : [named, this.#in('organization_id', organization_id), this.#in('user_id', user_id)].sort(bySize)[0]
    for (const sequence of candidates?.toArray() ?? []) {
      const account = this.#bySequence.get(sequence)
      if (account?.organization_id !== organization_id || account.user_id !== user_id) continue
      if (account.connector === connector && account.identifier === identifier) return account
    }
    return undefined
  }

  named(connector: string, identifier: string): readonly Account[] {
    return this.#rows(this.#named.list(connector, identifier).toArray())
  }

  /** The accounts of a connector, in creation order. */
  ofConnector(connector: string): readonly Account[] {
    return this.#rows(this.byField('connector').list(connector).toArray())
  }

  /** Up to `size` matches after or before a position, in creation order (G4). */
  page(filter: AccountFilter, position: Position, size: number): AccountPage {
    const matches = this.#matches(filter)
    const forward = 'after' in position
    const sequences = forward ? matches.after(position.after, size) : matches.before(position.before, size)
    const first = sequences[0] ?? (forward ? position.after + 1 : position.before)
    const last = sequences.at(-1) ?? (forward ? position.after : position.before - 1)
    return {
      rows: this.#rows(sequences),
      total: matches.size,
      has_previous: (matches.first ?? Infinity) < first,
      has_next: (matches.last ?? -Infinity) > last,
    }
  }

  #matches(filter: AccountFilter): Sequences {
    const lists = this.#lists(filter).sort(bySize)
    const [fewest, ...others] = lists
    if (!fewest) return this.order
    if (others.length === 0) return fewest
    const common = (): number[] => others.reduce((found, list) => list.common(found), fewest.toArray())
    if (fewest.size <= this.#few) return SequenceList.of(common())
    return this.#kept.of(question(filter), (account) => isMatch(account, filter), common)
  }

  /** One list for each condition; what matches is in all of them. */
  #lists({ identifier, connectors, query, ...exact }: AccountFilter): Sequences[] {
    const lists: Sequences[] = LISTED.flatMap((field) =>
      exact[field] === undefined ? [] : [this.#in(field, exact[field])],
    )
    if (identifier !== undefined) lists.push(this.#named.identified(identifier))
    if (connectors) lists.push(this.#ofAny(connectors))
    if (query !== undefined) lists.push((this.#search ??= new TextSearch(this)).matches(query))
    return lists
  }

  #in(field: ListedField, value: string): SequenceList {
    return this.byField(field).list(value)
  }

  /** An account has one connector, so that no two of these lists share an account. */
  #ofAny(connectors: readonly string[]): Sequences {
    return new DisjointLists([...new Set(connectors)].map((connector) => this.#in('connector', connector)))
  }

  #rows(sequences: readonly number[]): Account[] {
    return sequences.flatMap((sequence) => this.#bySequence.get(sequence) ?? [])
  }

  #remove(account: Account): void {
    const { sequence } = account
    this.#bySequence.delete(sequence)
    this.order.remove(sequence)
    for (const [field, postings] of this.#fields) postings.remove(account[field], sequence)
    this.#named.remove(account)
  }

  #add(account: Account, before: Account | undefined): void {
    const { sequence } = account
    this.#bySequence.set(sequence, account)
    if (before && inSamePlaces(before, account)) return
    this.order.add(sequence)
    for (const [field, postings] of this.#fields) postings.add(account[field], sequence)
    this.#named.add(account)
  }
}

function inSamePlaces(a: Account, b: Account): boolean {
  return a.sequence === b.sequence && a.identifier === b.identifier && LISTED.every((field) => a[field] === b[field])
}

/** The same text for the same conditions, and for no others. */
function question({ identifier, connectors, query, ...exact }: AccountFilter): string {
  return JSON.stringify([
    LISTED.map((field) => exact[field] ?? null),
    identifier ?? null,
    connectors ?? null,
    query?.toLowerCase() ?? null,
  ])
}

function isMatch(account: Account, { identifier, connectors, query, ...exact }: AccountFilter): boolean {
  return (
    LISTED.every((field) => exact[field] === undefined || account[field] === exact[field]) &&
    (identifier === undefined || account.identifier === identifier) &&
    (!connectors || connectors.includes(account.connector)) &&
    (query === undefined || contains(account, query.toLowerCase()))
  )
}

function bySize(a: Sequences, b: Sequences): number {
  return a.size - b.size
}

/** Accounts by connector, then by identifier. */
class NameIndex {
  readonly #byConnector = new Map<string, ValueIndex>()
  readonly #later = new DeferredRows<Account>((account) => this.#enter(account))

  load(account: Account): void {
    this.#later.add(account)
  }

  add(account: Account): void {
    this.#later.enterAll()
    this.#enter(account)
  }

  remove({ connector, identifier, sequence }: Account): void {
    this.#later.enterAll()
    const named = this.#byConnector.get(connector)
    named?.remove(identifier, sequence)
    if (named?.size === 0) this.#byConnector.delete(connector)
  }

  /** The accounts of a name; not to be changed. */
  list(connector: string, identifier: string): SequenceList {
    this.#later.enterAll()
    return this.#byConnector.get(connector)?.list(identifier) ?? SequenceList.of([])
  }

  /** The accounts with an identifier at any connector. */
  identified(identifier: string): SequenceList {
    this.#later.enterAll()
    return SequenceList.of(union([...this.#byConnector.values()].map((named) => named.list(identifier).toArray())))
  }

  /** Enters some of what was loaded; false when all of it is. */
  enterSome(): boolean {
    return this.#later.enterSome()
  }

  #enter({ connector, identifier, sequence }: Account): void {
    let named = this.#byConnector.get(connector)
    if (!named) this.#byConnector.set(connector, (named = new ValueIndex()))
    named.add(identifier, sequence)
  }
}
