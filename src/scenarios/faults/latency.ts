import { defineFault } from './fault.ts'

/** Waits before the request goes on. */
export const latency = defineFault({
  parameters: ({ union, strict, wait, withRule }) =>
    union([
      wait.transform((ms) => ({ min: ms, max: ms })),
      strict({ ms: wait.describe('How long.') }).transform(({ ms }) => ({ min: ms, max: ms })),
      withRule(
        strict({ min: wait.describe('The shortest time.'), max: wait.describe('The longest time.') }),
        ({ min = 0, max = Infinity }, report) => {
          if (min > max) report(['max'], { allowed: `at least min, which is ${min}` })
        },
      ),
    ]),
  description:
    'A wait before the request goes on, in real time: a time, or {min, max} for a random time that repeats with --id-seed.',
  sentence: ({ min, max }) =>
    min === max ? `waits ${min} ms before the answer` : `waits ${min} to ${max} ms before the answer`,
  phase: 'wait',
  delay: ({ min, max }, random) => (min === max ? min : Math.round(min + random() * (max - min))),
})
