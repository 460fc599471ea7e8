import {
  decodePageToken,
  encodePageToken,
  type PageTokenBinding,
  type Position,
} from '../../model/domain/page-token.ts'
import type { Environment } from '../../state/environment.ts'
import { firstWhere } from '../../state/model/rows-in-order.ts'

const DEFAULT_PAGE_SIZE = 10

/**
 * Tokens are bound to every parameter but those of paging (G4), in any order; one that chooses nothing counts as not
 * sent. @param positionOf is at least 1, grows from item to item and never changes
 */
export function pageOf<T>(
  { name }: Environment,
  listing: string,
  { page_size, page_token, ...filter }: { page_size?: number | undefined; page_token?: string | undefined },
  list: readonly T[],
  positionOf: (item: T) => number,
) {
  const filters = Object.entries<unknown>(filter)
    .filter(([, value]) => value)
    .map(([field, value]) => [field, Array.isArray(value) ? value.map(String).sort() : String(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const binding: PageTokenBinding = [['environment', name], ['listing', listing], ...filters]
  const position: Position = page_token ? decodePageToken(page_token, binding) : { after: 0 }
  const { from, to } = rangeAt(list, positionOf, position, page_size || DEFAULT_PAGE_SIZE)
  const rows = list.slice(from, to)
  // Both sides of the page, also of one whose items were all deleted.
  const [below, above] =
    'after' in position ? [position.after, position.after + 1] : [position.before - 1, position.before]
  const [first, last] = [rows[0], rows.at(-1)].map((row) => row && positionOf(row))
  return {
    rows,
    next_page_token: to < list.length ? encodePageToken({ after: last ?? below }, binding) : '',
    prev_page_token: from > 0 ? encodePageToken({ before: first ?? above }, binding) : '',
    total_size: list.length,
  }
}

/** Where up to `size` items after or before a position are in a list of growing positions. */
export function rangeAt<T>(
  list: readonly T[],
  positionOf: (item: T) => number,
  position: Position,
  size: number,
): { from: number; to: number } {
  const isForward = 'after' in position
  const border = isForward ? position.after : position.before - 1
  const passed = firstWhere(list, (item) => positionOf(item) > border)
  const [from, to] = isForward ? [passed, passed + size] : [Math.max(0, passed - size), passed]
  return { from, to: Math.min(to, list.length) }
}

/** An item of a list with its position, which page tokens name. */
export interface Positioned<T> {
  readonly position: number
  readonly item: T
}

export function positionedRows<T>(table: { placed(): Iterable<readonly [number, T]> }): Positioned<T>[] {
  return [...table.placed()].map(([place, item]) => ({ position: place + 1, item }))
}

/** As {@link pageOf}, of items with their positions. */
export function pageOfList<T>(
  environment: Environment,
  listing: string,
  list: readonly Positioned<T>[],
  query: { page_size?: number; page_token?: string },
) {
  const { rows, ...pageFields } = pageOf(environment, listing, query, list, ({ position }) => position)
  return { items: rows.map(({ item }) => item), ...pageFields }
}
