import { hash, randomFillSync } from 'node:crypto'
import type { Ids } from '../../domain/ports.ts'

const ALPHABET = Buffer.from('abcdefghijklmnopqrstuvwxyz0123456789')
const ID_LENGTH = 20
const OPAQUE_BYTES = 32

/** Identifiers from 32 bytes of chance at a time, wherever the chance comes from. */
abstract class ByteIds implements Ids {
  /** The next 32 bytes; the caller is done with them before it asks again. */
  protected abstract bytes(): Buffer

  id(prefix: string): string {
    const bytes = this.bytes()
    // In place, and into text in one go: letter by letter would leave a chain of twenty strings to be joined, 0.6 KB an id.
    for (let at = 0; at < ID_LENGTH; at++) bytes[at] = ALPHABET[(bytes[at] ?? 0) % ALPHABET.length] ?? 0
    return `${prefix}_${bytes.toString('latin1', 0, ID_LENGTH)}`
  }

  opaque(): string {
    return this.bytes().toString('base64url')
  }

  number(): number {
    return this.bytes().readUInt32LE(0)
  }
}

/** Random identifiers; the chance is fetched in blocks, since each fetch costs more than what it brings. */
export class RandomIds extends ByteIds {
  readonly #block = Buffer.alloc(128 * OPAQUE_BYTES)
  #used = this.#block.length

  protected bytes(): Buffer {
    if (this.#used === this.#block.length) {
      randomFillSync(this.#block)
      this.#used = 0
    }
    this.#used += OPAQUE_BYTES
    return this.#block.subarray(this.#used - OPAQUE_BYTES, this.#used)
  }
}

/** Where a seeded sequence stands, as it is stored: a restart goes on from there and repeats nothing. */
export interface IdsState {
  seed: number
  /** How many were given out. */
  position: number
}

/** Identifiers that repeat between runs (`--id-seed`); each environment has its own sequence. */
export class SeededIds extends ByteIds {
  readonly #name: string
  readonly #seed: number
  #position: number

  constructor(environment: string, { seed, position }: IdsState) {
    super()
    this.#name = environment
    this.#seed = seed
    this.#position = position
  }

  get state(): IdsState {
    return { seed: this.#seed, position: this.#position }
  }

  /** Never goes back: what was given out once is not given out again. */
  skipTo(position: number): void {
    this.#position = Math.max(this.#position, position)
  }

  protected bytes(): Buffer {
    this.#position += 1
    return hash('sha256', `toolmock ids ${this.#seed} ${this.#position} ${this.#name}`, 'buffer')
  }
}

/**
 * Ids that belong to no environment, such as those of requests. Seeded they repeat between runs, each use in a sequence of its
 * own, so that the one does not change with the number of the others. The name of an environment has no space.
 */
export function serverIds(use: `${string} ${string}`, seed: number | undefined): Ids {
  return seed === undefined ? new RandomIds() : new SeededIds(use, { seed, position: 0 })
}
