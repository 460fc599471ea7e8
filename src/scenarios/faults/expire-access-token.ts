import type { FaultMaker } from './fault.ts'

/** Both sides see that the access token's time is over. */
export const expireAccessToken: FaultMaker<'expire_access_token'> = () => ({
  kind: 'expire_access_token',
  sentence: "expires the account's access token",
  happen: (hands) => {
    hands.happen('expire_access_token')
  },
})
