export interface Row {
  readonly id: string
}

/** An index over the rows of a table, in one environment or across all of them. */
export interface Index<T extends Row> {
  update(before: T | undefined, after: T | undefined): void
}

/** One row of one table, before and after; the unit that is undone, logged and replayed. */
export interface Change {
  table: string
  id: string
  before: Row | undefined
  after: Row | undefined
  /** The place of `before` in the table's order, so that undoing a removal puts the row where it was. */
  place: number | undefined
}

interface Slot<T> {
  row: T
  /** Grows from row to row in the table's order. */
  readonly place: number
}

/** In the order in which they were first put. Rows are immutable; `record` refuses changes outside a transaction. */
export class Table<T extends Row> {
  #slots = new Map<string, Slot<T>>()
  /** Whether a row came back in the middle, so that the map is no longer in order. */
  #isUnsorted = false
  #nextPlace = 0
  readonly #indexes: readonly Index<T>[]
  readonly #onChange: (change: Change) => void

  constructor(
    readonly name: string,
    onChange: (change: Change) => void,
    indexes: readonly Index<T>[],
  ) {
    this.#onChange = onChange
    this.#indexes = indexes
  }

  get size(): number {
    return this.#slots.size
  }

  get(id: string): T | undefined {
    return this.#slots.get(id)?.row
  }

  ids(): string[] {
    if (this.#isUnsorted) this.#sort()
    return [...this.#slots.keys()]
  }

  /** All rows. With many of them an array is several times faster than a generator. */
  values(): T[] {
    if (this.#isUnsorted) this.#sort()
    const rows: T[] = []
    for (const { row } of this.#slots.values()) rows.push(row)
    return rows
  }

  /** Each row with its place in the order, which no other row has had before it since the table was read. */
  *placed(): IterableIterator<readonly [place: number, row: T]> {
    if (this.#isUnsorted) this.#sort()
    for (const { place, row } of this.#slots.values()) yield [place, row]
  }

  put(row: T): void {
    const slot = this.#slots.get(row.id)
    this.#onChange({ table: this.name, id: row.id, before: slot?.row, after: row, place: slot?.place })
    this.#set(row, slot, undefined)
  }

  remove(id: string): void {
    const slot = this.#slots.get(id)
    if (!slot) return
    this.#onChange({ table: this.name, id, before: slot.row, after: undefined, place: slot.place })
    this.#delete(slot.row)
  }

  /** Puts a row back as it was, without recording: for undoing, with its old place, and for replay. */
  restore(id: string, row: T | undefined, place?: number): void {
    const slot = this.#slots.get(id)
    if (row) this.#set(row, slot, place)
    else if (slot) this.#delete(slot.row)
  }

  /** Puts a row of the state file, which has no other one with its id. */
  load(row: T): void {
    this.#slots.set(row.id, { row, place: this.#nextPlace++ })
    for (const index of this.#indexes) index.update(undefined, row)
  }

  #set(row: T, slot: Slot<T> | undefined, place: number | undefined): void {
    const before = slot?.row
    if (slot) slot.row = row
    else {
      this.#slots.set(row.id, { row, place: place ?? this.#nextPlace++ })
      if (place !== undefined) this.#isUnsorted = true
    }
    for (const index of this.#indexes) index.update(before, row)
  }

  #delete(row: T): void {
    this.#slots.delete(row.id)
    for (const index of this.#indexes) index.update(row, undefined)
  }

  #sort(): void {
    this.#slots = new Map([...this.#slots].sort(([, a], [, b]) => a.place - b.place))
    this.#isUnsorted = false
  }
}
