import type { FaultMaker } from './fault.ts'

/** The account becomes `DISCONNECTED`, and the third party refuses its credentials. */
export const disconnect: FaultMaker<'disconnect'> = () => ({
  kind: 'disconnect',
  sentence: 'makes the account DISCONNECTED',
  happen: (hands) => {
    hands.happen('disconnect')
  },
})
