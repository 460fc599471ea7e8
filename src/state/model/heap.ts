/** A binary heap: the item that comes before all others is at hand, whatever the order they were pushed in. */
export class Heap<T> {
  readonly #items: T[] = []
  readonly #before: (a: T, b: T) => boolean

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before
  }

  get size(): number {
    return this.#items.length
  }

  get first(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    let at = this.#items.push(item) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#swapUnlessInOrder(parent, at)) return
      at = parent
    }
  }

  pop(): T | undefined {
    const first = this.#items[0]
    const last = this.#items.pop()
    if (last === undefined || this.#items.length === 0) return first
    this.#items[0] = last
    for (let at = 0; ;) {
      const child = this.#smallerChild(at)
      if (child >= this.#items.length || !this.#swapUnlessInOrder(at, child)) return first
      at = child
    }
  }

  #smallerChild(at: number): number {
    const left = 2 * at + 1
    const [a, b] = [this.#items[left], this.#items[left + 1]]
    return a !== undefined && b !== undefined && this.#before(b, a) ? left + 1 : left
  }

  #swapUnlessInOrder(upper: number, lower: number): boolean {
    const [a, b] = [this.#items[upper], this.#items[lower]]
    if (a === undefined || b === undefined || !this.#before(b, a)) return false
    this.#items[upper] = b
    this.#items[lower] = a
    return true
  }
}
