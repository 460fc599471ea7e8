import { type Account, type AccountStatus, withoutPending } from '../domain/account.ts'
import { areLive, type Credentials } from '../domain/credentials.ts'
import { TRAITS } from '../domain/authorization-type.ts'
import type { Instant } from '../domain/instant.ts'
import { type LifecycleEvent, moved, MOVES } from '../domain/lifecycle.ts'
import type { ThirdParty } from '../domain/ports.ts'
import { RequestTrace } from '../domain/request-trace.ts'
import { type Environment, now } from '../state/environment.ts'
import { accountDue, type DueItem } from '../state/model/due-index.ts'

/** What a scenario, or somebody at the control API, can make happen to a connected account (1.3, 1.4). */
export const ACCOUNT_EVENTS = ['expire', 'disconnect', 'revoke_refresh_token', 'expire_access_token'] as const
export type AccountEvent = (typeof ACCOUNT_EVENTS)[number]

export function isAccountEvent(name: string): name is AccountEvent {
  return (ACCOUNT_EVENTS as readonly string[]).includes(name)
}

/** An event that cannot happen to this account: names from, event and what is allowed. */
export class IllegalMoveError extends Error {
  override readonly name = 'IllegalMoveError'

  readonly from: AccountStatus
  readonly allowed: readonly AccountEvent[]

  constructor(
    readonly account: Account,
    readonly event: AccountEvent,
    reason: string,
  ) {
    const allowed = allowedEvents(account)
    const rest = allowed.length === 0 ? 'no event is' : `${allowed.join(', ')} ${allowed.length === 1 ? 'is' : 'are'}`
    super(`connected account ${account.id} is ${account.status} and ${reason}: ${event} is not allowed, ${rest}`)
    this.from = account.status
    this.allowed = allowed
  }
}

interface Context {
  readonly environment: Environment
  readonly thirdParty: Pick<ThirdParty, 'revoke'>
  /** Where the events are noted; of whoever makes them happen. */
  readonly trace?: RequestTrace | undefined
}

/** The account after an event, and what fell due with it: a token without a refresh token expires its account. */
export interface AccountEventResult {
  readonly account: Account
  readonly before: AccountStatus
  readonly moves: readonly DueMove[]
}

/** What can happen to an account as it is now. */
function allowedEvents(account: Account): AccountEvent[] {
  return ACCOUNT_EVENTS.filter((event) => obstacle(account, event) === undefined)
}

/**
 * Makes an event happen: all of it at once, the third party's side included.
 * @throws IllegalMoveError when the lifecycle has no such move, or there is no token that it could happen to
 */
export function applyAccountEvent(context: Context, account: Account, event: AccountEvent): AccountEventResult {
  const reason = obstacle(account, event)
  if (reason !== undefined) throw new IllegalMoveError(account, event, reason)
  const { environment } = context
  const trace = context.trace ?? new RequestTrace()
  const { accounts } = environment.model.tables
  environment.model.transact(() => {
    trace.forcing(() => EFFECTS[event]({ ...context, trace }, account))
  })
  const moves = applyDueEvents(environment, trace)
  return { account: accounts.get(account.id) ?? account, before: account.status, moves }
}

type Effect = (context: Context & { readonly trace: RequestTrace }, account: Account) => void

const EFFECTS: { readonly [Event in AccountEvent]: Effect } = {
  /** As if the end of its token had come without a way to renew it; an `EXPIRED` account is never refreshed (G46). */
  expire: ({ environment, trace }, account) => {
    environment.model.tables.accounts.put(trace.moved(account, STATUS_EVENTS.expire, now(environment)))
  },
  /** By hand, or because access was removed at the third party, which refuses everything from then on. */
  disconnect: ({ environment, thirdParty, trace }, account) => {
    thirdParty.revoke(account)
    environment.model.tables.accounts.put(trace.moved(account, STATUS_EVENTS.disconnect, now(environment)))
  },
  /** The third party forgets the refresh token; the access token stays good for as long as it lasts. */
  revoke_refresh_token: ({ environment }, account) => {
    const { grants } = environment.model.tables
    for (const grant of environment.model.grantIndex.ofAccount(account.id)) {
      if (grant.refresh_token !== '') grants.put({ ...grant, refresh_token: '' })
    }
  },
  /** Both sides see that the access token's time is over; the next use refreshes it where there is a way to (G46). */
  expire_access_token: ({ environment }, account) => {
    const { accounts, grants } = environment.model.tables
    const at = now(environment)
    accounts.put({ ...account, credentials: ended(account.credentials, at), token_expires_at: at })
    for (const grant of environment.model.grantIndex.ofAccount(account.id)) {
      if (grant.expires_at !== undefined && grant.expires_at > at) grants.put({ ...grant, expires_at: at })
    }
  },
}

/** The events that move the status, by their name in the lifecycle's table. */
const STATUS_EVENTS = { expire: 'token_expired', disconnect: 'disconnected' } as const satisfies Partial<
  Record<AccountEvent, LifecycleEvent>
>

/** Why an event cannot happen to this account; undefined when it can. */
function obstacle(account: Account, event: AccountEvent): string | undefined {
  switch (event) {
    case 'expire':
    case 'disconnect': {
      const known = MOVES.some((move) => move.from === account.status && move.event === STATUS_EVENTS[event])
      return known ? undefined : 'has no such move'
    }
    case 'revoke_refresh_token':
      return account.credentials.oauth_token?.refresh_token ? undefined : 'has no refresh token'
    case 'expire_access_token':
      return TRAITS[account.authorization_type].expires && areLive(account.credentials)
        ? undefined
        : 'has no access token that expires'
  }
}

/** The times inside of the credentials, which two types have (2.2). */
function ended(credentials: Credentials, at: Instant): Credentials {
  const { workspace_dwd, trusted_idp } = credentials
  return {
    ...credentials,
    ...(workspace_dwd && { workspace_dwd: { ...workspace_dwd, token_expires_at: at } }),
    ...(trusted_idp && { trusted_idp: { ...trusted_idp, expiry: at } }),
  }
}

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
