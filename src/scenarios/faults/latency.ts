import type { FaultMaker } from './fault.ts'

/** Waits before the request goes on. */
export const latency: FaultMaker<'latency'> = ({ min, max }) => ({
  kind: 'latency',
  sentence: min === max ? `waits ${min} ms before the answer` : `waits ${min} to ${max} ms before the answer`,
  before: ({ response, pauses, chance }) => pauses.wait(Math.round(min + chance() * (max - min)), response),
})
