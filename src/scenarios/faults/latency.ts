import { defineFault } from './fault.ts'

export const latency = defineFault({
  parameters: ({ union, strict, wait, waitRange }) =>
    union([
      wait.transform((ms) => ({ min: ms, max: ms })),
      strict({ ms: wait.describe('How long.') }).transform(({ ms }) => ({ min: ms, max: ms })),
      // As the others, so that the schema library leaves the choice of the alternative that was meant to us.
      waitRange.transform(({ min, max }) => ({ min, max })),
    ]),
  description:
    'A wait before the request goes on, in real time: a time, or {min, max} for a random time that repeats with --id-seed.',
  sentence: ({ min, max }) =>
    min === max ? `waits ${min} ms before the answer` : `waits ${min} to ${max} ms before the answer`,
  phase: 'wait',
  delay: ({ min, max }, random) => (min === max ? min : Math.round(min + random() * (max - min))),
})
