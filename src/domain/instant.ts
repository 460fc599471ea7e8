/** RFC 3339 in UTC with `Z` and three fractional digits (G54); such strings sort as the instants do. */
export type Instant = string

export function instant(milliseconds: number): Instant {
  return new Date(milliseconds).toISOString()
}

export function milliseconds(at: Instant): number {
  return Date.parse(at)
}
