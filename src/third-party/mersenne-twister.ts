import type { Randomizer } from '@faker-js/faker'

const SIZE = 624
const MIDDLE = 397

/**
 * The numbers of the library's own generator (MT19937, 53 bits each), word by word as they are asked for. The library makes all
 * 624 words of a seed anew for the few that one value takes: 30 µs for each value, which was a tenth of a tool execution.
 */
export class MersenneTwister implements Randomizer {
  readonly #words = new Uint32Array(SIZE)
  /** How many words follow from the seed so far. */
  #seeded = 1
  #at = 0

  seed(seed: number | number[]): void {
    if (typeof seed !== 'number') throw new TypeError('generated data is seeded with one number')
    this.#words[0] = seed
    this.#seeded = 1
    this.#at = 0
  }

  next(): number {
    const high = this.#next() >>> 5
    const low = this.#next() >>> 6
    return (high * 2 ** 26 + low) / 2 ** 53
  }

  #next(): number {
    const at = this.#at
    this.#seedUpTo(Math.min(at + MIDDLE, SIZE - 1))
    const mixed = (this.#word(at) & 0x80000000) | (this.#word((at + 1) % SIZE) & 0x7fffffff)
    let word = this.#word((at + MIDDLE) % SIZE) ^ (mixed >>> 1) ^ (mixed & 1 ? 0x9908b0df : 0)
    this.#words[at] = word
    this.#at = (at + 1) % SIZE
    word ^= word >>> 11
    word ^= (word << 7) & 0x9d2c5680
    word ^= (word << 15) & 0xefc60000
    return (word ^ (word >>> 18)) >>> 0
  }

  #seedUpTo(last: number): void {
    for (; this.#seeded <= last; this.#seeded++) {
      const before = this.#word(this.#seeded - 1)
      this.#words[this.#seeded] = Math.imul(1812433253, before ^ (before >>> 30)) + this.#seeded
    }
  }

  #word(at: number): number {
    return this.#words[at] ?? 0
  }
}
