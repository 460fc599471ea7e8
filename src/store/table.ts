export interface Row {
  readonly id: string
}

/** Something kept in step with a table: an index, or a directory across environments. */
export interface Index<T extends Row> {
  update(before: T | undefined, after: T | undefined): void
}

/** One row of one table, before and after; the unit that is undone, logged and replayed. */
export interface Change {
  table: string
  id: string
  before: Row | undefined
  after: Row | undefined
}

/**
 * Rows by id, in the order in which they were first put. Rows are immutable: a change puts another object.
 * Every change is told to `record` first, which refuses it outside a transaction.
 */
export class Table<T extends Row> {
  readonly #rows = new Map<string, T>()
  readonly #indexes: readonly Index<T>[]
  readonly #record: (change: Change) => void

  constructor(
    readonly name: string,
    record: (change: Change) => void,
    indexes: readonly Index<T>[],
  ) {
    this.#record = record
    this.#indexes = indexes
  }

  get size(): number {
    return this.#rows.size
  }

  get(id: string): T | undefined {
    return this.#rows.get(id)
  }

  values(): IterableIterator<T> {
    return this.#rows.values()
  }

  put(row: T): void {
    const before = this.#rows.get(row.id)
    this.#record({ table: this.name, id: row.id, before, after: row })
    this.#set(row.id, before, row)
  }

  remove(id: string): void {
    const before = this.#rows.get(id)
    if (!before) return
    this.#record({ table: this.name, id, before, after: undefined })
    this.#set(id, before, undefined)
  }

  /** Puts a row back as it was, without recording: for undoing and for replay. */
  restore(id: string, row: T | undefined): void {
    this.#set(id, this.#rows.get(id), row)
  }

  #set(id: string, before: T | undefined, after: T | undefined): void {
    if (after) this.#rows.set(id, after)
    else this.#rows.delete(id)
    for (const index of this.#indexes) index.update(before, after)
  }
}
