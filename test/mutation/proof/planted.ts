/** What the proof of `run.ts` mutates: its test knows a value far below the limit and one far above, and not the limit itself. */
export function isAllowed(value: number): boolean {
  return value <= 10
}
