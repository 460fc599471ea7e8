import type { FaultMaker } from './fault.ts'

/** The account becomes `EXPIRED`. */
export const expireAccount: FaultMaker<'expire_account'> = () => ({
  kind: 'expire_account',
  sentence: 'makes the account EXPIRED',
  happen: (hands) => {
    hands.happen('expire')
  },
})
