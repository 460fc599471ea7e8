import { defineFault } from './fault.ts'

/** The account becomes `EXPIRED`. */
export const expireAccount = defineFault({
  parameters: ({ noParameters }) => noParameters,
  description: 'The account becomes EXPIRED.',
  example: {},
  sentence: () => 'makes the account EXPIRED',
  phase: 'model',
  apply: (actions) => {
    actions.applyEvent('expire')
  },
})
