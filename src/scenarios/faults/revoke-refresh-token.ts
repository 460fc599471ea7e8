import { defineFault } from './fault.ts'

/** The next refresh is refused; the access token stays valid for as long as it lasts. */
export const revokeRefreshToken = defineFault({
  parameters: ({ noParameters }) => noParameters,
  description: "The third party revokes the account's refresh token.",
  example: {},
  sentence: () => "revokes the account's refresh token at the third party",
  phase: 'model',
  apply: (actions) => {
    actions.applyEvent('revoke_refresh_token')
  },
})
