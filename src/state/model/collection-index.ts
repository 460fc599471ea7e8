import {
  type CollectionItem,
  type CollectionPlace,
  compareKeys,
  type Condition,
  meeting,
  placeId,
  plainText,
  sortKey,
  type SortKey,
} from '../../domain/collection.ts'
import { valueAt } from '../../domain/value-match.ts'
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
  /** Every word has to be part of one of the fields; without fields, of any text of the item. */
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

/** Sort orders that are kept for one set of items; the one that was used first is dropped. */
const MOST_VIEWS = 16
/** A sort order that this many changes have gone into since a query used it is dropped: keeping it costs more than making it. */
const MOST_UNREAD = 1000

/** The items of collections: those of one connector, collection and account, in any order that was asked for. */
export class CollectionIndex implements Index<CollectionItem> {
  /** By account, then by place. */
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
    ofAccount?.delete(placeId(row))
    if (ofAccount?.size === 0) this.#sets.delete(row.account_id)
  }

  enterSome(): boolean {
    return this.#deferred.enterSome()
  }

  at(place: CollectionPlace): ItemSet {
    this.#deferred.enterAll()
    return this.#sets.get(place.account_id)?.get(placeId(place)) ?? new ItemSet()
  }

  /** The ids of the items that belong to an account, whatever their collection. */
  ofAccount(accountId: string): string[] {
    this.#deferred.enterAll()
    return [...(this.#sets.get(accountId)?.values() ?? [])].flatMap((set) => set.ids())
  }

  #setOf(row: CollectionItem): ItemSet {
    const ofAccount = this.#sets.get(row.account_id) ?? new Map<string, ItemSet>()
    this.#sets.set(row.account_id, ofAccount)
    const place = placeId(row)
    const set = ofAccount.get(place) ?? new ItemSet()
    ofAccount.set(place, set)
    return set
  }
}

/**
 * The items of one collection and account. Each sort order that a query asks for is kept as a list, in groups of equal values
 * where the query asks for one, and changed with each item: a page is then found without sorting 100,000 items again.
 */
export class ItemSet {
  readonly #items = new Map<string, CollectionItem>()
  readonly #views = new Map<string, View>()
  /** What searches look at, by the fields that they name. */
  readonly #texts = new Map<string, Map<CollectionItem, string>>()

  get size(): number {
    return this.#items.size
  }

  ids(): string[] {
    return [...this.#items.keys()]
  }

  /** All items in creation order. */
  all(): readonly CollectionItem[] {
    return this.#view([], undefined).group(undefined)
  }

  update(before: CollectionItem | undefined, after: CollectionItem | undefined): void {
    if (before) {
      this.#items.delete(before.id)
      for (const texts of this.#texts.values()) texts.delete(before)
    }
    if (after) this.#items.set(after.id, after)
    for (const [name, view] of this.#views) if (!view.update(before, after)) this.#views.delete(name)
  }

  find({ conditions, words, wordFields, sort, after, skip, limit }: ItemQuery): ItemPage {
    const { rows: all, rest } = this.#narrowed(conditions, sort)
    const [from, to] = boundsOf(all, sort[0], rest)
    const rows = from === 0 && to === all.length ? all : all.slice(from, to)
    const first = after ? firstAfter(rows, sort, after) : 0
    const isMet = meeting(rest)
    const isFound =
      rest.length === 0 && words.length === 0
        ? undefined
        : (row: CollectionItem) => isMet(row.item) && this.#hasWords(row, words, wordFields)
    const total = (): number => (isFound ? rows.filter(isFound).length : rows.length)
    if (!isFound) {
      const items = rows.slice(first + skip, first + skip + limit)
      return { items, hasMore: first + skip + items.length < rows.length, total }
    }
    const items: CollectionItem[] = []
    let skipped = 0
    for (let at = first; at < rows.length; at++) {
      const row = rows[at]
      if (!row || !isFound(row)) continue
      if (skipped < skip) skipped++
      else if (items.length === limit) return { items, hasMore: true, total }
      else items.push(row)
    }
    return { items, hasMore: false, total }
  }

  /** The smallest group of items that have an equal value that is asked for, and the conditions that are left. */
  #narrowed(
    conditions: readonly Condition[],
    sort: readonly SortField[],
  ): { rows: readonly CollectionItem[]; rest: readonly Condition[] } {
    const isGrouping = ({ operator, wanted }: Condition): boolean => operator === 'eq' && typeof wanted !== 'object'
    const groups = conditions.filter(isGrouping).map((condition) => ({
      rows: this.#view(sort, condition.path).group(plainText(condition.wanted)),
      rest: conditions.filter((each) => each !== condition),
    }))
    const [smallest] = groups.sort((a, b) => a.rows.length - b.rows.length)
    return smallest ?? { rows: this.#view(sort, undefined).group(), rest: conditions }
  }

  #hasWords(row: CollectionItem, words: readonly string[], fields: readonly string[]): boolean {
    if (words.length === 0) return true
    const text = this.#textOf(row, fields)
    return words.every((word) => text.includes(word))
  }

  /** The searched text of an item, which is kept until the item changes. */
  #textOf(row: CollectionItem, fields: readonly string[]): string {
    const name = fields.join('\n')
    if (this.#texts.size >= MOST_VIEWS && !this.#texts.has(name)) this.#texts.clear()
    const texts = this.#texts.get(name) ?? new Map<CollectionItem, string>()
    this.#texts.set(name, texts)
    const known = texts.get(row)
    if (known !== undefined) return known
    const values = fields.length > 0 ? fields.map((path) => valueAt(row.item, path)) : Object.values(row.item)
    const text = values.map(plainText).join('\n').toLowerCase()
    texts.set(row, text)
    return text
  }

  #view(sort: readonly SortField[], grouping: string | undefined): View {
    const name = JSON.stringify([sort, grouping])
    const known = this.#views.get(name)
    if (known) {
      known.unread = 0
      return known
    }
    const oldest = this.#views.keys().next().value
    if (this.#views.size >= MOST_VIEWS && oldest !== undefined) this.#views.delete(oldest)
    const view = new View(sort, grouping, this.#items.values())
    this.#views.set(name, view)
    return view
  }
}

const NO_ITEMS: readonly CollectionItem[] = Object.freeze([])

/** Items in one sort order, by the text of one field if there is one. */
class View {
  unread = 0
  readonly #sort: readonly SortField[]
  readonly #grouping: string | undefined
  readonly #groups = new Map<string, CollectionItem[]>()

  constructor(sort: readonly SortField[], grouping: string | undefined, items: Iterable<CollectionItem>) {
    this.#sort = sort
    this.#grouping = grouping
    const sorted = Array.from(items, (row) => ({ row, position: positionOf(row, sort) }))
    sorted.sort((a, b) => comparePositions(a.position, b.position, sort))
    for (const { row } of sorted) for (const name of this.#namesOf(row)) this.#groupNamed(name).push(row)
  }

  group(name = ''): readonly CollectionItem[] {
    return this.#groups.get(name) ?? NO_ITEMS
  }

  /** False when the view is not worth keeping. */
  update(before: CollectionItem | undefined, after: CollectionItem | undefined): boolean {
    if (++this.unread > MOST_UNREAD) return false
    if (before) this.#remove(before)
    if (after) this.#insert(after)
    return true
  }

  #remove(row: CollectionItem): void {
    const position = positionOf(row, this.#sort)
    for (const name of this.#namesOf(row)) {
      const rows = this.#groupNamed(name)
      const at = rows.indexOf(row, firstFrom(rows, this.#sort, position))
      if (at >= 0) rows.splice(at, 1)
      if (rows.length === 0) this.#groups.delete(name)
    }
  }

  #insert(row: CollectionItem): void {
    const position = positionOf(row, this.#sort)
    for (const name of this.#namesOf(row)) {
      const rows = this.#groupNamed(name)
      rows.splice(firstFrom(rows, this.#sort, position), 0, row)
    }
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

/** Where the items can be that meet the bounds on the field which they are sorted by first. */
function boundsOf(
  rows: readonly CollectionItem[],
  field: SortField | undefined,
  conditions: readonly Condition[],
): [from: number, to: number] {
  let [from, to] = [0, rows.length]
  for (const { path, operator, wanted } of field ? conditions : []) {
    // Texts that write numbers are compared with numbers by size, which is not how they are sorted.
    if (path !== field?.path || typeof wanted !== 'string' || !Number.isNaN(Number(wanted))) continue
    const key = sortKey(wanted)
    const orderOf = ({ item }: CollectionItem): number => compareKeys(sortKey(valueAt(item, path)), key)
    const isLower = operator === 'gt' || operator === 'gte'
    if (!isLower && operator !== 'lt' && operator !== 'lte') continue
    if (isLower !== field.descending) {
      const start = firstWhere(rows, (row) => (field.descending ? orderOf(row) <= 0 : orderOf(row) >= 0))
      from = Math.max(from, start)
    } else {
      const end = firstWhere(rows, (row) => (field.descending ? orderOf(row) < 0 : orderOf(row) > 0))
      to = Math.min(to, end)
    }
  }
  return [from, to]
}
