import type { FaultMaker } from './fault.ts'

/** The environment's clock moves on, and what falls due happens. */
export const advanceClock: FaultMaker<'advance_clock'> = ({ by }) => ({
  kind: 'advance_clock',
  sentence: `moves the clock on by ${by / 1000} s`,
  happen: (hands) => {
    hands.advance(by)
  },
})
