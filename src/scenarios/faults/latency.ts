import type { FaultMaker } from './fault.ts'

/** Waits before the request goes on. */
export const latency: FaultMaker<'latency'> = ({ min, max }) => ({
  kind: 'latency',
  sentence: min === max ? `waits ${min} ms before the answer` : `waits ${min} to ${max} ms before the answer`,
  delay: (chance) => (min === max ? min : Math.round(min + chance() * (max - min))),
})
