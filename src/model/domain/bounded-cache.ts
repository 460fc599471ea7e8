/**
 * Caches values that are computed from immutable objects. When it is full, it is emptied. A WeakMap would keep an entry
 * for each of many accounts, and the garbage collector would have to visit them.
 */
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
