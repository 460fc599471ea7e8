/** The median, the minimum and the maximum of several rounds. */
export interface Spread {
  median: number
  min: number
  max: number
  rounds: number
}

/** @throws Error when there are no values */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const [min, max] = [sorted[0], sorted.at(-1)]
  if (min === undefined || max === undefined) throw new Error('no round was measured')
  return { median: middle(sorted), min, max, rounds: sorted.length }
}

export const medianOf = (values: readonly number[]): number => spreadOf(values).median

/** The quotients round by round, so that a slow period of the machine affects both sides of a quotient. */
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
