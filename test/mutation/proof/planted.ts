/** The code that the proof of `run.ts` mutates. Its test has a value far below the limit and one far above, and not the limit. */
export function isAllowed(value: number): boolean {
  return value <= 10
}
