/** RFC 3339 in UTC with `Z` and three fractional digits (G54); such strings sort as the instants do. */
export type Instant = string

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

export function milliseconds(at: Instant): number {
  return Date.parse(at)
}

export function isClockTime(at: number): boolean {
  return at >= CLOCK_RANGE.earliest && at <= CLOCK_RANGE.latest
}

/** Whether this time is an {@link Instant} with a year of four digits, as every time that is stored has to be. */
export function isStorableInstant(at: number): boolean {
  return at >= EARLIEST && at <= LATEST
}
const [EARLIEST, LATEST] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')]
