import {
  type CollectionItem,
  collectionName,
  type CollectionPlace,
  compareKeys,
  type Condition,
  testOfConditions,
  plainText,
  sortKey,
  type SortKey,
} from '../../model/domain/collection.ts'
import { foldCase } from '../../model/domain/fold-case.ts'
import { valueAt } from '../../model/domain/value-match.ts'
import { firstWhere, type QueriedRow, RowsInOrder } from './rows-in-order.ts'
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
  /** By account, then by {@link collectionName}. */
  readonly #sets = new Map<string, Map<string, ItemSet>>()

  update(before: CollectionItem | undefined, after: CollectionItem | undefined): void {
    const row = before ?? after
    if (!row) return
    const set = this.#setOf(row)
    set.update(before, after)
    if (set.size > 0) return
    const ofAccount = this.#sets.get(row.account_id)
    ofAccount?.delete(collectionName(row))
    if (ofAccount?.size === 0) this.#sets.delete(row.account_id)
  }

  at(place: CollectionPlace): ItemSet {
    return this.#sets.get(place.account_id)?.get(collectionName(place)) ?? new ItemSet()
  }

  /** The ids of the items that belong to an account, of all collections. */
  ofAccount(accountId: string): string[] {
    return [...(this.#sets.get(accountId)?.values() ?? [])].flatMap((set) => set.all().map(({ id }) => id))
  }

  #setOf(row: CollectionItem): ItemSet {
    let ofAccount = this.#sets.get(row.account_id)
    if (!ofAccount) this.#sets.set(row.account_id, (ofAccount = new Map<string, ItemSet>()))
    const name = collectionName(row)
    let set = ofAccount.get(name)
    if (!set) ofAccount.set(name, (set = new ItemSet()))
    return set
  }
}

type QueriedItem = QueriedRow<CollectionItem, ItemPosition, ItemText>
type ItemsInOrder = RowsInOrder<CollectionItem, ItemPosition, ItemText>

export class ItemSet {
  readonly #rows = itemsInOrder([])
  /** The order of the last list that was sorted: the next one most often asks for the same, or for its next page. */
  #sorted: { readonly sort: string; readonly rows: ItemsInOrder } | undefined

  get size(): number {
    return this.#rows.all.length
  }

  /** All items in creation order. */
  all(): CollectionItem[] {
    return this.#rows.all.map(({ row }) => row)
  }

  update(before: CollectionItem | undefined, after: CollectionItem | undefined): void {
    this.#rows.update(before, after)
    this.#sorted?.rows.update(before, after)
  }

  find({ conditions, words, wordFields, sort, after, skip, limit }: ItemQuery): ItemPage {
    const isMet = testOfConditions(conditions)
    const textFields = wordFields.join('\n')
    const rows = this.#inOrder(sort).all
    const met = conditions.length > 0 ? rows.filter(({ row }) => isMet(row.item)) : rows
    const matches =
      words.length > 0 ? met.filter((queried) => hasWords(wordsText(queried, wordFields, textFields), words)) : met
    const start = after ? firstWhere(matches, ({ position }) => comparePositions(position, after, sort) > 0) : 0
    const end = start + skip + limit
    const page = matches.slice(start + skip, end).map(({ row }) => row)
    return { items: page, hasMore: matches.length > end, total: matches.length }
  }

  #inOrder(sort: readonly SortField[]): ItemsInOrder {
    if (sort.length === 0) return this.#rows
    const name = JSON.stringify(sort)
    if (this.#sorted?.sort !== name) this.#sorted = { sort: name, rows: itemsInOrder(sort, this.all()) }
    return this.#sorted.rows
  }
}

function itemsInOrder(sort: readonly SortField[], rows: readonly CollectionItem[] = []): ItemsInOrder {
  return new RowsInOrder(
    (row) => itemPosition(row, sort),
    (a, b) => comparePositions(a, b, sort),
    rows,
  )
}

/** What the last search made of an item, and the fields that it looked at. */
interface ItemText {
  text: string
  textFields: string
}

function wordsText(queried: QueriedItem, fields: readonly string[], name: string): string {
  if (queried.text !== undefined && queried.textFields === name) return queried.text
  const { item } = queried.row
  const values = fields.length > 0 ? fields.map((path) => valueAt(item, path)) : Object.values(item)
  queried.textFields = name
  // Each field on a line of its own.
  return (queried.text = foldCase(values.map(plainText).join('\n')))
}

function hasWords(text: string, words: readonly string[]): boolean {
  for (const word of words) if (!text.includes(word)) return false
  return true
}

/** By fields of an item; an empty path is the creation order. */
export function itemPosition({ item, sequence }: CollectionItem, sort: readonly SortField[]): ItemPosition {
  return { keys: sort.map(({ path }) => (path === '' ? sequence : sortKey(valueAt(item, path)))), sequence }
}

function comparePositions(a: ItemPosition, b: ItemPosition, sort: readonly SortField[]): number {
  for (let at = 0; at < sort.length; at++) {
    const order = compareKeys(a.keys[at] ?? null, b.keys[at] ?? null)
    if (order !== 0) return sort[at]?.descending ? -order : order
  }
  return a.sequence - b.sequence
}
