/** How many requests are wanted: exactly so many, or a range of which one end may be absent. */
export type WantedTimes = number | { readonly at_least?: number | undefined; readonly at_most?: number | undefined }

export interface TimesRange {
  readonly least: number
  readonly most: number
}

export function timesRange(times: WantedTimes): TimesRange {
  if (typeof times === 'number') return { least: times, most: times }
  return { least: times.at_least ?? 0, most: times.at_most ?? Infinity }
}

export function isWithin({ least, most }: TimesRange, count: number): boolean {
  return count >= least && count <= most
}

/** `exactly 2`, `at least 1`, `2 to 4`. */
export function timesText(times: WantedTimes): string {
  const { least, most } = timesRange(times)
  if (least === most) return `exactly ${least}`
  if (most === Infinity) return `at least ${least}`
  return least === 0 ? `at most ${most}` : `${least} to ${most}`
}
