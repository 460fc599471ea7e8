import {
  type CollectionItem,
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

/** A text that no other collection of an account has. */
function collectionName({ connector, collection }: CollectionPlace): string {
  return `${connector}/${collection}`
}

export class ItemSet {
  readonly #rows = new RowsInOrder<CollectionItem, LastQuery>()

  get size(): number {
    return this.#rows.all.length
  }

  /** All items in creation order. */
  all(): CollectionItem[] {
    return this.#rows.all.map(({ row }) => row)
  }

  update(before: CollectionItem | undefined, after: CollectionItem | undefined): void {
    this.#rows.update(before, after)
  }

  find({ conditions, words, wordFields, sort, after, skip, limit }: ItemQuery): ItemPage {
    const isMet = testOfConditions(conditions)
    const [textFields, sortFields] = [wordFields.join('\n'), sort.map(({ path }) => path).join('\n')]
    const matches = this.#rows.all.filter(
      (queried) =>
        isMet(queried.row.item) &&
        (words.length === 0 || words.every((word) => wordsText(queried, wordFields, textFields).includes(word))),
    )
    const compare = (a: ItemPosition, b: ItemPosition): number => comparePositions(a, b, sort)
    const positionOf = (queried: QueriedItem): ItemPosition => sortedPosition(queried, sort, sortFields)
    const beyond = after ? matches.filter((item) => compare(positionOf(item), after) > 0) : matches
    const until = skip + limit
    const inOrder =
      sort.length > 0 ? firstInOrder(beyond, until, (a, b) => compare(positionOf(a), positionOf(b))) : beyond
    const page = inOrder.slice(skip, until).map(({ row }) => row)
    return { items: page, hasMore: beyond.length > until, total: matches.length }
  }
}

/** What the last query made of an item, and the fields that it asked for. */
interface LastQuery {
  text: string
  textFields: string
  position: ItemPosition
  sortFields: string
}

type QueriedItem = QueriedRow<CollectionItem, LastQuery>

function wordsText(queried: QueriedItem, fields: readonly string[], name: string): string {
  if (queried.text !== undefined && queried.textFields === name) return queried.text
  const { item } = queried.row
  const values = fields.length > 0 ? fields.map((path) => valueAt(item, path)) : Object.values(item)
  queried.textFields = name
  // Each field on a line of its own.
  return (queried.text = foldCase(values.map(plainText).join('\n')))
}

function sortedPosition(queried: QueriedItem, sort: readonly SortField[], name: string): ItemPosition {
  if (queried.position && queried.sortFields === name) return queried.position
  queried.sortFields = name
  return (queried.position = itemPosition(queried.row, sort))
}

/** Above this size of a page, sorting all is faster than inserting into it. */
const LONG_PAGE = 200

/** The first items in an order, so many of them. */
function firstInOrder<T>(items: readonly T[], count: number, compare: (a: T, b: T) => number): T[] {
  if (count > LONG_PAGE) return items.toSorted(compare)
  const first: T[] = []
  for (const item of items) {
    const last = first.length === count ? first.at(-1) : undefined
    if (last && compare(item, last) > 0) continue
    first.splice(
      firstWhere(first, (each) => compare(each, item) > 0),
      0,
      item,
    )
    if (last) first.pop()
  }
  return first
}

/** An empty path is the creation order. */
function keyAt({ item, sequence }: CollectionItem, path: string): SortKey {
  return path === '' ? sequence : sortKey(valueAt(item, path))
}

export function itemPosition(row: CollectionItem, sort: readonly SortField[]): ItemPosition {
  return { keys: sort.map(({ path }) => keyAt(row, path)), sequence: row.sequence }
}

function comparePositions(a: ItemPosition, b: ItemPosition, sort: readonly SortField[]): number {
  for (let at = 0; at < sort.length; at++) {
    const order = compareKeys(a.keys[at] ?? null, b.keys[at] ?? null)
    if (order !== 0) return sort[at]?.descending ? -order : order
  }
  return a.sequence - b.sequence
}
