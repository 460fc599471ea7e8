/** What several rounds gave: the middle one, and how far they lie apart. */
export interface Spread {
  median: number
  min: number
  max: number
  rounds: number
}

/** @throws Error when there is nothing to sum up */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const [min, max] = [sorted[0], sorted.at(-1)]
  if (min === undefined || max === undefined) throw new Error('no round was measured')
  return { median: middle(sorted), min, max, rounds: sorted.length }
}

export const medianOf = (values: readonly number[]): number => spreadOf(values).median

/** Round by round, so that what slows the machine down for a while slows both sides of a quotient. */
export function quotients(above: readonly number[], below: readonly number[]): number[] {
  if (above.length !== below.length) throw new Error('the two sides have different numbers of rounds')
  return above.map((value, round) => value / (below[round] ?? Number.NaN))
}

function middle(sorted: readonly number[]): number {
  const half = sorted.length / 2
  const upper = sorted[Math.floor(half)] ?? Number.NaN
  if (!Number.isInteger(half)) return upper
  return ((sorted[half - 1] ?? Number.NaN) + upper) / 2
}
