import type { Reach, Tally } from '../documents/report-schemas.ts'

/** How far something has been reached, in a byte: the further one wins. */
export const NEVER = 0
export const INJECTED = 1
export const DRIVEN = 2
export type Level = typeof NEVER | typeof INJECTED | typeof DRIVEN

const NAMES: Readonly<Record<Level, Reach>> = { [NEVER]: 'never', [INJECTED]: 'injected_only', [DRIVEN]: 'driven' }

export function reachOf(level: Level | undefined): Reach {
  return NAMES[level ?? NEVER]
}

/** Answers of the mock's own, and answers that a scenario gave. */
export interface Times {
  own: number
  injected: number
}

export function levelOf(times: Times | undefined): Level {
  if (!times) return NEVER
  if (times.own > 0) return DRIVEN
  return times.injected > 0 ? INJECTED : NEVER
}

export function tallyOf(reached: readonly { readonly reach: Reach }[]): Tally {
  const tally = { total: reached.length, driven: 0, injected_only: 0, never: 0 }
  for (const { reach } of reached) tally[reach] += 1
  return tally
}
