/** Emptied when it is full. In a WeakMap the garbage collector would visit an entry for each of many accounts. */
export class BoundedCache<Key extends object, Value> {
  readonly #limit: number
  readonly #known = new Map<Key, Value>()

  constructor(limit: number) {
    this.#limit = limit
  }

  of(key: Key, compute: (key: Key) => Value): Value {
    const cached = this.#known.get(key)
    if (cached !== undefined) return cached
    const computed = compute(key)
    if (this.#known.size >= this.#limit) this.#known.clear()
    this.#known.set(key, computed)
    return computed
  }
}
