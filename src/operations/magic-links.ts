import { type Account, scopeOf } from '../domain/account.ts'
import { foundValue } from '../contract/violation.ts'
import { invalidField, ruleAndFound, ServiceError } from '../domain/errors.ts'
import { instant } from '../domain/instant.ts'
import { locate, type Locator } from '../domain/locator.ts'
import type { MagicLink } from '../domain/magic-link.ts'
import { now } from '../state/environment.ts'
import { newAccount } from './accounts.ts'
import { knownConnector, refuseDisabled } from './connections.ts'
import type { Call, Reply } from './operation.ts'

/** POST /connected_accounts/magic_link (4.6): a link for an account, which is created when it does not exist (G28, "States"). */
export function createMagicLink(call: Call<'create_magic_link'>): Reply {
  const { environment, body, trace } = call
  const user_verify_url = body.user_verify_url ?? ''
  checkVerifyUrl(user_verify_url)
  const account = linkedAccount(call, body)
  if (account.sequence > 0) trace.account = account
  // The custom provider of an account that was found by id may have been deleted (G40).
  knownConnector(environment, account.connector)
  refuseDisabled(environment, account.connector)
  const link: MagicLink = {
    id: environment.ids.opaque(),
    account_id: account.id,
    oauth_state: environment.ids.opaque(),
    user_verify_url,
    state: body.state ?? null,
    expires_at: instant(environment.clock.now() + environment.settings.magic_link_lifetime),
  }
  environment.model.transact(() => {
    const { tables } = environment.model
    tables.accounts.put(requested(call, account))
    tables.magic_links.put(link)
  })
  trace.link = { id: link.id, event: 'made', verified: user_verify_url !== '' }
  return { status: 200, body: { link: `${call.baseUrl()}/magic/${link.id}`, expiry: link.expires_at } }
}

/** The account after `link_requested`; a new one gets its place in creation order. */
function requested({ environment, trace }: Call<'create_magic_link'>, account: Account): Account {
  const { model } = environment
  if (account.sequence === 0) {
    const placed = { ...account, sequence: model.count('account_sequence') }
    trace.created(placed, 'link_requested', now(environment))
    return placed
  }
  return trace.moved(account, 'link_requested', now(environment))
}

function linkedAccount(call: Call<'create_magic_link'>, locator: Locator): Account {
  if (!locator.id && locator.connector) knownConnector(call.environment, locator.connector)
  try {
    return locate(call.environment.model.accountIndex, locator, call.documentedOnly)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.errorCode !== 'ACCOUNT_NOT_FOUND') throw error
    return absentAccount(call, locator)
  }
}

/** An id that names no account is a 400, since 4.6 lists no 404 (G34). */
function absentAccount({ environment }: Call<'create_magic_link'>, locator: Locator): Account {
  const { id, connector = '', identifier = '' } = locator
  if (id)
    throw invalidField(
      'id',
      'must be the id of an account; send connector and identifier to create one',
      'existing_account',
    )
  return newAccount(environment, knownConnector(environment, connector), identifier, scopeOf(locator))
}

/** G35: any absolute http or https URL; callers run on localhost. */
function checkVerifyUrl(url: string): void {
  if (url === '') return
  // eslint-disable-next-line no-control-regex -- URL parsers drop line breaks silently
  const clean = !/[\u0000-\u0020\u007f]/.test(url)
  if (clean && /^https?:\/\/[^/]/i.test(url) && URL.canParse(url)) return
  throw invalidField(
    'user_verify_url',
    ruleAndFound('must be an absolute http or https URL', foundValue(url, [])),
    'http_url',
  )
}
