import { MAX_DURATION } from './instant.ts'

/** The longest time that a timer of Node.js can wait, in milliseconds: 24 days. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** What `parseDuration` takes, for messages. */
export const DURATION_FORMS =
  '90s, 15m, 2h, 1h30m, 1d, 250ms, an ISO 8601 duration such as PT5M, or a number of seconds; at most 10 years'

const SHORT = /^(?=\d)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/
const ISO = /^P(?=[\dT])(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/
const SECONDS = /^\d+(?:\.\d+)?$/

const SHORT_UNITS = [86_400_000, 3_600_000, 60_000, 1000, 1]
const ISO_UNITS = [604_800_000, 86_400_000, 3_600_000, 60_000, 1000]

/** Milliseconds; undefined for other texts and beyond ten years. Months and years have no fixed length. */
export function parseDuration(text: string | number): number | undefined {
  const written = String(text)
  if (SECONDS.test(written)) return boundedDuration(Number(written) * 1000)
  const short = SHORT.exec(written)
  if (short) return boundedDuration(totalDuration(short, SHORT_UNITS))
  const iso = ISO.exec(written)
  return iso ? boundedDuration(totalDuration(iso, ISO_UNITS)) : undefined
}

function totalDuration(parts: RegExpExecArray, units: readonly number[]): number {
  return units.reduce((sum, unit, index) => sum + Number(parts[index + 1] ?? 0) * unit, 0)
}

function boundedDuration(milliseconds: number): number | undefined {
  return milliseconds <= MAX_DURATION ? Math.round(milliseconds) : undefined
}
