import { generateKeyPair, hash, randomFillSync } from 'node:crypto'
import { promisify } from 'node:util'
import type { ClockState, IdsState } from '../../model/domain/generated/tables.ts'
import type { Clock, Ids } from '../../model/domain/ports.ts'
import {
  CLOCK_YEARS,
  type Instant,
  instant,
  InstantCache,
  isClockTime,
  milliseconds,
} from '../../model/domain/instant.ts'
import type { McpKey } from '../../model/domain/session-token.ts'

export type { ClockState } from '../../model/domain/generated/tables.ts'

/** Where real time comes from: milliseconds since the Unix epoch. */
export type TimeSource = () => number

/** The machine's own clock; nothing else in the project reads it. */
export const systemTime: TimeSource = () => Date.now()

/** Milliseconds that only go forward, also while the process is stopped; their beginning means nothing. */
export const monotonicTime: TimeSource = () => performance.now()

/** The one clock of an environment (1.3): real time moved by an offset, or frozen. */
export class EnvironmentClock implements Clock {
  readonly #source: TimeSource
  /** Stores what the clock is from now on, and has it taken over by `restore`. */
  readonly become: (state: ClockState) => void
  #offset = 0
  #frozenAt: number | null = null
  readonly #instants = new InstantCache()

  constructor(source: TimeSource = systemTime, state?: ClockState, change?: (to: ClockState) => void) {
    this.#source = source
    this.become = change ?? ((to) => this.restore(to))
    if (state) this.restore(state)
  }

  now(): number {
    return this.#frozenAt ?? this.#source() + this.#offset
  }

  instant(): Instant {
    return this.#instants.of(this.now())
  }

  get frozen(): boolean {
    return this.#frozenAt !== null
  }

  get state(): ClockState {
    return { offset_ms: this.#offset, frozen_at: this.#frozenAt === null ? null : instant(this.#frozenAt) }
  }

  /** A frozen clock stays frozen there. @throws RangeError outside the years that a clock may show */
  set(to: number): void {
    this.#move(to, this.frozen)
  }

  /** Moves time on by milliseconds; back when negative. */
  advance(by: number): void {
    this.#move(this.now() + by, this.frozen)
  }

  freeze(at: number = this.now()): void {
    this.#move(at, true)
  }

  run(): void {
    if (this.frozen) this.#move(this.now(), false)
  }

  /** Takes over what is stored. */
  restore(state: ClockState): void {
    this.#offset = state.offset_ms
    this.#frozenAt = state.frozen_at === null ? null : milliseconds(state.frozen_at)
  }

  #move(to: number, frozen: boolean): void {
    const at = Math.round(to)
    if (!isClockTime(at)) throw new RangeError(`a clock shows ${CLOCK_YEARS}`)
    this.become({ offset_ms: frozen ? 0 : at - this.#source(), frozen_at: frozen ? instant(at) : null })
  }
}

const ALPHABET = Buffer.from('abcdefghijklmnopqrstuvwxyz0123456789')
const ID_LENGTH = 20
const OPAQUE_BYTES = 32

/** Changes the bytes in place and decodes them at once: appending letter by letter would leave many strings to be joined. */
function idLetters(bytes: Buffer): string {
  for (let at = 0; at < bytes.length; at++) bytes[at] = ALPHABET[(bytes[at] ?? 0) % ALPHABET.length] ?? 0
  return bytes.toString('latin1')
}

/** Makes identifiers from 32 bytes at a time, which a subclass provides. */
abstract class ByteIds implements Ids {
  /** The next 32 bytes; they are valid until the next call. */
  protected abstract bytes(): Buffer

  id(prefix: string): string {
    return `${prefix}_${idLetters(this.bytes().subarray(0, ID_LENGTH))}`
  }

  opaque(): string {
    return this.bytes().toString('base64url')
  }

  uuid(): string {
    const hex = this.bytes().toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  }

  number(): number {
    return this.bytes().readUInt32LE(0)
  }
}

/** Random identifiers. Random bytes are fetched in blocks, because each fetch has a cost of its own. */
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

/** How many seeded ids are reserved at once: a commit stores that they may be given out before the first one is. */
const RESERVED_IDS = 1000

/** What is stored is always ahead of what was given out, so that a crash repeats no id (`--id-seed`). */
export class SeededIds extends ByteIds {
  readonly #name: string
  readonly #seed: number
  readonly #reserve: (upto: number, undo: () => void) => void
  #position: number
  #reserved: number

  /** @param reserve stores that ids up to a position may be given out; `undo` is called when the disk refuses */
  constructor(
    name: string,
    { seed, position }: IdsState,
    reserve: (upto: number, undo: () => void) => void = () => undefined,
  ) {
    super()
    this.#name = name
    this.#seed = seed
    this.#reserve = reserve
    this.#position = position
    this.#reserved = position
  }

  get state(): IdsState {
    return { seed: this.#seed, position: this.#position }
  }

  /** Where a restart after a crash goes on. */
  get reservedState(): IdsState {
    return { seed: this.#seed, position: this.#reserved }
  }

  /** The position never decreases, so that no id is given out twice. */
  skipTo(position: number): void {
    this.#position = Math.max(this.#position, position)
    this.#reserved = Math.max(this.#reserved, position)
  }

  protected bytes(): Buffer {
    this.#position += 1
    if (this.#position > this.#reserved) this.#reserveMore()
    return hash('sha256', `toolmock ids ${this.#seed} ${this.#position} ${this.#name}`, 'buffer')
  }

  #reserveMore(): void {
    const before = this.#reserved
    const upto = this.#position - 1 + RESERVED_IDS
    this.#reserve(upto, () => (this.#reserved = before))
    this.#reserved = upto
  }
}

/** A new RSA key for session tokens; it never repeats, also with seeded ids. Its id is its thumbprint (RFC 7638). */
export async function newMcpKey(): Promise<McpKey> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
  const id = hash('sha256', JSON.stringify({ e, kty: 'RSA', n }), 'base64url')
  return { id, n, e, private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}
