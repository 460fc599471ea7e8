import { defineFault } from './fault.ts'

/** Every bearer token of the environment is unknown from now on, that of this request too. */
export const revokeBearerTokens = defineFault({
  parameters: ({ noParameters }) => noParameters,
  description: 'Every bearer token of the environment is revoked.',
  example: {},
  sentence: () => 'revokes every bearer token',
  phase: 'model',
  apply: (actions) => {
    actions.revokeBearerTokens()
  },
})
