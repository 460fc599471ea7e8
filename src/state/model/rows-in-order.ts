import type { Index, Row } from './table.ts'

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

type Numbered = Row & { readonly sequence: number }

/** A row beside its place and what queries have made of it: thousands of rows are looked through for a page. */
export type QueriedRow<T, P, Memo> = { readonly row: T; readonly position: P } & Partial<Memo>

/** Rows by a position that no two of them share. */
export class RowsInOrder<T extends Numbered, P, Memo> implements Index<T> {
  readonly all: QueriedRow<T, P, Memo>[]

  constructor(
    readonly positionOf: (row: T) => P,
    readonly compare: (a: P, b: P) => number,
    rows: readonly T[] = [],
  ) {
    this.all = rows.map((row) => this.#queried(row)).sort((a, b) => compare(a.position, b.position))
  }

  update(before: T | undefined, after: T | undefined): void {
    const queried = after && this.#queried(after)
    const holder = queried && this.all[this.#place(queried.position)]
    if (holder && holder.row.id !== after.id && this.compare(holder.position, queried.position) === 0)
      throw new Error(`the sequence ${after.sequence} of ${after.id} belongs to ${holder.row.id}`)
    if (before) {
      const at = this.#place(this.positionOf(before))
      if (this.all[at]?.row.id === before.id) this.all.splice(at, 1)
    }
    if (queried) this.all.splice(this.#place(queried.position), 0, queried)
  }

  #queried(row: T): QueriedRow<T, P, Memo> {
    return { row, position: this.positionOf(row) } as QueriedRow<T, P, Memo>
  }

  #place(position: P): number {
    return firstWhere(this.all, (each) => this.compare(each.position, position) >= 0)
  }
}

/** The rows of a table by a text of theirs. */
export class Lookup<T extends Row> implements Index<T> {
  readonly #rows = new Map<string, readonly T[]>()
  readonly #keyOf: (row: T) => string | undefined

  /** @param keyOf undefined for a row that nobody looks for */
  constructor(keyOf: (row: T) => string | undefined) {
    this.#keyOf = keyOf
  }

  /** The rows with a key, the one that changed last at the end. */
  get(key: string): readonly T[] {
    return this.#rows.get(key) ?? []
  }

  update(before: T | undefined, after: T | undefined): void {
    const [key, next] = [before && this.#keyOf(before), after && this.#keyOf(after)]
    const isOther = (row: T): boolean => row.id !== before?.id
    if (key !== undefined) this.#set(key, this.get(key).filter(isOther))
    if (after && next !== undefined) this.#set(next, [...this.get(next), after])
  }

  #set(key: string, rows: readonly T[]): void {
    if (rows.length > 0) this.#rows.set(key, rows)
    else this.#rows.delete(key)
  }
}
