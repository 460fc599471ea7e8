import { type ModelActions, plainFault } from './fault.ts'

/** A fault without parameters that changes the model. */
function modelFault(description: string, does: string, apply: (actions: ModelActions) => void) {
  return plainFault(description, does, { phase: 'model', apply })
}

/** For the service and for the third party. */
export const expireAccessToken = modelFault(
  "The account's access token has expired.",
  "expires the account's access token",
  (actions) => actions.applyEvent('expire_access_token'),
)

export const expireAccount = modelFault('The account becomes EXPIRED.', 'makes the account EXPIRED', (actions) =>
  actions.applyEvent('expire'),
)

/** The next refresh is refused; the access token stays valid for as long as it lasts. */
export const revokeRefreshToken = modelFault(
  "The third party revokes the account's refresh token.",
  "revokes the account's refresh token at the third party",
  (actions) => actions.applyEvent('revoke_refresh_token'),
)

export const disconnect = modelFault(
  'The account becomes DISCONNECTED, and the third party refuses its credentials.',
  'makes the account DISCONNECTED',
  (actions) => actions.applyEvent('disconnect'),
)

export const consumeAuthRequest = modelFault(
  'The auth request of a verify_user is consumed, as by a verify before this one: the account is ACTIVE.',
  'consumes the auth request as a verify before this one does',
  (actions) => actions.consumeAuthRequest(),
)

/** That of this request too. */
export const revokeBearerTokens = modelFault(
  'Every bearer token of the environment is revoked.',
  'revokes every bearer token',
  (actions) => actions.revokeBearerTokens(),
)
