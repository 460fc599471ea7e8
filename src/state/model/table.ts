export interface Row {
  readonly id: string
}

/** An index over the rows of a table, in one environment or across all of them. */
export interface Index<T extends Row> {
  update(before: T | undefined, after: T | undefined): void
  /** Takes a row of the state file at the start. Without this method such a row is an update like any other. */
  load?(row: T): void
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

/**
 * Rows by id, in the order in which they were first put. Rows are immutable: a change puts another object.
 * `record` gets every change first, which refuses it outside a transaction.
 */
export class Table<T extends Row> {
  #slots = new Map<string, Slot<T>>()
  /** Whether a row came back in the middle, so that the map is no longer in order. */
  #shuffled = false
  #nextPlace = 0
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
    return this.#slots.size
  }

  get(id: string): T | undefined {
    return this.#slots.get(id)?.row
  }

  *values(): IterableIterator<T> {
    if (this.#shuffled) this.#sort()
    for (const slot of this.#slots.values()) yield slot.row
  }

  /** Each row with its place in the order, which no other row has had before it since the table was read. */
  *placed(): IterableIterator<readonly [place: number, row: T]> {
    if (this.#shuffled) this.#sort()
    for (const { place, row } of this.#slots.values()) yield [place, row]
  }

  put(row: T): void {
    const slot = this.#slots.get(row.id)
    this.#record({ table: this.name, id: row.id, before: slot?.row, after: row, place: slot?.place })
    this.#set(row, slot, undefined)
  }

  remove(id: string): void {
    const slot = this.#slots.get(id)
    if (!slot) return
    this.#record({ table: this.name, id, before: slot.row, after: undefined, place: slot.place })
    this.#delete(slot.row)
  }

  /** Puts a row back as it was, without recording: for undoing, with its old place, and for replay. */
  restore(id: string, row: T | undefined, place?: number): void {
    const slot = this.#slots.get(id)
    if (row) this.#set(row, slot, place)
    else if (slot) this.#delete(slot.row)
  }

  /** Puts a row of the state file. False when there is one with its id: the table cannot be used then. */
  load(row: T): boolean {
    const { size } = this.#slots
    this.#slots.set(row.id, { row, place: this.#nextPlace++ })
    if (this.#slots.size === size) return false
    for (const index of this.#indexes) {
      if (index.load) index.load(row)
      else index.update(undefined, row)
    }
    return true
  }

  #set(row: T, slot: Slot<T> | undefined, place: number | undefined): void {
    const before = slot?.row
    if (slot) slot.row = row
    else {
      this.#slots.set(row.id, { row, place: place ?? this.#nextPlace++ })
      if (place !== undefined) this.#shuffled = true
    }
    for (const index of this.#indexes) index.update(before, row)
  }

  #delete(row: T): void {
    this.#slots.delete(row.id)
    for (const index of this.#indexes) index.update(row, undefined)
  }

  #sort(): void {
    this.#slots = new Map([...this.#slots].sort(([, a], [, b]) => a.place - b.place))
    this.#shuffled = false
  }
}

/** Rows that are entered at once. */
const AT_ONCE = 1000

/**
 * Rows of a state file that wait to be entered into an index. A server that starts enters them while it serves, some in each
 * turn; a request that needs the index before has the rest entered first. With 100,000 accounts that is 150 of 1300 ms.
 */
export class DeferredRows<T> {
  readonly #enter: (row: T) => void
  #rows: T[] = []
  #entered = 0

  constructor(enter: (row: T) => void) {
    this.#enter = enter
  }

  add(row: T): void {
    this.#rows.push(row)
  }

  enterAll(): void {
    if (this.#rows.length > 0) this.#enterUpTo(this.#rows.length)
  }

  /** Enters some of those that wait; false when none do. */
  enterSome(): boolean {
    if (this.#rows.length === 0) return false
    this.#enterUpTo(Math.min(this.#rows.length, this.#entered + AT_ONCE))
    return true
  }

  #enterUpTo(end: number): void {
    const rows = this.#rows
    for (const row of rows.slice(this.#entered, end)) this.#enter(row)
    this.#entered = end
    if (end < rows.length) return
    this.#rows = []
    this.#entered = 0
  }
}
