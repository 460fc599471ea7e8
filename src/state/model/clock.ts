import { CLOCK_YEARS, type Instant, instant, isClockTime, milliseconds } from '../../domain/instant.ts'
import type { Clock } from '../../domain/ports.ts'

/** Where real time comes from: milliseconds since the Unix epoch. */
export type TimeSource = () => number

/** The machine's own clock; nothing else in the project reads it. */
export const systemTime: TimeSource = () => Date.now()

/** A clock as it is stored: so far off real time, or standing still. */
export interface ClockState {
  /** Added to real time while the clock runs; 0 while it is frozen. */
  offset_ms: number
  /** Null while the clock runs. */
  frozen_at: Instant | null
}

/** The one clock of an environment (1.3): real time moved by an offset, or frozen. */
export class EnvironmentClock implements Clock {
  readonly #source: TimeSource
  readonly #changed: (before: ClockState) => void
  #offset = 0
  #frozenAt: number | null = null
  #told: { readonly at: number; readonly instant: Instant } = { at: Number.NaN, instant: '' }

  /** `changed` is told what the clock was before each change, once the change is made. */
  constructor(
    source: TimeSource = systemTime,
    state?: ClockState,
    changed: (before: ClockState) => void = () => undefined,
  ) {
    this.#source = source
    this.#changed = changed
    if (state) this.restore(state)
  }

  now(): number {
    return this.#frozenAt ?? this.#source() + this.#offset
  }

  instant(): Instant {
    const now = this.now()
    // Every request asks several times, and many fall into one millisecond.
    if (now !== this.#told.at) this.#told = { at: now, instant: instant(now) }
    return this.#told.instant
  }

  get frozen(): boolean {
    return this.#frozenAt !== null
  }

  get state(): ClockState {
    return { offset_ms: this.#offset, frozen_at: this.#frozenAt === null ? null : instant(this.#frozenAt) }
  }

  /**
   * Goes to another time; a frozen clock stays frozen there.
   * @throws RangeError outside the years that a clock may show
   */
  set(to: number): void {
    this.#move(to, this.frozen)
  }

  /** Moves time on by milliseconds; back when negative. */
  advance(by: number): void {
    this.#move(this.now() + by, this.frozen)
  }

  /** Stops the clock, at `at` or where it is. */
  freeze(at: number = this.now()): void {
    this.#move(at, true)
  }

  /** Lets the clock run on from where it is. */
  run(): void {
    if (this.frozen) this.#move(this.now(), false)
  }

  /** Takes over a stored state, without telling anybody. */
  restore(state: ClockState): void {
    this.#offset = state.offset_ms
    this.#frozenAt = state.frozen_at === null ? null : milliseconds(state.frozen_at)
  }

  #move(to: number, frozen: boolean): void {
    const at = Math.round(to)
    if (!isClockTime(at)) throw new RangeError(`a clock shows ${CLOCK_YEARS}`)
    const before = this.state
    this.#frozenAt = frozen ? at : null
    this.#offset = frozen ? 0 : at - this.#source()
    this.#changed(before)
  }
}
