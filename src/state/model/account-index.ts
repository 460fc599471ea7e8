import type { Account, Scope } from '../../domain/account.ts'
import type { AccountFinder } from '../../domain/locator.ts'
import type { Position } from '../../domain/page-token.ts'
import { DeferredRows, type Index } from './table.ts'

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

/** With more accounts of the same name than this, the one in a scope is found by the fields of the scope. */
const MANY = 16
/** Up to this size a list is searched for every query, because a cached query would not be faster. */
const FEW = 256
/** How many queries with several filters are cached for their next page. */
const MAX_CACHED_LISTS = 8

/** Finds the accounts that contain a text. It gets every change. */
export interface TextSearcher {
  matches(query: string): SequenceList
  update(before: Account | undefined, after: Account | undefined): void
}

/** Accounts by id, by locator in every scope, by field, by text, and in creation order. */
export class AccountIndex implements Index<Account>, AccountFinder {
  readonly order = SequenceList.of([])
  /** Rows by id are the table's own. */
  readonly #find: (id: string) => Account | undefined
  readonly #few: number
  readonly #bySequence = new Map<number, Account>()
  readonly #named = new NameIndex()
  /** Made when a field is first asked for: a start need not wait for what may never be used. */
  readonly #fields = new Map<ListedField, ValueIndex>()
  /** Made when a text is first searched for. */
  #search: TextSearcher | undefined
  readonly #makeSearch: (accounts: AccountIndex) => TextSearcher
  readonly #kept = new QueryCache(MAX_CACHED_LISTS)

  /** `few` is given by tests alone: the size up to which an answer to several filters is not kept. */
  constructor(
    find: (id: string) => Account | undefined,
    makeSearch: (accounts: AccountIndex) => TextSearcher,
    few = FEW,
  ) {
    this.#find = find
    this.#makeSearch = makeSearch
    this.#few = few
  }

  update(before: Account | undefined, after: Account | undefined): void {
    if (after) this.#refuseTaken(after)
    if (before && this.#bySequence.get(before.sequence)?.id === before.id && (!after || !hasSameFields(before, after)))
      this.#remove(before)
    if (after) this.#add(after, before)
    this.#search?.update(before, after)
    if (!before || !after || !hasSameFields(before, after)) this.#kept.update(before, after)
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
    const index = new ValueIndex()
    for (const account of this.accounts()) index.add(account[field], account.sequence)
    this.#fields.set(field, index)
    return index
  }

  inScope(connector: string, identifier: string, scope: Scope): Account | undefined {
    const { organization_id, user_id } = scope
    return this.#inLists(connector, identifier, { organization_id, user_id })[0]
  }

  withinScope(connector: string, identifier: string, { organization_id, user_id }: Scope): readonly Account[] {
    const given = { ...(organization_id && { organization_id }), ...(user_id && { user_id }) }
    return this.#inLists(connector, identifier, given)
  }

  named(connector: string, identifier: string): readonly Account[] {
    return this.#inLists(connector, identifier, {})
  }

  /** The identifier of an account that differs from this one by case or blanks alone; undefined when an account has this one. */
  similar(identifier: string): string | undefined {
    return this.#named.similar(identifier)
  }

  /** The accounts with this name and these fields, by the shortest of the lists that have all of them. */
  #inLists(connector: string, identifier: string, { organization_id, user_id }: Partial<Scope>): Account[] {
    let shortest: Sequences = this.#named.list(connector, identifier)
    if (shortest.size > MANY) {
      const byOrganization = organization_id === undefined ? shortest : this.#in('organization_id', organization_id)
      const byUser = user_id === undefined ? shortest : this.#in('user_id', user_id)
      shortest = [shortest, byOrganization, byUser].reduce((one, other) => (other.size < one.size ? other : one))
    }
    return this.#rows(shortest.toArray()).filter(
      (account) =>
        account.connector === connector &&
        account.identifier === identifier &&
        (organization_id === undefined || account.organization_id === organization_id) &&
        (user_id === undefined || account.user_id === user_id),
    )
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
    if (query !== undefined) lists.push((this.#search ??= this.#makeSearch(this)).matches(query))
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
    const rows: Account[] = []
    for (const sequence of sequences) {
      const row = this.#bySequence.get(sequence)
      if (row) rows.push(row)
    }
    return rows
  }

  #remove(account: Account): void {
    const { sequence } = account
    this.#bySequence.delete(sequence)
    this.order.remove(sequence)
    for (const [field, index] of this.#fields) index.remove(account[field], sequence)
    this.#named.remove(account)
  }

  #add(account: Account, before: Account | undefined): void {
    const { sequence } = account
    this.#bySequence.set(sequence, account)
    if (before && hasSameFields(before, account)) return
    this.order.add(sequence)
    for (const [field, index] of this.#fields) index.add(account[field], sequence)
    this.#named.add(account)
  }
}

function hasSameFields(a: Account, b: Account): boolean {
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

/** `text` being in lower case. */
export function contains({ identifier, connector, provider }: Account, text: string): boolean {
  return [identifier, connector, provider].some((value) => value.toLowerCase().includes(text))
}

function bySize(a: Sequences, b: Sequences): number {
  return a.size - b.size
}

/** Accounts by connector, then by identifier. */
class NameIndex {
  readonly #byConnector = new Map<string, ValueIndex>()
  /** Identifiers with capitals or blanks, by what is left without them: few have any. */
  readonly #unusual = new Map<string, ValueIndex>()
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
    const plain = withoutCaseAndBlanks(identifier)
    if (plain === identifier) return
    const unusual = this.#unusual.get(plain)
    unusual?.remove(identifier, sequence)
    if (unusual?.size === 0) this.#unusual.delete(plain)
  }

  similar(identifier: string): string | undefined {
    this.#later.enterAll()
    if (this.#isKnown(identifier)) return undefined
    const plain = withoutCaseAndBlanks(identifier)
    const [unusual] = this.#unusual.get(plain)?.values() ?? []
    return this.#isKnown(plain) ? plain : unusual
  }

  #isKnown(identifier: string): boolean {
    for (const named of this.#byConnector.values()) if (named.has(identifier)) return true
    return false
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
    const plain = withoutCaseAndBlanks(identifier)
    if (plain === identifier) return
    let unusual = this.#unusual.get(plain)
    if (!unusual) this.#unusual.set(plain, (unusual = new ValueIndex()))
    unusual.add(identifier, sequence)
  }
}

function withoutCaseAndBlanks(identifier: string): string {
  const lower = identifier.toLowerCase()
  return /\s/.test(lower) ? lower.replaceAll(/\s/g, '') : lower
}

/** Ascending numbers, in one list or in several. */
export interface Sequences {
  readonly size: number
  readonly first: number | undefined
  readonly last: number | undefined
  /** The first `count` numbers greater than `position`. */
  after(position: number, count: number): number[]
  /** The last `count` numbers smaller than `position`, ascending. */
  before(position: number, count: number): number[]
  toArray(): number[]
  /** The numbers that are in here too, of numbers that ascend. */
  common(ascending: readonly number[]): number[]
}

/** Longest part; adding to and removing from the middle moves at most this many numbers. */
const PART = 1024

/** Ascending numbers without repetition, that stay quick to add to and remove from when there are many. */
export class SequenceList implements Sequences {
  readonly #parts: number[][] = []
  #size = 0

  /** From numbers that ascend already. */
  static of(ascending: readonly number[]): SequenceList {
    const list = new SequenceList()
    for (let at = 0; at < ascending.length; at += PART) list.#parts.push(ascending.slice(at, at + PART))
    list.#size = ascending.length
    return list
  }

  get size(): number {
    return this.#size
  }

  get first(): number | undefined {
    return this.#parts[0]?.[0]
  }

  get last(): number | undefined {
    return this.#parts.at(-1)?.at(-1)
  }

  has(value: number): boolean {
    const part = this.#parts[this.#partOf(value)]
    return part !== undefined && part[lowerBound(part, value)] === value
  }

  add(value: number): void {
    const last = this.#parts.at(-1)
    if (last && last.length < PART && value > (last.at(-1) ?? 0)) {
      last.push(value)
      this.#size++
    } else this.#insert(value)
  }

  #insert(value: number): void {
    const index = this.#partOf(value)
    const part = this.#parts[index]
    if (!part) {
      this.#parts.push([value])
      this.#size++
      return
    }
    const at = lowerBound(part, value)
    if (part[at] === value) return
    if (at === part.length) part.push(value)
    else part.splice(at, 0, value)
    this.#size++
    if (part.length > PART) this.#split(index, part)
  }

  remove(value: number): void {
    const index = this.#partOf(value)
    const part = this.#parts[index]
    const at = part ? lowerBound(part, value) : 0
    if (part?.[at] !== value) return
    part.splice(at, 1)
    this.#size--
    if (part.length === 0) this.#parts.splice(index, 1)
  }

  after(position: number, count: number): number[] {
    const found: number[] = []
    let index = this.#partOf(position)
    let part = this.#parts[index]
    let at = part ? lowerBound(part, position + 1) : 0
    for (; part && found.length < count; part = this.#parts[++index], at = 0) {
      found.push(...part.slice(at, at + Math.min(PART, count - found.length)))
    }
    return found
  }

  before(position: number, count: number): number[] {
    const found: number[][] = []
    let [missing, index] = [count, this.#partOf(position)]
    let part = this.#parts[index]
    let end = part ? lowerBound(part, position) : 0
    for (; part && missing > 0; part = this.#parts[--index], end = part?.length ?? 0) {
      const piece = part.slice(Math.max(0, end - missing), end)
      missing -= piece.length
      found.unshift(piece)
    }
    return joined(found)
  }

  toArray(): number[] {
    return joined(this.#parts)
  }

  common(ascending: readonly number[]): number[] {
    if (ascending.length * 8 < this.#size) return ascending.filter((value) => this.has(value))
    const found: number[] = []
    let [index, at] = [0, 0]
    let part = this.#parts[0]
    for (const value of ascending) {
      while (part && (part[part.length - 1] ?? 0) < value) [part, at] = [this.#parts[++index], 0]
      if (!part) break
      while ((part[at] ?? Infinity) < value) at++
      if (part[at] === value) found.push(value)
    }
    return found
  }

  /** The part that holds a number, or would: the last one that begins at or before it. */
  #partOf(value: number): number {
    let [low, high] = [0, this.#parts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#parts[middle]?.[0] ?? 0) <= value) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Numbers mostly arrive ascending, so that a full last part stays full. */
  #split(index: number, part: number[]): void {
    const isLast = index === this.#parts.length - 1
    this.#parts.splice(index + 1, 0, part.splice(isLast ? PART : PART >> 1))
  }
}

/** Lists that have no number in common, as one. */
class DisjointLists implements Sequences {
  readonly #lists: readonly SequenceList[]

  constructor(lists: readonly SequenceList[]) {
    this.#lists = lists.filter(({ size }) => size > 0)
  }

  get size(): number {
    return this.#lists.reduce((size, list) => size + list.size, 0)
  }

  get first(): number | undefined {
    return this.#ends((list) => list.first).at(0)
  }

  get last(): number | undefined {
    return this.#ends((list) => list.last).at(-1)
  }

  after(position: number, count: number): number[] {
    return union(this.#lists.map((list) => list.after(position, count))).slice(0, count)
  }

  before(position: number, count: number): number[] {
    return union(this.#lists.map((list) => list.before(position, count))).slice(-count)
  }

  toArray(): number[] {
    return union(this.#lists.map((list) => list.toArray()))
  }

  common(ascending: readonly number[]): number[] {
    return union(this.#lists.map((list) => list.common(ascending)))
  }

  #ends(end: (list: SequenceList) => number | undefined): number[] {
    return this.#lists.flatMap((list) => end(list) ?? []).sort((a, b) => a - b)
  }
}

/** Merges ascending numbers into ascending numbers, each once. */
export function union(lists: readonly (readonly number[])[]): number[] {
  if (lists.length <= 1) return [...(lists[0] ?? [])]
  const middle = lists.length >> 1
  const [a, b] = [union(lists.slice(0, middle)), union(lists.slice(middle))]
  const merged: number[] = []
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const [left, right] = [a[i] ?? Infinity, b[j] ?? Infinity]
    merged.push(Math.min(left, right))
    if (left <= right) i++
    if (right <= left) j++
  }
  return merged
}

/** Much faster than `flat` where there are many. */
function joined(parts: readonly (readonly number[])[]): number[] {
  return ([] as number[]).concat(...parts)
}

/** The first index whose number is not smaller than `value`. */
function lowerBound(part: readonly number[], value: number): number {
  let [low, high] = [0, part.length]
  if (high > 0 && (part[high - 1] ?? 0) < value) return high
  while (low < high) {
    const middle = (low + high) >> 1
    if ((part[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Which rows have a value in one field, by value. A value that only one row has costs no list. */
export class ValueIndex {
  readonly #byValue = new Map<string, number | SequenceList>()

  add(value: string, sequence: number): void {
    const present = this.#byValue.get(value)
    if (present === undefined) this.#byValue.set(value, sequence)
    else if (typeof present !== 'number') present.add(sequence)
    else if (present !== sequence) {
      const list = SequenceList.of([present])
      list.add(sequence)
      this.#byValue.set(value, list)
    }
  }

  remove(value: string, sequence: number): void {
    const present = this.#byValue.get(value)
    if (present === sequence) this.#byValue.delete(value)
    else if (typeof present === 'object') {
      present.remove(sequence)
      if (present.size === 0) this.#byValue.delete(value)
    }
  }

  /** The rows with a value; not to be changed. */
  list(value: string): SequenceList {
    const present = this.#byValue.get(value)
    if (present === undefined) return SequenceList.of([])
    return typeof present === 'number' ? SequenceList.of([present]) : present
  }

  has(value: string): boolean {
    return this.#byValue.has(value)
  }

  get size(): number {
    return this.#byValue.size
  }

  values(): IterableIterator<string> {
    return this.#byValue.keys()
  }
}

interface CachedQuery {
  readonly sequences: SequenceList
  readonly isMatch: (account: Account) => boolean
}

/** Cache of expensive queries, updated with every account: a client mostly asks for the pages of one list in a row. */
export class QueryCache {
  /** By question, the least recently asked first. */
  readonly #kept = new Map<string, CachedQuery>()
  readonly #atMost: number

  constructor(atMost: number) {
    this.#atMost = atMost
  }

  /** The accounts that match, in creation order; not to be changed. `find` is asked when they are not known. */
  of(question: string, isMatch: (account: Account) => boolean, find: () => readonly number[]): SequenceList {
    const kept = this.#kept.get(question) ?? { sequences: SequenceList.of(find()), isMatch }
    this.#kept.delete(question)
    this.#kept.set(question, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > this.#atMost && oldest !== undefined) this.#kept.delete(oldest)
    return kept.sequences
  }

  update(before: Account | undefined, after: Account | undefined): void {
    for (const { sequences, isMatch } of this.#kept.values()) {
      if (before) sequences.remove(before.sequence)
      if (after && isMatch(after)) sequences.add(after.sequence)
    }
  }
}
