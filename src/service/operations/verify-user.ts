import { ServiceError } from '../../model/domain/errors.ts'
import { consume, pendingRequest } from '../../state/auth-requests.ts'
import { now } from '../../state/environment.ts'
import type { Call, Reply } from './operation.ts'

/** POST /connected_accounts/user/verify (4.7, 3.1): pending tokens become live, and the request id is consumed. */
export function verifyUser(call: Call<'verify_user'>): Reply {
  const { environment, body, trace } = call
  trace.authRequest = environment.model.tables.auth_requests.get(body.auth_request_id)
  const pending = pendingRequest(environment, body.auth_request_id)
  const { request, account } = pending
  trace.account = account
  if (body.identifier !== request.identifier) {
    trace.moved(account, 'verify_refused', now(environment))
    throw userMismatch()
  }
  consume(environment, pending, trace)
  const { post_user_verify_redirect_url } = environment.settings
  const redirect = post_user_verify_redirect_url || `${call.baseUrl()}/connect/success`
  return { status: 200, body: { post_user_verify_redirect_url: redirect } }
}

/** The message does not name the stored identifier: the caller may not be its owner. */
function userMismatch(): ServiceError {
  return new ServiceError(
    'IDENTIFIER_MISMATCH',
    'identifier is not the one that the magic link was made for; the request stays pending',
  )
}
