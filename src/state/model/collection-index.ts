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
import { type Entry, firstWhere, RowsInOrder, searchedText } from './rows-in-order.ts'
import type { Index } from './table.ts'

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
  /** All items that the query finds. */
  readonly total: number
}

/** The items of collections: those of one connector, collection and account, in any order that was asked for. */
export class CollectionIndex implements Index<CollectionItem> {
  /** By account, then by {@link nameOf}. */
  readonly #sets = new Map<string, Map<string, ItemSet>>()

  update(before: CollectionItem | undefined, after: CollectionItem | undefined): void {
    const row = before ?? after
    if (!row) return
    const set = this.#setOf(row)
    set.update(before, after)
    if (set.size > 0) return
    const ofAccount = this.#sets.get(row.account_id)
    ofAccount?.delete(nameOf(row))
    if (ofAccount?.size === 0) this.#sets.delete(row.account_id)
  }

  at(place: CollectionPlace): ItemSet {
    return this.#sets.get(place.account_id)?.get(nameOf(place)) ?? new ItemSet()
  }

  /** The ids of the items that belong to an account, of all collections. */
  ofAccount(accountId: string): string[] {
    return [...(this.#sets.get(accountId)?.values() ?? [])].flatMap((set) => set.all().map(({ id }) => id))
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

type Items = readonly Entry<CollectionItem>[]

/** At most this many sort orders are kept for one set of items. */
const MAX_KEPT = 16
/** After so many changes without a query, what queries have made is dropped: making it again costs less than updating it. */
const MAX_UNREAD = 1000
/** So few matches are sorted for a query, in place of a look at each item in order. */
const FEW = 1000

export class ItemSet {
  readonly #rows = new RowsInOrder<CollectionItem>(({ item }, path) => textsOf(valueAt(item, path)))
  /** The items in each sort order that was asked for: sorting 100,000 takes a tenth of a second. */
  readonly #orders = new Map<string, { readonly sort: readonly SortField[]; readonly items: Entry<CollectionItem>[] }>()
  /** What the last query with conditions or words found, for its next page. */
  #last: { readonly query: string; readonly found: Items } | undefined
  #queries = 0
  #unread = 0

  get size(): number {
    return this.#rows.all.length
  }

  /** All items in creation order. */
  all(): CollectionItem[] {
    return this.#rows.all.map(({ row }) => row)
  }

  update(before: CollectionItem | undefined, after: CollectionItem | undefined): void {
    this.#last = undefined
    if (++this.#unread > MAX_UNREAD) {
      this.#rows.dropMaps()
      this.#orders.clear()
    }
    const former = before && this.#rows.remove(before)
    const entry = after && this.#rows.add(after)
    for (const { sort, items } of this.#orders.values()) {
      if (former) items.splice(items.indexOf(former, firstFrom(items, sort, positionOf(former.row, sort))), 1)
      if (entry) items.splice(firstFrom(items, sort, positionOf(entry.row, sort)), 0, entry)
    }
  }

  find(query: ItemQuery): ItemPage {
    this.#unread = 0
    const { conditions, words, sort, after, skip, limit } = query
    const items = conditions.length + words.length > 0 ? this.#found(query) : this.#inOrder(sort)
    const from = (after ? firstAfter(items, sort, after) : 0) + skip
    const page = items.slice(from, from + limit).map(({ row }) => row)
    return { items: page, hasMore: items.length > from + limit, total: items.length }
  }

  #found({ conditions, words, wordFields, sort }: ItemQuery): Items {
    const query = JSON.stringify([conditions, words, wordFields, sort])
    if (this.#last?.query !== query)
      this.#last = { query, found: this.#sorted(this.#matches({ conditions, words, wordFields }), sort) }
    return this.#last.found
  }

  /** In creation order. */
  #matches({ conditions, words, wordFields }: Pick<ItemQuery, 'conditions' | 'words' | 'wordFields'>): Items {
    const isMet = meeting(conditions)
    const fields = JSON.stringify(wordFields)
    const hasWords = (entry: Entry<CollectionItem>): boolean => {
      const text = searchedText(entry, fields, ({ item }) => itemText(item, wordFields))
      return words.every((word) => text.includes(word))
    }
    return this.#rows
      .fewestWith(equalValues(conditions))
      .filter((entry) => isMet(entry.row.item) && (words.length === 0 || hasWords(entry)))
  }

  #sorted(matches: Items, sort: readonly SortField[]): Items {
    if (matches.length <= FEW || sort.length === 0) return sorted(matches, sort)
    const number = ++this.#queries
    for (const entry of matches) entry.foundBy = number
    return this.#inOrder(sort).filter(({ foundBy }) => foundBy === number)
  }

  #inOrder(sort: readonly SortField[]): Items {
    if (sort.length === 0) return this.#rows.all
    const name = JSON.stringify(sort)
    const known = this.#orders.get(name)
    if (known) return known.items
    const [oldest] = this.#orders.keys()
    if (this.#orders.size >= MAX_KEPT && oldest !== undefined) this.#orders.delete(oldest)
    const items = [...sorted(this.#rows.all, sort)]
    this.#orders.set(name, { sort, items })
    return items
  }
}

/** The values that conditions ask for by equality. */
function equalValues(conditions: readonly Condition[]): [path: string, value: string][] {
  return conditions.flatMap(({ path, operator, wanted }) =>
    operator === 'eq' && typeof wanted !== 'object' ? [[path, plainText(wanted)] as [string, string]] : [],
  )
}

function textsOf(value: ReturnType<typeof valueAt>): Iterable<string> {
  return Array.isArray(value) ? new Set(value.map(plainText)) : [plainText(value)]
}

/** Each field on a line of its own. */
function itemText(item: CollectionItem['item'], fields: readonly string[]): string {
  const values = fields.length > 0 ? fields.map((path) => valueAt(item, path)) : Object.values(item)
  return values.map(plainText).join('\n')
}

/** Items in creation order, in a sort order: much faster than comparing them with each other. */
function sorted(items: Items, [field, ...rest]: readonly SortField[]): Items {
  if (!field) return items
  const byKey = new Map<SortKey, Entry<CollectionItem>[]>()
  for (const entry of items) {
    const key = keyAt(entry.row, field.path)
    const group = byKey.get(key)
    if (group) group.push(entry)
    else byKey.set(key, [entry])
  }
  const keys = [...byKey.keys()]
  const ordered: SortKey[] = [
    ...keys.filter((key) => typeof key === 'number').sort((a, b) => a - b),
    ...keys.filter((key) => typeof key === 'string').sort(),
    ...keys.filter((key) => key === null),
  ]
  if (field.descending) ordered.reverse()
  const found: Entry<CollectionItem>[] = []
  for (const key of ordered) {
    const group = byKey.get(key) ?? []
    for (const entry of group.length > 1 ? sorted(group, rest) : group) found.push(entry)
  }
  return found
}

/** An empty path is the creation order. */
function keyAt({ item, sequence }: CollectionItem, path: string): SortKey {
  return path === '' ? sequence : sortKey(valueAt(item, path))
}

export function positionOf(row: CollectionItem, sort: readonly SortField[]): ItemPosition {
  return { keys: sort.map(({ path }) => keyAt(row, path)), sequence: row.sequence }
}

function comparePositions(a: ItemPosition, b: ItemPosition, sort: readonly SortField[]): number {
  for (let at = 0; at < sort.length; at++) {
    const order = compareKeys(a.keys[at] ?? null, b.keys[at] ?? null)
    if (order !== 0) return sort[at]?.descending ? -order : order
  }
  return a.sequence - b.sequence
}

function firstFrom(items: Items, sort: readonly SortField[], position: ItemPosition): number {
  return firstWhere(items, ({ row }) => comparePositions(positionOf(row, sort), position, sort) >= 0)
}

function firstAfter(items: Items, sort: readonly SortField[], position: ItemPosition): number {
  return firstWhere(items, ({ row }) => comparePositions(positionOf(row, sort), position, sort) > 0)
}
