/** RFC 3339 in UTC with `Z` and three fractional digits (G54); such strings sort as the instants do. */
export type Instant = string

const LEAP_YEAR = String.raw`(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)`
const DAY = String.raw`(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))|${LEAP_YEAR}-02-29)`
const TIME = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)`
/** A `date-time` of RFC 3339, which is the format of that name in JSON Schema. */
export const DATE_TIME = new RegExp(`^${DAY}T${TIME}$`, 'i')

/** Where an environment's clock may be, in milliseconds. An instant plus the longest lifetime still has a year of four digits. */
export const CLOCK_RANGE = {
  earliest: Date.UTC(1970, 0, 1),
  latest: Date.UTC(7999, 11, 31, 23, 59, 59, 999),
} as const
/** For messages. */
export const CLOCK_YEARS = 'the years 1970 to 7999'

/** Of lifetimes and other durations, in milliseconds: ten years. */
export const MAX_DURATION = 10 * 366 * 86_400_000

export function instant(milliseconds: number): Instant {
  return new Date(milliseconds).toISOString()
}

/** Keeps the last instant: many requests fall into one millisecond, and each asks several times. */
export class InstantCache {
  #at = Number.NaN
  #instant: Instant = ''

  of(milliseconds: number): Instant {
    if (milliseconds !== this.#at) {
      this.#at = milliseconds
      this.#instant = instant(milliseconds)
    }
    return this.#instant
  }
}

export function milliseconds(at: Instant): number {
  return Date.parse(at)
}

/** The time of an ISO 8601 instant with its time zone: without one it would be another time on each machine. A day is in UTC. */
export function instantOf(text: string): number | undefined {
  const day = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(text)?.[1]
  const at = Date.parse(text)
  if (day === undefined || Number.isNaN(at)) return undefined
  // Date.parse reads the 30th of February as the 2nd of March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? at : undefined
}

export function isClockTime(at: number): boolean {
  return at >= CLOCK_RANGE.earliest && at <= CLOCK_RANGE.latest
}

/** Whether this time is an {@link Instant} with a year of four digits, as every time that is stored has to be. */
export function isStorableInstant(at: number): boolean {
  return at >= EARLIEST && at <= LATEST
}
const [EARLIEST, LATEST] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')]
