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

/** A row beside what queries have made of it: thousands of rows are looked through for a page. */
export type QueriedRow<T, Memo> = { readonly row: T } & Partial<Memo>

/** Rows in creation order. */
export class RowsInOrder<T extends Numbered, Memo> implements Index<T> {
  readonly all: QueriedRow<T, Memo>[] = []

  update(before: T | undefined, after: T | undefined): void {
    if (after) {
      const holder = this.all[this.#place(after)]?.row
      if (holder?.sequence === after.sequence && holder.id !== after.id)
        throw new Error(`the sequence ${after.sequence} of account ${after.id} belongs to ${holder.id}`)
    }
    if (before && this.all[this.#place(before)]?.row.id === before.id) this.all.splice(this.#place(before), 1)
    if (after) this.all.splice(this.#place(after), 0, { row: after } as QueriedRow<T, Memo>)
  }

  #place({ sequence }: T): number {
    return firstWhere(this.all, ({ row }) => row.sequence >= sequence)
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
    if (key !== undefined)
      this.#set(
        key,
        this.get(key).filter(({ id }) => id !== before?.id),
      )
    if (after && next !== undefined) this.#set(next, [...this.get(next), after])
  }

  #set(key: string, rows: readonly T[]): void {
    if (rows.length > 0) this.#rows.set(key, rows)
    else this.#rows.delete(key)
  }
}
