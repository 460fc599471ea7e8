import { defineFault } from './fault.ts'

/** Revokes every bearer token of the environment, that of this request too. */
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
