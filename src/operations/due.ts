import { type Account, withoutPending } from '../domain/account.ts'
import type { Instant } from '../domain/instant.ts'
import { moved } from '../domain/lifecycle.ts'
import { RequestTrace } from '../domain/request-trace.ts'
import { accountDue, type DueItem } from '../state/model/due-index.ts'
import { type Environment, now } from '../state/environment.ts'

/** One thing that fell due when time moved on, for the journal. */
export interface DueMove extends DueItem {
  account_id: string
  event: 'token_expired' | 'auth_request_expired'
}

/** Applies, in the order of time, everything that has fallen due by the environment's clock ("States"), and notes it. */
export function applyDueEvents(environment: Environment, trace: RequestTrace = new RequestTrace()): DueMove[] {
  const { due } = environment.model
  const present = now(environment)
  const moves: DueMove[] = []
  for (let item = due.take(present); item; item = due.take(present)) {
    const move =
      item.kind === 'account' ? expireToken(environment, item, trace) : expireAuthRequest(environment, item, trace)
    if (move) moves.push(move)
  }
  return moves
}

/** `ACTIVE` and nothing to renew the token with: `EXPIRED`. */
function expireToken({ model }: Environment, item: DueItem, trace: RequestTrace): DueMove | undefined {
  const account = model.tables.accounts.get(item.id)
  if (!account || accountDue(account) !== item.at) return undefined
  model.transact(() => {
    model.tables.accounts.put(dueMove(trace, account, 'token_expired', item.at))
  })
  return { ...item, account_id: account.id, event: 'token_expired' }
}

/** An auth request that nobody verified in time: it answers 404, and its pending tokens are dropped (G32). */
function expireAuthRequest({ model }: Environment, item: DueItem, trace: RequestTrace): DueMove | undefined {
  const request = model.tables.auth_requests.get(item.id)
  if (request?.outcome !== 'pending' || request.expires_at !== item.at) return undefined
  model.transact(() => {
    model.tables.auth_requests.put({ ...request, outcome: 'expired' })
    const account = model.tables.accounts.get(request.account_id)
    if (account) model.tables.accounts.put(withoutPending(dueMove(trace, account, 'auth_request_expired', item.at)))
  })
  return { ...item, account_id: request.account_id, event: 'auth_request_expired' }
}

function dueMove(trace: RequestTrace, account: Account, event: DueMove['event'], at: Instant): Account {
  const next = moved(account, event, at)
  trace.fellDue(account.id, event, { from: account.status, to: next.status, at })
  return next
}
