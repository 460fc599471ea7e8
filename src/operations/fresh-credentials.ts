import { type Account, issued, withLive } from '../domain/account.ts'
import { TRAITS } from '../domain/authorization-type.ts'
import type { ThirdParty, TokenAnswer } from '../domain/ports.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import { type Environment, now, type Renewal } from '../state/environment.ts'

interface Context {
  readonly environment: Environment
  readonly thirdParty: ThirdParty
  readonly trace: RequestTrace
}

/** Whether the token has reached the end of its life. */
export function isOver(environment: Environment, account: Account): boolean {
  return account.token_expires_at !== undefined && account.token_expires_at <= now(environment)
}

/** Whether the service can get new credentials for this account without its user. */
export function isRenewable(account: Account): boolean {
  const { source } = TRAITS[account.authorization_type]
  return source === 'service' || Boolean(account.credentials.oauth_token?.refresh_token)
}

/**
 * Gets new credentials for an `ACTIVE` account, or leaves it `EXPIRED` when the third party refuses (G45, G46).
 * A renewal moves `updated_at`, not `last_used_at` (G56). Renewals of one account never run side by side.
 */
export async function renew(context: Context, account: Account): Promise<Renewal> {
  const running = context.environment.renewals.get(account.id)
  const shared = await running?.catch(() => undefined)
  // What another request stood on may be gone, and with it its renewal; that is no reason why this one fails.
  if (running && !shared) return renew(context, account)
  const renewal = shared ?? (await begun(context, account))
  const { outcome, reason } = renewal
  context.trace.refreshed({ account_id: account.id, outcome, reason, shared: shared !== undefined })
  return renewal
}

function begun(context: Context, account: Account): Promise<Renewal> {
  const { renewals } = context.environment
  const current = context.environment.model.tables.accounts.get(account.id)
  // Renewed since the caller looked: a refresh token that was rotated away must not be sent again.
  if (current && current.credentials !== account.credentials)
    return Promise.resolve({ account: current, outcome: 'renewed', reason: 'renewed in the meantime' })
  const renewal = answerFor(context, account)
    .then((answer) => settle(context, account, answer))
    .finally(() => renewals.delete(account.id))
  renewals.set(account.id, renewal)
  return renewal
}

/**
 * What the third party grants; what it granted before when the disk refused to keep that: a refresh token that was rotated
 * away would be taken for stolen.
 */
async function answerFor(context: Context, account: Account): Promise<TokenAnswer> {
  const { environment } = context
  const before = environment.granted.get(account.credentials)
  if (before && before.rollbacks !== environment.rollbacks) return before.answer
  const answer = await ask(context, account)
  if (answer.granted) environment.granted.set(account.credentials, { answer, rollbacks: environment.rollbacks })
  return answer
}

async function ask({ environment, thirdParty }: Context, account: Account): Promise<TokenAnswer> {
  const connector = environment.connector(account.connector)
  if (!connector || !isRenewable(account)) {
    return { granted: false, status: 400, error: 'invalid_grant', description: 'there is no refresh token' }
  }
  const own = TRAITS[account.authorization_type].source === 'service'
  return own ? thirdParty.obtain(connector, account) : thirdParty.refresh(connector, account)
}

function settle({ environment, trace }: Context, asked: Account, answer: TokenAnswer): Renewal {
  const { model, clock } = environment
  return model.transact(() => {
    const current = model.tables.accounts.get(asked.id)
    const reason = answer.granted ? 'renewed' : `${answer.error}: ${answer.description}`
    // Deleted, or given other credentials by its owner, while the third party was asked: that stands.
    if (!current || current.credentials !== asked.credentials)
      return { account: current ?? asked, outcome: 'renewed', reason }
    if (!answer.granted && answer.status >= 500) return { account: current, outcome: 'unavailable', reason }
    const at = now(environment)
    const account = answer.granted ? renewed(current, answer, clock.now()) : trace.moved(current, 'refresh_refused', at)
    model.tables.accounts.put({ ...account, updated_at: at })
    return { account: { ...account, updated_at: at }, outcome: answer.granted ? 'renewed' : 'refused', reason }
  })
}

function renewed(account: Account, answer: TokenAnswer & { granted: true }, at: number): Account {
  return withLive(account, issued(account, answer.credentials, answer.lifetime_ms, at))
}
