import type { FaultMaker } from './fault.ts'

/** The next refresh is refused; the access token stays good for as long as it lasts. */
export const revokeRefreshToken: FaultMaker<'revoke_refresh_token'> = () => ({
  kind: 'revoke_refresh_token',
  sentence: "revokes the account's refresh token at the third party",
  happen: (hands) => {
    hands.happen('revoke_refresh_token')
  },
})
