import { type Account, withoutPending } from '../model/domain/account.ts'
import { areLive, endingAt } from '../model/domain/credentials.ts'
import { TRAITS } from '../model/domain/authorization-type.ts'
import type { Instant } from '../model/domain/instant.ts'
import { type LifecycleEvent, accountAfter, MOVES } from '../model/domain/lifecycle.ts'
import { RequestTrace } from '../model/domain/request-trace.ts'
import { endRequests } from './account-changes.ts'
import { type Environment, now } from './environment.ts'
import { revokeGrants } from './grants.ts'
import type { Deadline } from './model/deadlines.ts'

/** The events that a scenario or a control call can cause on a connected account (1.3, 1.4). */
export const ACCOUNT_EVENTS = ['expire', 'disconnect', 'revoke_refresh_token', 'expire_access_token'] as const
export type AccountEvent = (typeof ACCOUNT_EVENTS)[number]

/** An event that the present state does not allow, of an account or a connection; names state, event and what is allowed. */
export class IllegalMoveError extends Error {
  override readonly name = 'IllegalMoveError'

  constructor(
    message: string,
    readonly from: string,
    readonly event: string,
    readonly allowed: readonly string[],
  ) {
    super(message)
  }
}

export function allowedEvents(account: Account): AccountEvent[] {
  return ACCOUNT_EVENTS.filter((event) => obstacleTo(account, event) === undefined)
}

/**
 * In one transaction, with the due events that follow: an expired token without a refresh token, for one.
 * @throws IllegalMoveError when the lifecycle has no such move, or the account has no token that the event could change
 */
export function applyAccountEvent(
  environment: Environment,
  account: Account,
  event: AccountEvent,
  trace = new RequestTrace(),
): Account {
  const reason = obstacleTo(account, event)
  if (reason !== undefined) {
    const { id, status } = account
    const allowed = allowedEvents(account)
    const message = `connected account ${id} is ${status} and ${reason}, so ${event} is not allowed; allowed: ${allowed.join(', ')}`
    throw new IllegalMoveError(message, status, event, allowed)
  }
  environment.model.transact(() => {
    trace.forcing(() => EFFECTS[event](environment, account, trace))
  }, trace)
  applyDueEvents(environment, trace)
  return environment.model.tables.accounts.get(account.id) ?? account
}

type Effect = (environment: Environment, account: Account, trace: RequestTrace) => void

const EFFECTS: { readonly [Event in AccountEvent]: Effect } = {
  /** As when a token expires that cannot be renewed; an `EXPIRED` account is never refreshed (G46). */
  expire: (environment, account, trace) => {
    environment.model.tables.accounts.put(trace.moved(account, STATUS_EVENTS.expire, now(environment)))
  },
  /** The third party revokes the account's tokens too. */
  disconnect: (environment, account, trace) => {
    revokeGrants(environment, account)
    endRequests(environment, account, 'withdrawn')
    const next = trace.moved(account, STATUS_EVENTS.disconnect, now(environment))
    environment.model.tables.accounts.put(withoutPending(next))
  },
  /** Only at the third party; the access token stays valid until it expires, and tokens that wait for verification stay. */
  revoke_refresh_token: (environment, account) => {
    const { grants } = environment.model.tables
    const waiting = account.pending?.credentials.oauth_token?.access_token
    for (const grant of environment.model.grantIndex.ofAccount(account.id)) {
      if (grant.refresh_token !== '' && grant.access !== waiting) grants.put({ ...grant, refresh_token: '' })
    }
  },
  /** On both sides; the next use renews the token where it can be renewed (G46). One that waits for verification stays valid. */
  expire_access_token: (environment, account) => {
    const { accounts, grants } = environment.model.tables
    const at = now(environment)
    accounts.put({
      ...account,
      credentials: endingAt(account.credentials, at),
      token_expires_at: at,
      token_expired: true,
    })
    const waiting = account.pending?.credentials.oauth_token?.access_token
    for (const grant of environment.model.grantIndex.ofAccount(account.id)) {
      if (grant.expires_at === undefined || grant.expired || grant.access === waiting) continue
      grants.put({ ...grant, expires_at: grant.expires_at > at ? at : grant.expires_at, expired: true })
    }
  },
}

/** The events that change the status, and their names in the lifecycle table. */
const STATUS_EVENTS = { expire: 'expired_manually', disconnect: 'disconnected' } as const satisfies Partial<
  Record<AccountEvent, LifecycleEvent>
>

function obstacleTo(account: Account, event: AccountEvent): string | undefined {
  switch (event) {
    case 'expire':
    case 'disconnect': {
      const isMove = MOVES.some((move) => move.from === account.status && move.event === STATUS_EVENTS[event])
      return isMove ? undefined : 'has no such move'
    }
    case 'revoke_refresh_token':
      return account.credentials.oauth_token?.refresh_token ? undefined : 'has no refresh token'
    case 'expire_access_token':
      return TRAITS[account.authorization_type].expires && areLive(account.credentials, account.authorization_type)
        ? undefined
        : 'has no access token that expires'
  }
}

/** Applies every event that is due by the environment's clock ("States"), in the order of time. */
export function applyDueEvents(environment: Environment, trace: RequestTrace): void {
  const { due } = environment.model
  const time = now(environment)
  for (let item = due.first(time); item; item = due.first(time)) {
    if (item.table === 'accounts') expireToken(environment, item, trace)
    else expireAuthRequest(environment, item, trace)
  }
}

/** An `ACTIVE` account whose token cannot be renewed becomes `EXPIRED`. */
function expireToken({ model }: Environment, item: Deadline, trace: RequestTrace): void {
  const account = model.tables.accounts.get(item.id)
  if (!account) throw new Error(`there is no account ${item.id}, which is due`)
  model.transact(() => {
    model.tables.accounts.put(dueMove(trace, account, 'token_expired', item.at))
  }, trace)
}

/** An auth request that was not verified in time answers 404, and its pending tokens are dropped (G32). */
function expireAuthRequest({ model }: Environment, item: Deadline, trace: RequestTrace): void {
  const request = model.tables.auth_requests.get(item.id)
  if (!request) throw new Error(`there is no auth request ${item.id}, which is due`)
  model.transact(() => {
    model.tables.auth_requests.put({ ...request, outcome: 'expired' })
    const account = model.tables.accounts.get(request.account_id)
    if (account) model.tables.accounts.put(withoutPending(dueMove(trace, account, 'auth_request_expired', item.at)))
  }, trace)
}

function dueMove(trace: RequestTrace, account: Account, event: LifecycleEvent, at: Instant): Account {
  const next = accountAfter(account, event)
  trace.fellDue(account.id, event, { from: account.status, to: next.status, at })
  return next
}
