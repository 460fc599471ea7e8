import type { FaultMaker } from './fault.ts'

/** Every bearer token of the environment is unknown from now on, that of this request too. */
export const revokeBearerTokens: FaultMaker<'revoke_bearer_tokens'> = () => ({
  kind: 'revoke_bearer_tokens',
  sentence: 'revokes every bearer token',
  happen: (hands) => {
    hands.revokeBearerTokens()
  },
})
