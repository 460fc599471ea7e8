import { type Account, updated, withLive, withoutPending } from '../domain/account.ts'
import { promoted } from '../domain/credentials.ts'
import { ServiceError } from '../domain/errors.ts'
import type { AuthRequest } from '../domain/magic-link.ts'
import { now } from '../state/environment.ts'
import type { Call, Reply } from './operation.ts'

type Context = Pick<Call<'verify_user'>, 'environment' | 'trace'>

/** POST /connected_accounts/user/verify (4.7, 3.1): pending tokens become live, and the request id is consumed. */
export function verifyUser(call: Call<'verify_user'>): Reply {
  const { environment, body, trace } = call
  const { request, account } = pendingRequest(call, body.auth_request_id)
  trace.account = account
  if (body.identifier !== request.identifier) {
    trace.moved(account, 'verify_refused', now(environment))
    throw mismatch()
  }
  consume(call, request, account)
  const { post_user_verify_redirect_url } = environment.settings
  const redirect = post_user_verify_redirect_url || `${call.baseUrl()}/connect/success`
  return { status: 200, body: { post_user_verify_redirect_url: redirect } }
}

/** Verifies a pending auth request in place of its application, as a scenario does. @throws ServiceError AUTH_REQUEST_NOT_FOUND */
export function consumeAuthRequest(context: Context, id: string): void {
  const { request, account } = pendingRequest(context, id)
  context.trace.forcing(() => {
    consume(context, request, account)
  })
}

function consume({ environment, trace }: Context, request: AuthRequest, account: Account): void {
  environment.model.transact(() => {
    const { tables } = environment.model
    const at = now(environment)
    const { pending } = account
    const live = pending
      ? withLive(account, { ...pending, credentials: promoted(account.credentials, pending.credentials) })
      : account
    tables.accounts.put(trace.moved(updated(account, withoutPending(live), at), 'verified', at))
    tables.auth_requests.put({ ...request, outcome: 'consumed' })
  })
}

/** How the 404 describes each outcome of an auth request. */
const ENDED = {
  consumed: 'was verified before; each id works once',
  expired: 'has expired; send the user through a new magic link',
  superseded: 'was superseded by a later consent of the same account',
  withdrawn: 'ended when its account was disconnected; send the user through a new magic link',
} as const

function pendingRequest({ environment }: Context, id: string): { request: AuthRequest; account: Account } {
  const { tables } = environment.model
  const request = tables.auth_requests.get(id)
  const account = request && tables.accounts.get(request.account_id)
  if (!request || !account)
    throw new ServiceError('AUTH_REQUEST_NOT_FOUND', 'there is no pending flow with this auth_request_id')
  if (request.outcome !== 'pending') {
    throw new ServiceError('AUTH_REQUEST_NOT_FOUND', `this auth_request_id ${ENDED[request.outcome]}`)
  }
  return { request, account }
}

/** The message does not name the stored identifier: the caller may not be its owner. */
function mismatch(): ServiceError {
  return new ServiceError(
    'IDENTIFIER_MISMATCH',
    'identifier is not the one that the magic link was made for; the request stays pending',
  )
}
