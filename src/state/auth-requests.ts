import { type Account, updatedAccount, withLive, withoutPending } from '../model/domain/account.ts'
import { promotedCredentials } from '../model/domain/credentials.ts'
import { ServiceError } from '../model/domain/errors.ts'
import { instant } from '../model/domain/instant.ts'
import type { AuthRequest } from '../model/domain/generated/tables.ts'
import type { RequestTrace } from '../model/domain/request-trace.ts'
import { type Environment, now } from './environment.ts'

interface PendingRequest {
  readonly request: AuthRequest
  readonly account: Account
}

/** Stores the account's identifier, also when another person signed in (G32, G57). Only inside a transaction. */
export function newAuthRequest({ model, ids, clock, settings }: Environment, account: Account): string {
  const id = ids.opaque()
  model.tables.auth_requests.put({
    id,
    account_id: account.id,
    identifier: account.identifier,
    expires_at: instant(clock.now() + settings.auth_request_lifetime),
    outcome: 'pending',
  })
  return id
}

/** The flow that waits for verification under this id. @throws ServiceError AUTH_REQUEST_NOT_FOUND */
export function pendingRequest(environment: Environment, id: string): PendingRequest {
  const { tables } = environment.model
  const request = tables.auth_requests.get(id)
  const account = request && tables.accounts.get(request.account_id)
  if (!request || !account) throw authRequestNotFound('there is no pending flow with this auth_request_id')
  if (request.outcome !== 'pending') throw authRequestNotFound(`this auth_request_id ${ENDED[request.outcome]}`)
  return { request, account }
}

/** Clients look for the first words. */
function authRequestNotFound(reason: string): ServiceError {
  return new ServiceError('AUTH_REQUEST_NOT_FOUND', `auth request not found or no longer valid: ${reason}`)
}

/** How the 404 describes each outcome of an auth request. */
const ENDED = {
  consumed: 'was verified before; each id works once',
  expired: 'has expired; send the user through a new magic link',
  superseded: 'was superseded by a later consent of the same account',
  withdrawn:
    'ended when its account was disconnected or got another authorization type; send the user through a new magic link',
} as const

/** The account's pending tokens become live, and the request id is used up (3.1). */
export function consume(environment: Environment, { request, account }: PendingRequest, trace: RequestTrace): void {
  environment.model.transact(() => {
    const { tables } = environment.model
    const at = now(environment)
    const { pending } = account
    const live = pending
      ? withLive(account, { ...pending, credentials: promotedCredentials(account.credentials, pending.credentials) })
      : account
    tables.accounts.put(trace.moved(updatedAccount(account, withoutPending(live), at), 'verified', at))
    tables.auth_requests.put({ ...request, outcome: 'consumed' })
  }, trace)
}
