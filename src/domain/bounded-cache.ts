/**
 * What was worked out of things that never change, for those that were asked for of late: when it is full, it begins anew.
 * Not a WeakMap, which would keep something for each of 100,000 accounts, and which the garbage collector has to walk.
 */
export class BoundedCache<Key extends object, Value> {
  readonly #most: number
  readonly #known = new Map<Key, Value>()

  constructor(most: number) {
    this.#most = most
  }

  of(key: Key, work: (key: Key) => Value): Value {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const worked = work(key)
    if (this.#known.size >= this.#most) this.#known.clear()
    this.#known.set(key, worked)
    return worked
  }
}
