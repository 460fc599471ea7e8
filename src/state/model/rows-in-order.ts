import type { Position } from '../../domain/page-token.ts'
import type { Index, Row } from './table.ts'

/** A row, and what is kept with it for searches. It stays the same while the row changes in none of the listed fields. */
export interface Entry<T> {
  row: T
  /** The text in lower case in which the last search has looked, and the fields that it is made of. */
  text: string | undefined
  textOf: string
  /** The number of the last query that found it, where its order is another. */
  foundBy: number
}

/** The text of some fields of a row; made once for each row, as long as searches look in the same fields. */
export function searchedText<T>(entry: Entry<T>, fields: string, make: (row: T) => string): string {
  if (entry.text === undefined || entry.textOf !== fields) {
    entry.text = make(entry.row).toLowerCase()
    entry.textOf = fields
  }
  return entry.text
}

/** At most this many fields have a map; beyond that the oldest map is dropped. */
const MAX_FIELDS = 16

/** A list of so few rows is read without a look whether another field has a shorter one. */
const FEW = 16

/**
 * Rows in creation order, and a map for each field that has been asked for: by value the rows that have it, in creation order.
 * A change moves the rest of an array: with 100,000 rows that takes 15 µs.
 */
export class RowsInOrder<T extends { readonly sequence: number }> {
  /** Not to be changed, and another one after a change. */
  readonly all: Entry<T>[] = []
  readonly #fields = new Map<string, Map<string, OneOrMore<Entry<T>>>>()
  readonly #valuesOf: (row: T, field: string) => Iterable<string>

  constructor(valuesOf: (row: T, field: string) => Iterable<string>) {
    this.#valuesOf = valuesOf
  }

  at(sequence: number): Entry<T> | undefined {
    const entry = this.all[this.#placeIn(this.all, sequence)]
    return entry?.row.sequence === sequence ? entry : undefined
  }

  add(row: T): Entry<T> {
    const entry = { row, text: undefined, textOf: '', foundBy: 0 }
    this.#insert(this.all, entry)
    for (const [field, byValue] of this.#fields) this.#addToMap(byValue, field, entry)
    return entry
  }

  remove({ sequence }: T): Entry<T> | undefined {
    const entry = this.at(sequence)
    if (!entry) return undefined
    this.#delete(this.all, sequence)
    for (const [field, byValue] of this.#fields) {
      for (const value of this.#valuesOf(entry.row, field)) {
        const found = byValue.get(value)
        if (!found) continue
        if (!isList(found) || found.length === 1) byValue.delete(value)
        else this.#delete(found, sequence)
      }
    }
    return entry
  }

  /** The rows with a value in a field, in creation order; valid until the next change. */
  with(field: string, value: string): readonly Entry<T>[] {
    return listOf(this.#byValue(field).get(value))
  }

  /** Makes the maps again when they are asked for. */
  dropMaps(): void {
    this.#fields.clear()
  }

  /** All rows, or the shortest list of those that have one of these values in its field. */
  fewestWith(values: Iterable<readonly [field: string, value: string]>): readonly Entry<T>[] {
    let fewest: readonly Entry<T>[] = this.all
    for (const [field, value] of values) {
      const some = this.with(field, value)
      if (some.length < fewest.length) fewest = some
      if (fewest.length <= FEW) break
    }
    return fewest
  }

  #byValue(field: string): Map<string, OneOrMore<Entry<T>>> {
    const known = this.#fields.get(field)
    if (known) return known
    const [oldest] = this.#fields.keys()
    if (this.#fields.size >= MAX_FIELDS && oldest !== undefined) this.#fields.delete(oldest)
    const byValue = new Map<string, OneOrMore<Entry<T>>>()
    for (const entry of this.all) this.#addToMap(byValue, field, entry)
    this.#fields.set(field, byValue)
    return byValue
  }

  #addToMap(byValue: Map<string, OneOrMore<Entry<T>>>, field: string, entry: Entry<T>): void {
    for (const value of this.#valuesOf(entry.row, field)) {
      const found = byValue.get(value)
      if (!found) {
        byValue.set(value, entry)
        continue
      }
      const list = isList(found) ? found : [found]
      this.#insert(list, entry)
      byValue.set(value, list)
    }
  }

  #insert(list: Entry<T>[], entry: Entry<T>): void {
    const { sequence } = entry.row
    // Nearly every row is new, and comes last.
    if ((list.at(-1)?.row.sequence ?? -Infinity) < sequence) list.push(entry)
    else list.splice(this.#placeIn(list, sequence), 0, entry)
  }

  #delete(list: Entry<T>[], sequence: number): void {
    list.splice(this.#placeIn(list, sequence), 1)
  }

  #placeIn(list: readonly Entry<T>[], sequence: number): number {
    return firstWhere(list, ({ row }) => row.sequence >= sequence)
  }
}

/** One item without a list around it: most lists would have one, and V8 goes through all of them when it looks for garbage. */
type OneOrMore<T extends object> = T | T[]

const NONE: readonly never[] = Object.freeze([])

function isList<T extends object>(found: OneOrMore<T>): found is T[] {
  return Array.isArray(found)
}

function listOf<T extends object>(found: OneOrMore<T> | undefined): readonly T[] {
  if (found === undefined) return NONE
  return isList(found) ? found : [found]
}

/** The first index, at least `from`, from which on `test` holds, by halving. */
export function firstWhere<T>(list: readonly T[], test: (item: T) => boolean, from = 0): number {
  let [low, high] = [from, list.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (test(list[middle] as T)) high = middle
    else low = middle + 1
  }
  return low
}

/** A part of a list, and what is around it. */
export interface Page<T> {
  readonly rows: readonly T[]
  /** All of the list. */
  readonly total: number
  readonly has_previous: boolean
  readonly has_next: boolean
}

/** Up to `size` items after or before a position; `positionOf` grows from item to item of the list (G4). */
export function pageAt<T>(
  list: readonly T[],
  positionOf: (item: T) => number,
  position: Position,
  size: number,
): Page<T> {
  const isForward = 'after' in position
  const border = isForward ? position.after : position.before - 1
  const passed = firstWhere(list, (item) => positionOf(item) > border)
  const [from, to] = isForward ? [passed, passed + size] : [Math.max(0, passed - size), passed]
  return { rows: list.slice(from, to), total: list.length, has_previous: from > 0, has_next: to < list.length }
}

/**
 * The rows of a table by a text of theirs. A map that grows copies all of itself, which takes 10 ms with 65,536 keys. So there
 * are several, by the last character of the key, and each grows at another moment.
 */
export class Lookup<T extends Row> implements Index<T> {
  readonly #parts = Array.from({ length: PARTS }, () => new Map<string, OneOrMore<T>>())
  readonly #keyOf: (row: T) => string | undefined

  /** @param keyOf undefined for a row that nobody looks for */
  constructor(keyOf: (row: T) => string | undefined) {
    this.#keyOf = keyOf
  }

  /** The rows with a key, the one that changed last at the end. */
  get(key: string): readonly T[] {
    return listOf(partOf(this.#parts, key).get(key)).slice()
  }

  update(before: T | undefined, after: T | undefined): void {
    const key = before && this.#keyOf(before)
    if (before && key !== undefined) {
      const part = partOf(this.#parts, key)
      const rest = this.get(key).filter(({ id }) => id !== before.id)
      if (rest.length > 0) part.set(key, rest)
      else part.delete(key)
    }
    const newKey = after && this.#keyOf(after)
    if (!after || newKey === undefined) return
    const part = partOf(this.#parts, newKey)
    const found = part.get(newKey)
    if (!found) part.set(newKey, after)
    else if (isList(found)) found.push(after)
    else part.set(newKey, [found, after])
  }
}

/** A power of two. */
const PARTS = 16

function partOf<V>(parts: readonly Map<string, V>[], key: string): Map<string, V> {
  return parts[key.charCodeAt(key.length - 1) & (PARTS - 1)] as Map<string, V>
}
