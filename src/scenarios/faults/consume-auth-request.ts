import { defineFault } from './fault.ts'

/** The auth request of this verify is consumed, as by a verify before this one. */
export const consumeAuthRequest = defineFault({
  parameters: ({ noParameters }) => noParameters,
  description: 'The auth request of a verify_user is consumed, as by a verify before this one: the account is ACTIVE.',
  example: {},
  sentence: () => 'consumes the auth request as a verify before this one does',
  phase: 'model',
  apply: (actions) => {
    actions.consumeAuthRequest()
  },
})
