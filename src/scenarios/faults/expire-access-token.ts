import { defineFault } from './fault.ts'

/** The access token is expired for the service and for the third party. */
export const expireAccessToken = defineFault({
  parameters: ({ noParameters }) => noParameters,
  description: "The account's access token has expired.",
  example: {},
  sentence: () => "expires the account's access token",
  phase: 'model',
  apply: (actions) => {
    actions.applyEvent('expire_access_token')
  },
})
