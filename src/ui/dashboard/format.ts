/** Texts for numbers and times. Times are UTC, as the mock sends them. */

const pad = (value: number, digits = 2): string => String(value).padStart(digits, '0')

/** `12:00:03.120`; empty for no time. */
export function timeOf(instant: string | number): string {
  return iso(instant).slice(11, 23)
}

/** `2026-01-31`. */
export function dayOf(instant: string | number): string {
  return iso(instant).slice(0, 10)
}

/** `2026-01-31 12:00:03`. */
export function momentOf(instant: string | number): string {
  return `${dayOf(instant)} ${iso(instant).slice(11, 19)}`
}

function iso(instant: string | number): string {
  const date = new Date(instant)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}

/** `1.2 s`, `340 ms`, `<1 ms`. */
export function tookOf(milliseconds: number): string {
  if (milliseconds >= 10_000) return `${Math.round(milliseconds / 1000)} s`
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`
  return milliseconds < 1 ? '<1 ms' : `${Math.round(milliseconds)} ms`
}

const DAY = 86_400_000

/** How long one instant is after another: `2 y 33 d`, `2 d 04 h`, `1 h 05 min`, `4 min 09 s`, `9 s`. */
function spanOf(from: number, to: number): string {
  const anniversary = (year: number): number => new Date(from).setUTCFullYear(year)
  const [start, end] = [from, to].map((instant) => new Date(instant).getUTCFullYear()) as [number, number]
  const last = anniversary(end) > to ? end - 1 : end
  if (last > start) return `${last - start} y ${Math.floor((to - anniversary(last)) / DAY)} d`
  const seconds = Math.floor((to - from) / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  if (hours >= 24) return `${Math.floor(hours / 24)} d ${pad(hours % 24)} h`
  if (hours > 0) return `${hours} h ${pad(minutes % 60)} min`
  return minutes > 0 ? `${minutes} min ${pad(seconds % 60)} s` : `${seconds} s`
}

/** `in 4 min 09 s`, `9 s ago`. */
export function distanceOf(instant: number, now: number): string {
  return instant > now ? `in ${spanOf(now, instant)}` : `${spanOf(instant, now)} ago`
}

export function wordsOf(name: string): string {
  return name.replaceAll('_', ' ').toLowerCase()
}

/** The colour of a status, which is always shown as text as well. */
export function toneOf(status: number): 'success' | 'info' | 'warning' | 'error' {
  if (status === 0 || status >= 500) return 'error'
  if (status >= 400) return 'warning'
  return status >= 300 ? 'info' : 'success'
}
