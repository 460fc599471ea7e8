import { type Account, issued, updated, withLive } from '../domain/account.ts'
import { TRAITS } from '../domain/authorization-type.ts'
import type { ThirdParty, TokenAnswer } from '../domain/ports.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import { type Environment, now, type Renewal } from '../state/environment.ts'

interface Context {
  readonly environment: Environment
  readonly thirdParty: ThirdParty
  readonly trace: RequestTrace
}

export function isExpired(environment: Environment, account: Account): boolean {
  return account.token_expires_at !== undefined && account.token_expires_at <= now(environment)
}

/** Whether the service can get new credentials for this account without its user. */
export function isRenewable(account: Account): boolean {
  const { source } = TRAITS[account.authorization_type]
  return source === 'service' || Boolean(account.credentials.oauth_token?.refresh_token)
}

/**
 * Gets new credentials for an `ACTIVE` account, or makes it `EXPIRED` when the third party refuses (G45, G46). A renewal
 * changes `updated_at`, not `last_used_at` (G56). Requests that need a renewal of the same account at the same time share
 * one.
 */
export async function renew(context: Context, account: Account): Promise<Renewal> {
  const running = context.environment.renewals.get(account.id)
  const shared = await running?.catch(() => undefined)
  // The other request has failed; that is its own failure, so this one tries for itself.
  if (running && !shared) return renew(context, account)
  const renewal = shared ?? (await startRenewal(context, account))
  const { outcome, reason } = renewal
  context.trace.refreshed({ account_id: account.id, outcome, reason, shared: shared !== undefined })
  return renewal
}

function startRenewal(context: Context, account: Account): Promise<Renewal> {
  const { renewals, model } = context.environment
  const current = model.tables.accounts.get(account.id)
  // Renewed since the caller looked: a refresh token that was replaced must not be sent again.
  if (current && current.credentials !== account.credentials)
    return Promise.resolve({ account: current, outcome: 'renewed', reason: 'renewed in the meantime' })
  const renewal = requestTokens(context, account).finally(() => renewals.delete(account.id))
  renewals.set(account.id, renewal)
  return renewal
}

async function requestTokens(context: Context, account: Account): Promise<Renewal> {
  const { environment, thirdParty } = context
  const connector = environment.connector(account.connector)
  const store = (answer: TokenAnswer): Renewal => storeAnswer(context, account, answer)
  if (connector && isRenewable(account)) {
    const { source } = TRAITS[account.authorization_type]
    return source === 'service'
      ? thirdParty.obtain(connector, account, store)
      : thirdParty.refresh(connector, account, store)
  }
  const description = connector ? 'there is no refresh token' : 'its connector no longer exists'
  return environment.model.transact(() => store({ granted: false, status: 400, error: 'invalid_grant', description }))
}

/** Only inside a transaction. */
function storeAnswer({ environment, trace }: Context, asked: Account, answer: TokenAnswer): Renewal {
  const { model, clock } = environment
  const current = model.tables.accounts.get(asked.id)
  const reason = answer.granted ? 'renewed' : `${answer.error}: ${answer.description}`
  // The account was deleted, or its owner stored other credentials, before the answer came: that stands.
  if (current?.credentials !== asked.credentials) return { account: current ?? asked, outcome: 'renewed', reason }
  if (!answer.granted && answer.status >= 500) return { account: current, outcome: 'unavailable', reason }
  const at = now(environment)
  const account = answer.granted
    ? updated(current, withLive(current, issued(current, answer.credentials, answer.lifetime_ms, clock.now())), at)
    : trace.moved(current, 'refresh_refused', at)
  model.tables.accounts.put(account)
  return { account, outcome: answer.granted ? 'renewed' : 'refused', reason }
}
