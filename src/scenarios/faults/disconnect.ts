import { defineFault } from './fault.ts'

/** The account becomes `DISCONNECTED`, and the third party refuses its credentials. */
export const disconnect = defineFault({
  parameters: ({ noParameters }) => noParameters,
  description: 'The account becomes DISCONNECTED, and the third party refuses its credentials.',
  example: {},
  sentence: () => 'makes the account DISCONNECTED',
  phase: 'model',
  apply: (actions) => {
    actions.applyEvent('disconnect')
  },
})
