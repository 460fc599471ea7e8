import { isAscii } from 'node:buffer'
import { type Account, expiryOfIssue, scopeOf, updatedAccount, withLive } from '../../model/domain/account.ts'
import { TRAITS } from '../../model/domain/authorization-type.ts'
import { lacksDatabaseUser } from '../../model/domain/credentials.ts'
import { foundValue } from '../../model/contract/violation.ts'
import { invalidField, ruleAndFound, ServiceError } from '../../model/domain/errors.ts'
import { instant } from '../../model/domain/instant.ts'
import { nextState, nextStatus } from '../../model/domain/lifecycle.ts'
import { accountByLocator, type Locator } from '../../model/domain/locator.ts'
import type { MagicLink } from '../../model/domain/generated/tables.ts'
import { parseUrl } from '../../model/domain/parse-url.ts'
import type { TokenResponse } from '../../model/domain/ports.ts'
import { newAccount } from '../../state/account-changes.ts'
import { knownConnector, refuseDisabled } from './connections.ts'
import type { Call, Reply } from './operation.ts'

type LinkCall = Call<'create_magic_link'>

/** POST /connected_accounts/magic_link (4.6): may create the account (G28, "States"); `lifetime` is in milliseconds. */
export function createMagicLink(
  call: LinkCall,
  lifetime = call.environment.settings.magic_link_lifetime,
): Reply | Promise<Reply> {
  const { environment, thirdParty, body, trace } = call
  checkVerifyUrl(body.user_verify_url ?? '')
  const account = linkedAccount(call, body)
  if (account.sequence > 0) trace.account = account
  // The custom provider of an account that was found by id may have been deleted (G40).
  const connector = knownConnector(environment, account.connector)
  refuseDisabled(environment, account.connector)
  const { source } = TRAITS[account.authorization_type]
  const state = account.sequence === 0 ? 'none' : account.status
  const isWithoutUser = nextState(state, 'link_requested_ready') !== state
  if (isWithoutUser && source === 'service' && !lacksDatabaseUser(account.credentials, connector)) {
    const obtained = thirdParty.obtain(connector, account, (response) =>
      isUnchanged(call, account) ? storeLink(call, account, lifetime, response) : undefined,
    )
    // Another request created or changed the account while its token was obtained: its state decides again.
    return obtained.then((reply) => reply ?? createMagicLink(call, lifetime))
  }
  const nothing = { granted: true, credentials: account.credentials, lifetime_ms: null } as const
  return environment.model.transact(
    () => storeLink(call, account, lifetime, isWithoutUser && source === 'none' ? nothing : undefined),
    trace,
  )
}

/** Stores the link, and its account with what the service obtained for it. Only inside a transaction. */
function storeLink(
  { environment, body, trace, baseUrl }: LinkCall,
  account: Account,
  lifetime: number,
  response?: TokenResponse,
): Reply {
  const { ids, model } = environment
  const now = environment.clock.now()
  const user_verify_url = urlToRedirect(body.user_verify_url ?? '')
  const link: MagicLink = {
    id: ids.opaque(),
    account_id: account.id,
    oauth_state: ids.opaque(),
    user_verify_url,
    state: body.state ?? null,
    expires_at: instant(now + lifetime),
  }
  const at = instant(now)
  const event = response?.granted ? 'link_requested_ready' : 'link_requested'
  const ready = response?.granted
    ? withLive(account, expiryOfIssue(account, response.credentials, response.lifetime_ms, now))
    : account
  if (account.sequence === 0) {
    const sequence = model.count('account_sequence')
    const placed = { ...ready, sequence, updated_at: at, status: nextStatus('none', event) }
    trace.created(placed, event, at)
    model.tables.accounts.put(placed)
  } else model.tables.accounts.put(trace.moved(updatedAccount(account, ready, at), event, at))
  model.tables.magic_links.put(link)
  trace.link = { id: link.id, event: 'made', verified: user_verify_url !== '' }
  return { status: 200, body: { link: `${baseUrl()}/magic/${link.id}`, expiry: link.expires_at } }
}

/** Whether the request names the same account as before, in the same state, or still none. */
function isUnchanged(call: LinkCall, account: Account): boolean {
  const current = linkedAccount(call, call.body)
  if (account.sequence > 0) return current === account
  const fields = ['sequence', 'authorization_type', 'provider', 'connection_id'] as const
  return fields.every((field) => current[field] === account[field])
}

function linkedAccount(call: LinkCall, locator: Locator): Account {
  if (!locator.id && locator.connector) knownConnector(call.environment, locator.connector)
  try {
    return accountByLocator(call.environment.model.accountIndex, locator, call.documentedOnly)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.errorCode !== 'ACCOUNT_NOT_FOUND') throw error
    return absentAccount(call, locator)
  }
}

/** An id that names no account is a 400, since 4.6 lists no 404 (G34). */
function absentAccount({ environment }: LinkCall, locator: Locator): Account {
  const { id, connector = '', identifier = '' } = locator
  if (id)
    throw invalidField(
      'id',
      'must be the id of an account; send connector and identifier to create one',
      'existing_account',
    )
  return newAccount(environment, knownConnector(environment, connector), {
    connector,
    identifier,
    ...scopeOf(locator),
  })
}

/** The redirect as the URL standard writes it where it has other than ASCII characters, else to the octet as it was given (G30). */
function urlToRedirect(url: string): string {
  return isAscii(Buffer.from(url)) ? url : new URL(url).href
}

/** Any absolute http or https URL is taken, because callers run on localhost (G35). */
function checkVerifyUrl(url: string): void {
  if (url === '') return
  // eslint-disable-next-line no-control-regex -- URL parsers drop line breaks silently
  const clean = !/[\u0000-\u0020\u007f]/.test(url)
  if (clean && /^https?:\/\/[^/]/i.test(url) && parseUrl(url)) return
  throw invalidField(
    'user_verify_url',
    ruleAndFound('must be an absolute http or https URL', foundValue(url, [])),
    'http_url',
  )
}
