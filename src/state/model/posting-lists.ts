import { SequenceList } from './sequence-list.ts'

const NONE = SequenceList.of([])

/** Which rows have a value in one field, by value. A value that only one row has costs no list. */
export class PostingLists {
  readonly #byValue = new Map<string, number | SequenceList>()

  add(value: string, sequence: number): void {
    const present = this.#byValue.get(value)
    if (present === undefined) this.#byValue.set(value, sequence)
    else if (typeof present !== 'number') present.add(sequence)
    else if (present !== sequence) {
      const list = SequenceList.of([present])
      list.add(sequence)
      this.#byValue.set(value, list)
    }
  }

  remove(value: string, sequence: number): void {
    const present = this.#byValue.get(value)
    if (present === sequence) this.#byValue.delete(value)
    else if (typeof present === 'object') {
      present.remove(sequence)
      if (present.size === 0) this.#byValue.delete(value)
    }
  }

  /** The rows with a value; not to be changed. */
  list(value: string): SequenceList {
    const present = this.#byValue.get(value)
    if (present === undefined) return NONE
    return typeof present === 'number' ? SequenceList.of([present]) : present
  }

  get size(): number {
    return this.#byValue.size
  }

  values(): IterableIterator<string> {
    return this.#byValue.keys()
  }
}
