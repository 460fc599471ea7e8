import {
  type CollectionItem,
  type CollectionPlace,
  compareKeys,
  type Condition,
  meeting,
  plainText,
  sortKey,
  type SortKey,
} from '../../domain/collection.ts'
import { valueAt } from '../../domain/value-match.ts'
import { type SequenceList, ValueIndex } from './account-index.ts'
import { DeferredRows, type Index } from './table.ts'

/** One field of a sort order. */
export interface SortField {
  readonly path: string
  readonly descending: boolean
}

/** A place in a sort order, which stays one when the item that was there is gone. */
export interface ItemPosition {
  readonly keys: readonly SortKey[]
  readonly sequence: number
}

export interface ItemQuery {
  readonly conditions: readonly Condition[]
  /** Every word, in lower case and without blanks, has to be part of one of the fields; without fields, of any text. */
  readonly words: readonly string[]
  readonly wordFields: readonly string[]
  readonly sort: readonly SortField[]
  readonly after?: ItemPosition | undefined
  readonly skip: number
  readonly limit: number
}

export interface ItemPage {
  readonly items: readonly CollectionItem[]
  readonly hasMore: boolean
  /** Counts all items that the query finds. */
  total(): number
}

/**
 * At most this many sort orders, and as many searches by fields, are cached for one set of items; beyond that the oldest is
 * dropped.
 */
const MAX_VIEWS = 16
/** A cached list with this many changes since a query used it is dropped: updating it costs more than making it again. */
const MAX_UNREAD = 1000
/** So few items are sorted when they are asked for, in place of a look at each item in order. */
const FEW = 1000

/** The items of collections: those of one connector, collection and account, in any order that was asked for. */
export class CollectionIndex implements Index<CollectionItem> {
  /** By account, then by {@link nameOf}. */
  readonly #sets = new Map<string, Map<string, ItemSet>>()
  readonly #deferred = new DeferredRows<CollectionItem>((row) => this.#setOf(row).update(undefined, row))

  load(row: CollectionItem): void {
    this.#deferred.add(row)
  }

  update(before: CollectionItem | undefined, after: CollectionItem | undefined): void {
    this.#deferred.enterAll()
    const row = before ?? after
    if (!row) return
    const set = this.#setOf(row)
    set.update(before, after)
    if (set.size > 0) return
    const ofAccount = this.#sets.get(row.account_id)
    ofAccount?.delete(nameOf(row))
    if (ofAccount?.size === 0) this.#sets.delete(row.account_id)
  }

  enterSome(): boolean {
    return this.#deferred.enterSome()
  }

  at(place: CollectionPlace): ItemSet {
    this.#deferred.enterAll()
    return this.#sets.get(place.account_id)?.get(nameOf(place)) ?? new ItemSet()
  }

  /** The ids of the items that belong to an account, of all collections. */
  ofAccount(accountId: string): string[] {
    this.#deferred.enterAll()
    return [...(this.#sets.get(accountId)?.values() ?? [])].flatMap((set) => set.ids())
  }

  #setOf(row: CollectionItem): ItemSet {
    let ofAccount = this.#sets.get(row.account_id)
    if (!ofAccount) this.#sets.set(row.account_id, (ofAccount = new Map<string, ItemSet>()))
    const name = nameOf(row)
    let set = ofAccount.get(name)
    if (!set) ofAccount.set(name, (set = new ItemSet()))
    return set
  }
}

/** A text that no other collection of an account has. */
function nameOf({ connector, collection }: CollectionPlace): string {
  return `${connector}/${collection}`
}

/** Items in order, and the test whether a query finds one; without a test it finds all of them. */
interface Candidates {
  readonly rows: readonly CollectionItem[]
  readonly isFound?: ((row: CollectionItem) => boolean) | undefined
}

/**
 * The items of one collection and account. Each sort order that a query asks for is kept as a list, in groups of equal values
 * where the query asks for one, and changed with each item, and so are the words of the fields that a query searches: a page
 * is then found without sorting or reading 100,000 items again.
 */
export class ItemSet {
  /** In creation order. */
  readonly #rows: CollectionItem[] = []
  readonly #views = new Map<string, View>()
  readonly #words = new Map<string, WordIndex>()
  /** All that queries found whose total was counted, until an item changes. */
  readonly #counted = new Map<string, readonly CollectionItem[]>()

  get size(): number {
    return this.#rows.length
  }

  ids(): string[] {
    return this.#rows.map(({ id }) => id)
  }

  /** All items in creation order. */
  all(): readonly CollectionItem[] {
    return this.#rows
  }

  update(before: CollectionItem | undefined, after: CollectionItem | undefined): void {
    if (before) removeFrom(this.#rows, before, [])
    if (after) insertInto(this.#rows, after, [])
    for (const kept of [this.#views, this.#words]) {
      for (const [name, each] of kept) if (!each.update(before, after)) kept.delete(name)
    }
    if (this.#counted.size > 0) this.#counted.clear()
  }

  find(query: ItemQuery): ItemPage {
    const { conditions, words, wordFields, sort, after, skip, limit } = query
    const name = JSON.stringify([conditions, words, wordFields, sort])
    const counted = this.#counted.get(name)
    const { rows, isFound } = counted ? { rows: counted } : this.#candidates(query)
    const first = (after ? firstAfter(rows, sort, after) : 0) + (isFound ? 0 : skip)
    let skipped = isFound ? 0 : skip
    const items: CollectionItem[] = []
    // One more than the page shows whether there is another page.
    for (let at = first; at < rows.length && items.length <= limit; at++) {
      const row = rows[at]
      if (!row || (isFound && !isFound(row))) continue
      if (skipped < skip) skipped++
      else items.push(row)
    }
    const total = (): number => (isFound ? this.#count(name, rows.filter(isFound)) : rows.length)
    return { items: items.slice(0, limit), hasMore: items.length > limit, total }
  }

  #count(name: string, found: readonly CollectionItem[]): number {
    if (this.#counted.size >= MAX_VIEWS) this.#counted.clear()
    this.#counted.set(name, found)
    return found.length
  }

  #candidates({ conditions, words, wordFields, sort }: ItemQuery): Candidates {
    if (words.length === 0) {
      const { rows, rest } = this.#narrowed(conditions, sort)
      return { rows, isFound: testOf(rest) }
    }
    const hits = this.#wordsOf(wordFields).containing(words)
    if (hits.count <= FEW) {
      const rows = hits.count === 0 ? NO_ITEMS : rowsMarked(this.all(), hits.marks)
      return { rows: sorted(rows, sort), isFound: testOf(conditions) }
    }
    const { rows, rest } = this.#narrowed(conditions, sort)
    const isMet = testOf(rest)
    return { rows, isFound: (row) => hits.marks[row.sequence] === 1 && (!isMet || isMet(row)) }
  }

  /** The smallest group of items that have an equal value that is asked for, and the conditions that are left. */
  #narrowed(conditions: readonly Condition[], sort: readonly SortField[]): Narrowed {
    const isGrouping = ({ operator, wanted }: Condition): boolean => operator === 'eq' && typeof wanted !== 'object'
    const groups = conditions.filter(isGrouping).map((condition) => ({
      rows: this.#view(sort, condition.path).group(plainText(condition.wanted)),
      rest: conditions.filter((each) => each !== condition),
    }))
    const [smallest] = groups.sort((a, b) => a.rows.length - b.rows.length)
    const ordered = withinBounds(smallest ?? { rows: this.#sorted(sort), rest: conditions }, sort[0])
    if (ordered.rows.length <= FEW) return ordered
    for (const { path } of ordered.rest.filter(isBound)) {
      const order = { path, descending: false }
      const { rows, rest } = withinBounds({ rows: this.#sorted([order]), rest: conditions }, order)
      if (rows.length <= FEW) return { rows: sorted(inCreationOrder(rows), sort), rest }
    }
    return ordered
  }

  #sorted(sort: readonly SortField[]): readonly CollectionItem[] {
    return sort.length === 0 ? this.#rows : this.#view(sort, undefined).group()
  }

  #wordsOf(fields: readonly string[]): WordIndex {
    return cached(this.#words, JSON.stringify(fields), () => new WordIndex(fields, this.#rows))
  }

  #view(sort: readonly SortField[], grouping: string | undefined): View {
    const name = JSON.stringify([sort, grouping])
    return cached(this.#views, name, () => new View(sort, grouping, this.#rows))
  }
}

function cached<T extends { unread: number }>(kept: Map<string, T>, name: string, make: () => T): T {
  const known = kept.get(name)
  if (known) {
    known.unread = 0
    return known
  }
  const oldest = kept.keys().next().value
  if (kept.size >= MAX_VIEWS && oldest !== undefined) kept.delete(oldest)
  const made = make()
  kept.set(name, made)
  return made
}

function testOf(conditions: readonly Condition[]): Candidates['isFound'] {
  if (conditions.length === 0) return undefined
  const isMet = meeting(conditions)
  return ({ item }) => isMet(item)
}

/** Which of all items, in creation order, have a mark at their sequence. */
function rowsMarked(all: readonly CollectionItem[], marks: Uint8Array): readonly CollectionItem[] {
  const found: CollectionItem[] = []
  for (let sequence = marks.indexOf(1); sequence >= 0; sequence = marks.indexOf(1, sequence + 1)) {
    const row = all[firstWhere(all, (each) => each.sequence >= sequence)]
    if (row) found.push(row)
  }
  return found
}

/**
 * Which items contain a text, by the words of the searched fields. A searched word has no blank in it, so that it is part of
 * one of these words: a search reads each of them once, however many items have it.
 */
class WordIndex {
  unread = 0
  readonly #fields: readonly string[]
  readonly #sequences = new ValueIndex()
  /** Every word of the index, each on a line of its own. Words that are gone stay in it until it is twice as long. */
  #dictionary = '\n'
  readonly #longest: number
  #lastSequence = 0

  constructor(fields: readonly string[], items: Iterable<CollectionItem>) {
    this.#fields = fields
    const words: string[] = []
    for (const row of items) this.#add(row, words)
    this.#dictionary += words.join('')
    this.#longest = 2 * this.#dictionary.length + 65_536
  }

  /** False when the index is not worth keeping. */
  update(before: CollectionItem | undefined, after: CollectionItem | undefined): boolean {
    if (++this.unread > MAX_UNREAD || this.#dictionary.length > this.#longest) return false
    if (before) for (const word of this.#wordsOf(before)) this.#sequences.remove(word, before.sequence)
    const words: string[] = []
    if (after) this.#add(after, words)
    this.#dictionary += words.join('')
    return true
  }

  /** The items that contain every one of these words: a 1 at the sequence of each. */
  containing(words: readonly string[]): Hits {
    const [rarest = [], ...others] = [...new Set(words)]
      .map((word) => this.#listsOf(word))
      .sort((a, b) => sizeOf(a) - sizeOf(b))
    const marked = marksOf(rarest, this.#lastSequence)
    return others.reduce((hits, lists) => commonHits(hits, lists), marked)
  }

  /** The items of each word of the index that has a text in it. */
  #listsOf(text: string): SequenceList[] {
    const dictionary = this.#dictionary
    const lists: SequenceList[] = []
    for (let at = dictionary.indexOf(text); at >= 0;) {
      const end = dictionary.indexOf('\n', at)
      lists.push(this.#sequences.list(dictionary.slice(dictionary.lastIndexOf('\n', at) + 1, end)))
      at = dictionary.indexOf(text, end)
    }
    return lists
  }

  #add(row: CollectionItem, words: string[]): void {
    for (const word of this.#wordsOf(row)) {
      const { size } = this.#sequences
      this.#sequences.add(word, row.sequence)
      if (this.#sequences.size > size) words.push(`${word}\n`)
    }
    this.#lastSequence = Math.max(this.#lastSequence, row.sequence)
  }

  #wordsOf({ item }: CollectionItem): string[] {
    const values = this.#fields.length > 0 ? this.#fields.map((path) => valueAt(item, path)) : Object.values(item)
    return values.map(plainText).join('\n').toLowerCase().split(/\s+/)
  }
}

interface Hits {
  readonly marks: Uint8Array
  readonly count: number
}

function sizeOf(lists: readonly SequenceList[]): number {
  return lists.reduce((sum, { size }) => sum + size, 0)
}

/** What is in one of the lists. */
function marksOf(lists: readonly SequenceList[], last: number): Hits {
  const marks = new Uint8Array(last + 1)
  let count = 0
  for (const list of lists) {
    for (const sequence of list.toArray()) {
      if (marks[sequence] === 0) count++
      marks[sequence] = 1
    }
  }
  return { marks, count }
}

/** What has a mark and is in one of the lists. */
function commonHits({ marks, count }: Hits, lists: readonly SequenceList[]): Hits {
  const other = count > FEW ? marksOf(lists, marks.length - 1).marks : undefined
  const common = new Uint8Array(marks.length)
  let found = 0
  for (let sequence = 0; sequence < marks.length; sequence++) {
    if (marks[sequence] === 0) continue
    if (other ? other[sequence] === 0 : !lists.some((list) => list.has(sequence))) continue
    common[sequence] = 1
    found++
  }
  return { marks: common, count: found }
}

const NO_ITEMS: readonly CollectionItem[] = Object.freeze([])

/** Items in one sort order, by the text of one field if there is one. */
class View {
  unread = 0
  readonly #sort: readonly SortField[]
  readonly #grouping: string | undefined
  readonly #groups = new Map<string, CollectionItem[]>()

  constructor(sort: readonly SortField[], grouping: string | undefined, rows: readonly CollectionItem[]) {
    this.#sort = sort
    this.#grouping = grouping
    for (const row of sorted(rows, sort)) for (const name of this.#namesOf(row)) this.#groupNamed(name).push(row)
  }

  group(name = ''): readonly CollectionItem[] {
    return this.#groups.get(name) ?? NO_ITEMS
  }

  /** False when the view is not worth keeping. */
  update(before: CollectionItem | undefined, after: CollectionItem | undefined): boolean {
    if (++this.unread > MAX_UNREAD) return false
    if (before) this.#remove(before)
    if (after) this.#insert(after)
    return true
  }

  #remove(row: CollectionItem): void {
    for (const name of this.#namesOf(row)) {
      const rows = this.#groupNamed(name)
      removeFrom(rows, row, this.#sort)
      if (rows.length === 0) this.#groups.delete(name)
    }
  }

  #insert(row: CollectionItem): void {
    for (const name of this.#namesOf(row)) insertInto(this.#groupNamed(name), row, this.#sort)
  }

  #groupNamed(name: string): CollectionItem[] {
    const rows = this.#groups.get(name) ?? []
    this.#groups.set(name, rows)
    return rows
  }

  /** An item whose field is a list is in the group of each of its values. */
  #namesOf({ item }: CollectionItem): Iterable<string> {
    if (this.#grouping === undefined) return ['']
    const value = valueAt(item, this.#grouping)
    return Array.isArray(value) ? new Set(value.map(plainText)) : [plainText(value)]
  }
}

function inCreationOrder(items: Iterable<CollectionItem>): CollectionItem[] {
  return [...items].sort((a, b) => a.sequence - b.sequence)
}

/** Items in creation order, in a sort order: much faster than comparing them with each other. */
function sorted(rows: readonly CollectionItem[], [field, ...rest]: readonly SortField[]): readonly CollectionItem[] {
  if (!field || rows.length === 1) return rows
  const byKey = new Map<SortKey, CollectionItem[]>()
  for (const row of rows) {
    const key = sortKey(valueAt(row.item, field.path))
    const group = byKey.get(key)
    if (group) group.push(row)
    else byKey.set(key, [row])
  }
  const keys = [...byKey.keys()]
  const ordered: SortKey[] = [
    ...keys.filter((key) => typeof key === 'number').sort((a, b) => a - b),
    ...keys.filter((key) => typeof key === 'string').sort(),
    ...keys.filter((key) => key === null),
  ]
  if (field.descending) ordered.reverse()
  const found: CollectionItem[] = []
  for (const key of ordered) for (const row of sorted(byKey.get(key) ?? [], rest)) found.push(row)
  return found
}

export function positionOf({ item, sequence }: CollectionItem, sort: readonly SortField[]): ItemPosition {
  return { keys: sort.map(({ path }) => sortKey(valueAt(item, path))), sequence }
}

function comparePositions(a: ItemPosition, b: ItemPosition, sort: readonly SortField[]): number {
  for (let at = 0; at < sort.length; at++) {
    const order = compareKeys(a.keys[at] ?? null, b.keys[at] ?? null)
    if (order !== 0) return sort[at]?.descending ? -order : order
  }
  return a.sequence - b.sequence
}

function firstFrom(rows: readonly CollectionItem[], sort: readonly SortField[], position: ItemPosition): number {
  return firstWhere(rows, (row) => comparePositions(positionOf(row, sort), position, sort) >= 0)
}

function insertInto(rows: CollectionItem[], row: CollectionItem, sort: readonly SortField[]): void {
  const position = positionOf(row, sort)
  const last = rows.at(-1)
  // A new item comes after all others in creation order.
  if (!last || comparePositions(positionOf(last, sort), position, sort) < 0) rows.push(row)
  else rows.splice(firstFrom(rows, sort, position), 0, row)
}

function removeFrom(rows: CollectionItem[], row: CollectionItem, sort: readonly SortField[]): void {
  const at = rows.indexOf(row, firstFrom(rows, sort, positionOf(row, sort)))
  if (at >= 0) rows.splice(at, 1)
}

function firstAfter(rows: readonly CollectionItem[], sort: readonly SortField[], position: ItemPosition): number {
  return firstWhere(rows, (row) => comparePositions(positionOf(row, sort), position, sort) > 0)
}

/** The first index from which on `test` holds, by halving. */
function firstWhere(rows: readonly CollectionItem[], test: (row: CollectionItem) => boolean): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle]
    if (row && test(row)) high = middle
    else low = middle + 1
  }
  return low
}

interface Narrowed {
  readonly rows: readonly CollectionItem[]
  readonly rest: readonly Condition[]
}

function isBound({ operator, wanted }: Condition): boolean {
  return /^[gl]te?$/.test(operator) && typeof wanted !== 'object'
}

/** The items within the bounds on the field by which they are sorted first, and the conditions that are left. */
function withinBounds({ rows, rest: conditions }: Narrowed, field: SortField | undefined): Narrowed {
  const bounds = conditions.filter((condition) => condition.path === field?.path && isBound(condition))
  if (!field || bounds.length === 0) return { rows, rest: conditions }
  const { path, descending } = field
  const keyAt = (row: CollectionItem | undefined): SortKey => sortKey(valueAt(row?.item, path))
  /** Where a test begins to hold that holds for all greater keys; in descending order, where it ends. */
  const edgeOf = (test: (key: SortKey) => boolean): number => firstWhere(rows, (row) => test(keyAt(row)) !== descending)
  let [from, to] = [0, rows.length]
  const keep = (isLower: boolean, test: (key: SortKey) => boolean): void => {
    if (isLower !== descending) from = Math.max(from, edgeOf(test))
    else to = Math.min(to, edgeOf(test))
  }
  // Numbers come before texts, and what is missing, which meets no bound, after them.
  const isNoNumber = (key: SortKey): boolean => typeof key !== 'number'
  const isMissing = (key: SortKey): boolean => key === null
  keep(false, isMissing)
  const hasTexts = edgeOf(isNoNumber) !== edgeOf(isMissing)
  const list = edgeOf((key) => compareKeys(key, '[') >= 0)
  // A list meets a bound when one of its values does. Its key is its JSON.
  const hasLists = plainText(keyAt(rows[descending ? list - 1 : list])).startsWith('[')
  const rest = conditions.filter((condition) => {
    const { operator, wanted } = condition
    const isNumber = !Number.isNaN(Number(wanted))
    // Texts may be compared with a number by size, which is not how they are sorted.
    if (!bounds.includes(condition) || hasLists || (isNumber && hasTexts)) return true
    const bound = isNumber ? Number(wanted) : sortKey(wanted)
    const least = operator === 'gt' || operator === 'lte' ? 1 : 0
    if (!isNumber) keep(true, isNoNumber)
    keep(operator.startsWith('g'), (key) => compareKeys(key, bound) >= least)
    return false
  })
  return { rows: from === 0 && to === rows.length ? rows : rows.slice(from, to), rest }
}
