import { defineFault } from './fault.ts'

/** Waits before the request goes on. */
export const latency = defineFault({
  parameters: ({ z, strict, wait, withRule }) =>
    z.union([
      wait.transform((ms) => ({ min: ms, max: ms })),
      strict({ ms: wait }).transform(({ ms }) => ({ min: ms, max: ms })),
      withRule(strict({ min: wait, max: wait }), ({ min = 0, max = Infinity }, report) => {
        if (min > max) report(['max'], { allowed: `at least min, which is ${min}` })
      }),
    ]),
  description: 'Milliseconds, or {min, max}: a seeded random time between the two.',
  example: { min: '50ms', max: '2s' },
  sentence: ({ min, max }) =>
    min === max ? `waits ${min} ms before the answer` : `waits ${min} to ${max} ms before the answer`,
  phase: 'wait',
  delay: ({ min, max }, random) => (min === max ? min : Math.round(min + random() * (max - min))),
})
