import { type Account, expiryOfIssue, updatedAccount, withLive } from '../../model/domain/account.ts'
import { TRAITS } from '../../model/domain/authorization-type.ts'
import { haveSameTokens, promotedCredentials } from '../../model/domain/credentials.ts'
import { ServiceError, toolFailure } from '../../model/domain/errors.ts'
import { instant } from '../../model/domain/instant.ts'
import type { ForwardedResponse, ThirdParty, TokenResponse, ToolResponse } from '../../model/domain/ports.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import { quote } from '../../model/domain/text.ts'
import { type Environment, now, type Renewal } from '../../state/environment.ts'
import { hasExpired } from '../../state/expiry.ts'

interface Context {
  readonly environment: Environment
  readonly thirdParty: ThirdParty
  readonly trace: RequestTrace
}

/** How often the rows had been replaced when a call began: its answer changes none that have come since. */
type Begun = Context & Pick<Environment, 'replacements'>

type ServiceResponse = ToolResponse | ForwardedResponse

/**
 * A token that has expired is renewed first (G45, G46). After a 401 it is renewed and the call made once more, also
 * with credentials that its owner stored meanwhile; a second 401 makes the account `EXPIRED`. @throws ServiceError
 * ACCOUNT_NOT_ACTIVE when the renewal is refused, TOOL_ERROR when it is not possible, ACCOUNT_NOT_FOUND
 */
export async function callThirdParty<A extends ServiceResponse>(
  callContext: Context,
  located: Account,
  call: (account: Account) => Promise<A>,
  { isRepeated = true }: { readonly isRepeated?: boolean } = {},
): Promise<A> {
  const { environment, thirdParty, trace } = callContext
  const context = { environment, thirdParty, trace, replacements: environment.replacements }
  const account = isExpired(environment, located) ? await renewedAccount(context, located) : located
  const first = await sendOnce(context, account, call)
  if (!isUnauthorized(first)) return first
  refuseReplaced(context, account)
  const { credentials } = environment.model.tables.accounts.get(account.id) ?? account
  if (!isRenewable(account) && haveSameTokens(credentials, account.credentials))
    return afterRefusal(context, account, first)
  const renewal = await renewAccount(context, account)
  if (renewal.outcome !== 'renewed' || renewal.account.status !== 'ACTIVE' || !isRepeated) return first
  const second = await sendOnce(context, renewal.account, call)
  return isUnauthorized(second) ? afterRefusal(context, renewal.account, second) : second
}

const ADVICE: Readonly<Record<Account['status'], string>> = {
  ACTIVE: '',
  EXPIRED: 'send its user through a new magic link, or update it with live credentials',
  PENDING_AUTH: 'its user has not given consent yet; create a magic link, or update it with live credentials',
  PENDING_VERIFICATION: 'verify its user with the auth_request_id of the redirect',
  DISCONNECTED: 'send its user through a new magic link, or update it with live credentials',
}

/** @throws ServiceError ACCOUNT_NOT_ACTIVE, a 400 with code 9 (G44); clients look for words of the message */
export function refuseInactive({ id, connector, identifier, status }: Account): void {
  if (status === 'ACTIVE') return
  const account = `connected_account ${id} of connector ${connector}, identifier ${identifier},`
  const message = `${account} is ${status}: authorization is needed, ${ADVICE[status]}`
  throw new ServiceError('ACCOUNT_NOT_ACTIVE', message)
}

/** An account after the renewal of its expired token (G46). @throws ServiceError ACCOUNT_NOT_ACTIVE, TOOL_ERROR */
async function renewedAccount(context: Context, account: Account): Promise<Account> {
  const renewal = await renewAccount(context, account)
  if (renewal.outcome === 'unavailable') {
    const message = `the expired token could not be renewed: ${renewal.reason}`
    throw toolError({ kind: 'failed', status: null, message, arrived: false }, context.trace.execution_id ?? '')
  }
  refuseInactive(renewal.account)
  return renewal.account
}

/** Sends once; a call that arrived at the third party sets `last_used_at`, a failed one too (G26). */
async function sendOnce<A extends ServiceResponse>(
  { environment, replacements }: Begun,
  account: Account,
  call: (account: Account) => Promise<A>,
): Promise<A> {
  const response = await call(account)
  const arrived = 'arrived' in response ? response.arrived : response.kind !== 'unsendable'
  if (arrived && environment.replacements === replacements) {
    environment.model.transact(() => {
      const current = environment.model.tables.accounts.get(account.id)
      if (!current) return
      const used = { ...current }
      used.last_used_at = now(environment)
      // Put even when the instant is the same: the commit also stores the ids that the call has used.
      environment.model.tables.accounts.put(used)
    })
  }
  return response
}

function isUnauthorized(response: ServiceResponse): boolean {
  return 'status' in response && response.status === 401
}

function afterRefusal<A extends ServiceResponse>(begun: Begun, account: Account, response: A): A {
  refuseReplaced(begun, account)
  const { environment, trace } = begun
  environment.model.transact(() => {
    const current = environment.model.tables.accounts.get(account.id)
    if (!current) throw goneMeanwhile(account)
    // The account was given other credentials before the answer came: that change is kept.
    if (!haveSameTokens(current.credentials, account.credentials)) return
    environment.model.tables.accounts.put(trace.moved(current, 'credentials_refused', now(environment)))
  }, trace)
  return response
}

/** @throws ServiceError ACCOUNT_NOT_FOUND once a reset, a snapshot or a state that was put has replaced the account */
function refuseReplaced({ environment, replacements }: Begun, account: Account): void {
  if (environment.replacements !== replacements) throw goneMeanwhile(account)
}

function goneMeanwhile({ id }: Account): ServiceError {
  const message = `connected account ${quote(id)} was deleted or replaced in the meantime`
  return new ServiceError('ACCOUNT_NOT_FOUND', message)
}

/** A call without an answer that can be passed on, or one that says that the third party failed. */
type Failure = Exclude<ToolResponse, { kind: 'result' | 'unsendable' }>

/** The error for what the third party did wrong (G44). */
export function toolError(response: Failure, execution_id: string): ServiceError {
  const { kind, message: tool_error_message } = response
  const [responseStatus, word] = kind === 'timed_out' ? [null, undefined] : [response.status, response.code]
  const status =
    kind === 'timed_out'
      ? 504
      : responseStatus === 401 || responseStatus === 403 || responseStatus === 429
        ? responseStatus
        : 500
  const without = kind === 'timed_out' ? 'timeout' : 'unusable_answer'
  const tool_error_code = responseStatus !== null && responseStatus >= 400 ? (word ?? String(responseStatus)) : without
  return new ServiceError('TOOL_ERROR', toolFailure(tool_error_message), {
    tool: { status, execution_id, tool_error_code, tool_error_message },
    ...(kind === 'failed' &&
      response.retry_after !== undefined && { headers: { 'Retry-After': response.retry_after } }),
  })
}

export function isExpired(environment: Environment, account: Account): boolean {
  return hasExpired(environment, { expires_at: account.token_expires_at, expired: account.token_expired })
}

/** Whether the service can get new credentials for this account without its user. */
function isRenewable(account: Account): boolean {
  const { source } = TRAITS[account.authorization_type]
  return source === 'service' || Boolean(account.credentials.oauth_token?.refresh_token)
}

/**
 * `EXPIRED` when the third party refuses (G45, G46). A renewal changes `updated_at`, not `last_used_at` (G56); requests
 * that need one of the same account at the same time share it.
 */
export async function renewAccount(context: Context, account: Account): Promise<Renewal> {
  const running = context.environment.renewals.get(account.id)
  // Nothing is awaited before a renewal starts: another request would start a second one meanwhile.
  const renewal = await (running?.catch(() => undefined) ?? startRenewal(context, account))
  // The other request has failed; that is its own failure, so this one tries for itself.
  if (!renewal) return renewAccount(context, account)
  const { outcome, reason } = renewal
  context.trace.refreshed({ account_id: account.id, outcome, reason, shared: running !== undefined })
  return renewal
}

function startRenewal(context: Context, account: Account): Promise<Renewal> {
  const { renewals, model } = context.environment
  const current = model.tables.accounts.get(account.id)
  // Renewed since the caller looked: a refresh token that was replaced must not be sent again.
  if (current && !haveSameTokens(current.credentials, account.credentials))
    return Promise.resolve({ account: current, outcome: 'renewed', reason: 'renewed in the meantime' })
  // Expired or disconnected since the caller looked: only new credentials or a new consent bring it back (G46).
  if (current && current.status !== 'ACTIVE')
    return Promise.resolve({ account: current, outcome: 'refused', reason: `the account is ${current.status} by now` })
  const renewal = requestTokens(context, account).finally(() => renewals.delete(account.id))
  renewals.set(account.id, renewal)
  return renewal
}

async function requestTokens(context: Context, account: Account): Promise<Renewal> {
  const { environment, thirdParty, trace } = context
  const connector = environment.connector(account.connector)
  const begun = { environment, thirdParty, trace, replacements: environment.replacements }
  const asked = isExpired(environment, account) ? ({ ...account, token_expired: true } as const) : account
  const store = (response: TokenResponse): Renewal => storeResponse(begun, asked, response)
  if (connector && isRenewable(account)) {
    const { source } = TRAITS[account.authorization_type]
    return source === 'service'
      ? thirdParty.obtain(connector, account, store)
      : thirdParty.refresh(connector, account, store)
  }
  const description = connector ? 'there is no refresh token' : 'its connector no longer exists'
  const refusal = { granted: false, status: 400, error: 'invalid_grant', description } as const
  return environment.model.transact(() => store(refusal), trace)
}

/** Only inside a transaction. @throws ServiceError ACCOUNT_NOT_FOUND */
function storeResponse({ environment, trace, replacements }: Begun, asked: Account, response: TokenResponse): Renewal {
  const { model } = environment
  const current = environment.replacements === replacements ? model.tables.accounts.get(asked.id) : undefined
  const reason = response.granted ? 'renewed' : `${response.error}: ${response.description}`
  if (!current) throw goneMeanwhile(asked)
  // Its owner stored other credentials before the answer came: that change is kept.
  if (!haveSameTokens(current.credentials, asked.credentials)) return { account: current, outcome: 'renewed', reason }
  if (!response.granted && response.status >= 500) {
    if (asked.token_expired && !current.token_expired) model.tables.accounts.put({ ...current, token_expired: true })
    return { account: current, outcome: 'unavailable', reason }
  }
  const now = environment.clock.now()
  const at = instant(now)
  const fresh = response.granted && promotedCredentials(current.credentials, response.credentials)
  // Only a consent gives other scopes than those that are stored (G27).
  if (fresh && fresh.oauth_token && current.credentials.oauth_token)
    fresh.oauth_token.scopes = current.credentials.oauth_token.scopes
  const account = fresh
    ? updatedAccount(current, withLive(current, expiryOfIssue(current, fresh, response.lifetime_ms, now)), at)
    : trace.moved(current, 'refresh_refused', at)
  model.tables.accounts.put(account)
  if (fresh) trace.changed(account.id, 'renewal')
  return { account, outcome: response.granted ? 'renewed' : 'refused', reason }
}
