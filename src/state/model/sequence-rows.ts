const PART = 1024

/** Rows by their sequence. Sequences are mostly given one after the other, so that lists hold them in less than a map would. */
export class SequenceRows<T> {
  readonly #parts = new Map<number, (T | undefined)[]>()
  /** The part that was used last: the next row is mostly beside it. */
  #latest: { number: number; part: (T | undefined)[] } = { number: Number.NaN, part: [] }

  get(sequence: number): T | undefined {
    const number = Math.floor(sequence / PART)
    return this.#part(number)?.[sequence - number * PART]
  }

  set(sequence: number, row: T): void {
    const number = Math.floor(sequence / PART)
    let part = this.#part(number)
    if (!part) this.#parts.set(number, (part = []))
    const place = sequence - number * PART
    while (part.length < place) part.push(undefined)
    part[place] = row
  }

  delete(sequence: number): void {
    const number = Math.floor(sequence / PART)
    const part = this.#part(number)
    const place = sequence - number * PART
    if (!part || place >= part.length) return
    part[place] = undefined
    if (part.some((row) => row !== undefined)) return
    this.#parts.delete(number)
    this.#latest = { number: Number.NaN, part: [] }
  }

  /** In no particular order. */
  *values(): IterableIterator<T> {
    for (const part of this.#parts.values()) {
      for (const row of part) if (row !== undefined) yield row
    }
  }

  #part(number: number): (T | undefined)[] | undefined {
    if (this.#latest.number === number) return this.#latest.part
    const part = this.#parts.get(number)
    if (part) this.#latest = { number, part }
    return part
  }
}
