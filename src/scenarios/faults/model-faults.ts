import { MCP_SESSION_HEADER } from '../../model/domain/request-headers.ts'
import { valueAt } from '../../model/domain/value-match.ts'
import { type AccountEvent, applyAccountEvent } from '../../state/account-events.ts'
import { consume, pendingRequest } from '../../state/auth-requests.ts'
import { type FaultTarget, faultWithoutParameters } from './fault.ts'
import { textAt } from '../../model/domain/json.ts'

/** A fault without parameters that changes the model. */
function modelFault(description: string, does: string, apply: (target: FaultTarget) => void) {
  return faultWithoutParameters(description, does, { phase: 'model', apply })
}

/** An event of the account that the request is about. */
function accountFault(description: string, does: string, event: AccountEvent) {
  return modelFault(description, does, ({ environment, request }) => {
    const account = request.account && environment.model.tables.accounts.get(request.account.id)
    if (!account) throw new Error('the request is about no connected account that there is')
    applyAccountEvent(environment, account, event, request.trace)
  })
}

/** For the service and for the third party. */
export const expireAccessToken = accountFault(
  "The account's access token has expired.",
  "expires the account's access token",
  'expire_access_token',
)

export const expireAccount = accountFault('The account becomes EXPIRED.', 'makes the account EXPIRED', 'expire')

/** The next refresh is refused; the access token stays valid for as long as it lasts. */
export const revokeRefreshToken = accountFault(
  "The third party revokes the account's refresh token.",
  "revokes the account's refresh token at the third party",
  'revoke_refresh_token',
)

export const disconnect = accountFault(
  'The account becomes DISCONNECTED, and the third party refuses its credentials.',
  'makes the account DISCONNECTED',
  'disconnect',
)

export const consumeAuthRequest = modelFault(
  'The auth request of a verify_user is consumed, as by a verify before this one: the account is ACTIVE.',
  'consumes the auth request as a verify before this one does',
  ({ environment, request: { body, trace } }) => {
    const id = valueAt(body, 'auth_request_id')
    if (typeof id !== 'string') throw new Error('the request names no auth_request_id')
    const pending = pendingRequest(environment, id)
    trace.forcing(() => consume(environment, pending, trace))
  },
)

/** That of this request too. */
export const revokeBearerTokens = modelFault(
  'Every bearer token of the environment is revoked.',
  'revokes every bearer token',
  ({ environment: { clock, model } }) => {
    const { bearer_tokens } = model.tables
    const revoked_at = clock.instant()
    model.transact(() => {
      for (const token of [...bearer_tokens.values()]) bearer_tokens.put({ revoked_at, ...token })
    })
  },
)

/** That of this request: its server has no such session from now on. */
export const expireMcpSession = modelFault(
  'The session of MCP that the request names has ended.',
  'ends the MCP session of the request',
  ({ environment, request: { headers } }) => {
    if (environment.mcpSessions.delete(textAt(headers, MCP_SESSION_HEADER))) return
    throw new Error('the request is of no session; the setting mcp.sessions gives clients one')
  },
)
