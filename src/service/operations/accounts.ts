import { isDeepStrictEqual } from 'node:util'
import { type Account, expiryOfIssue, scopeOf, updatedAccount, withLive } from '../../model/domain/account.ts'
import { CREDENTIAL_KINDS, isAuthorizationType, TRAITS } from '../../model/domain/authorization-type.ts'
import { bareConnector } from '../../model/domain/connector-defaults.ts'
import { type Connector, providerOf } from '../../model/domain/connector.ts'
import {
  areLive,
  bringsCredentials,
  changesSecrets,
  checkDatabaseUser,
  checkFit,
  checkSingle,
  isEmptyKind,
  lacksDatabaseUser,
  type Credentials,
  type CredentialsPatch,
  fullDetails,
  mergeCredentials,
  mergeKeys,
  publicDetails,
  takenBy,
} from '../../model/domain/credentials.ts'
import { invalidField, ruleAndFound, ServiceError } from '../../model/domain/errors.ts'
import { instant } from '../../model/domain/instant.ts'
import { accountSummary, type AccountView, accountView } from '../../model/domain/generated/tables.ts'
import { nextStatus } from '../../model/domain/lifecycle.ts'
import { accountByLocator, type Locator, type LocatorNames } from '../../model/domain/locator.ts'
import type { TokenResponse } from '../../model/domain/ports.ts'
import { type RequestTrace, tokenDigest } from '../../model/domain/request-trace.ts'
import { quote } from '../../model/domain/text.ts'
import { newAccount } from '../../state/account-changes.ts'
import { removeItemsOf } from '../../state/collections.ts'
import { connectionOf, type Environment, now } from '../../state/environment.ts'
import { revokeGrants } from '../../state/grants.ts'
import type { AccountFilter } from '../../state/model/account-index.ts'
import { knownConnector } from './connections.ts'
import type { Call, Reply } from './operation.ts'
import { pageOf } from './paging.ts'
import { isExpired, renewAccount } from './third-party-calls.ts'

/** POST /connected_accounts (4.3): 201, or 409 when the scope already has the identifier at this connector. */
export function createConnectedAccount(call: Call<'create_connected_account'>): Reply | Promise<Reply> {
  const { environment, thirdParty, body, trace } = call
  const connector = knownConnector(environment, body.connector)
  const type = connector.authorization_type
  checkAuthorizationType(body.connected_account?.authorization_type, connector, trace)
  const patch = effectivePatch(
    filledCredentials(body.connected_account?.authorization_details, trace),
    connector,
    trace,
  )
  checkFit(patch, type)
  const account = newAccount(environment, connector, { ...body, ...scopeOf(body) })
  account.credentials = mergeCredentials({}, patch, type, body.identifier)
  account.api_config = mergeKeys({}, body.connected_account?.api_config ?? {})
  if (patch.trusted_idp) checkDatabaseUser(account.credentials, connector)
  const isLive = areLive(account.credentials, type)
  if (!isLive && TRAITS[type].source === 'service' && !lacksDatabaseUser(account.credentials, connector)) {
    refuseDuplicate(environment, account)
    return thirdParty.obtain(connector, account, (response) => insertAccount(call, account, response))
  }
  return environment.model.transact(() => {
    const { credentials } = account
    const live = { granted: isLive, credentials, lifetime_ms: connector.oauth.access_token_lifetime }
    const reply = insertAccount(call, account, live)
    if (isLive) thirdParty.accept(connector, account, credentials)
    return reply
  }, trace)
}

/**
 * With the status that its credentials lead to (G24, G25). @throws ServiceError, after anything was awaited:
 * ACCOUNT_ALREADY_EXISTS (409, G55), 400 when the connector is gone or has another type
 */
function insertAccount(
  { environment, trace }: Call<'create_connected_account'>,
  account: Account,
  live: TokenResponse | { granted: boolean; credentials: Credentials; lifetime_ms: number | null },
): Reply {
  const { model } = environment
  // All times in one answer come from one reading of the clock (G25).
  const now = environment.clock.now()
  refuseDuplicate(environment, account)
  const connector = knownConnector(environment, account.connector)
  const { authorization_type: type } = connector
  if (type !== account.authorization_type)
    throw invalidField('connector', `must be sent again: its authorization type changed to ${type}`, 'known_connector')
  if (live.granted) {
    Object.assign(account, expiryOfIssue(account, live.credentials, live.lifetime_ms, now))
  }
  const isReady = live.granted || TRAITS[account.authorization_type].source === 'none'
  const event = isReady ? 'created_with_credentials' : 'created_without_credentials'
  account.status = nextStatus('none', event)
  account.updated_at = instant(now)
  account.provider = providerOf(connector)
  account.connection_id = connectionOf(environment, account.connector)?.id ?? ''
  account.sequence = model.count('account_sequence')
  model.tables.accounts.put(account)
  trace.created(account, event, account.updated_at)
  return { status: 201, body: { connected_account: viewWithSecrets(account) } }
}

function refuseDuplicate(environment: Environment, account: Account): void {
  const existing = environment.model.accountIndex.inScope(account.connector, account.identifier, account)
  if (!existing) return
  const what = `identifier ${quote(account.identifier)} at connector ${quote(account.connector)}`
  throw new ServiceError('ACCOUNT_ALREADY_EXISTS', `a connected account with ${what} already exists in this scope`, {
    resource: existing.id,
  })
}

/** A value of the enumeration must be the connector's own type; any other string is ignored with a warning (G10). */
function checkAuthorizationType(type: string | undefined, connector: Connector, trace: RequestTrace): void {
  if (type === undefined || type === connector.authorization_type) return
  const field = 'connected_account.authorization_type'
  if (isAuthorizationType(type)) {
    const rule = `must be ${connector.authorization_type}, the type of connector ${connector.connector}`
    throw invalidField(field, ruleAndFound(rule, type), 'authorization_type')
  }
  trace.ignored(field, 'is ignored: it is not an authorization type of the service')
}

/** Credentials as a request brings them: a sub-object without any field in it counts as absent (G23). */
function filledCredentials(details: CredentialsPatch = {}, trace: RequestTrace): CredentialsPatch {
  const empty = CREDENTIAL_KINDS.filter((kind) => isEmptyKind(details, kind))
  if (empty.length === 0) return details
  for (const kind of empty)
    trace.ignored(`connected_account.authorization_details.${kind}`, 'is ignored: it has none of its fields')
  return Object.fromEntries(Object.entries(details).filter(([kind]) => !empty.some((each) => each === kind)))
}

/** Serverless workgroups ignore the database user (2.2). */
function effectivePatch(patch: CredentialsPatch, connector: Connector, trace: RequestTrace): CredentialsPatch {
  const taken = takenBy(connector, patch)
  if (taken.trusted_idp === patch.trusted_idp) return taken
  const field = 'connected_account.authorization_details.trusted_idp.db_user'
  const reason = `connector ${connector.connector} is a serverless workgroup, which has no database users`
  trace.ignored(field, `is ignored: ${reason}`)
  return taken
}

/** PUT /connected_accounts (4.2): merges `api_config` and credentials; live ones make the account `ACTIVE` (G27). */
export function updateConnectedAccount(call: Call<'update_connected_account'>): Reply | Promise<Reply> {
  const { environment, thirdParty, body, trace } = call
  const credentialsPatch = filledCredentials(body.connected_account.authorization_details, trace)
  checkSingle(credentialsPatch)
  const located = locateAccount(call, body)
  const connector = connectorOf(environment, located)
  checkAuthorizationType(body.connected_account.authorization_type, connector, trace)
  const patch = effectivePatch(credentialsPatch, connector, trace)
  checkFit(patch, connector.authorization_type)
  const credentials = mergedCredentials(located, patch)
  if (patch.trusted_idp) checkDatabaseUser(credentials, connector)
  const isNew = located.status !== 'ACTIVE' || !isDeepStrictEqual(credentials, located.credentials)
  if (!isNew || !(patch.workspace_dwd ?? patch.trusted_idp)) {
    return environment.model.transact(() => storeUpdate(call, located.id, patch), trace)
  }
  // A changed subject or database user needs new credentials, which the service obtains itself (2.2).
  return thirdParty.obtain(connector, { ...located, credentials }, (response) =>
    storeUpdate(call, located.id, patch, response),
  )
}

/**
 * @throws ServiceError when another request changed the account in the meantime: ACCOUNT_NOT_FOUND if it is gone,
 * INVALID_AUTHORIZATION_DETAILS if its type is another
 */
function storeUpdate(
  { environment, thirdParty, body, trace }: Call<'update_connected_account'>,
  id: string,
  patch: CredentialsPatch,
  response?: TokenResponse,
): Reply {
  const { model } = environment
  const obtained = response?.granted ? response : undefined
  const current = model.tables.accounts.get(id)
  if (!current)
    throw new ServiceError('ACCOUNT_NOT_FOUND', `connected account ${quote(id)} was deleted in the meantime`)
  const connector = connectorOf(environment, current)
  checkFit(patch, connector.authorization_type)
  const api_config = mergeKeys(current.api_config, body.connected_account.api_config ?? {})
  const credentials = obtained?.credentials ?? mergedCredentials(current, patch)
  const now = environment.clock.now()
  const at = instant(now)
  let next: Account = { ...current, api_config, credentials }
  if (obtained || bringsCredentials(patch, current.authorization_type)) {
    const lifetime = obtained ? obtained.lifetime_ms : connector.oauth.access_token_lifetime
    // A refresh token that is sent alone does not change how long the stored access token lasts.
    const isKept = !obtained && credentials.oauth_token?.access_token && !patch.oauth_token?.access_token
    if (!isKept) next = withLive(next, expiryOfIssue(current, credentials, lifetime, now))
    if (areLive(credentials, current.authorization_type)) next = trace.moved(next, 'credentials_updated', at)
  } else if (response && current.status === 'ACTIVE') {
    // The stored token is of the former subject or database user: the next use asks for another one.
    next = withLive(next, expiryOfIssue(current, credentials, 0, now))
  } else if (patch.static_auth && !areLive(credentials, current.authorization_type)) {
    next = trace.moved(next, 'credentials_removed', at)
  }
  next = updatedAccount(current, next, at)
  model.tables.accounts.put(next)
  trace.changed(id, 'update')
  const [token = '', former = ''] = [next, current].map((row) => row.credentials.oauth_token?.refresh_token)
  if (token !== '' && former !== '' && token !== former)
    trace.tokenUsed({ kind: 'stored', token: tokenDigest(token), former: tokenDigest(former) })
  if (changesSecrets(patch)) thirdParty.accept(connector, next, next.credentials, patch)
  return { status: 200, body: { connected_account: viewWithSecrets(next) } }
}

function mergedCredentials(account: Account, patch: CredentialsPatch): Credentials {
  return mergeCredentials(account.credentials, patch, account.authorization_type, account.identifier)
}

export function listConnectedAccounts({ environment, query }: Call<'list_connected_accounts'>): Reply {
  const { connection_names, page_size, page_token, ...exact } = query
  if (connection_names?.length && query.connector) {
    throw invalidField('connection_names', 'must not be sent beside connector', 'exclusive')
  }
  const filter = { ...accountFilter(exact), ...(connection_names?.length ? { connectors: connection_names } : {}) }
  return { status: 200, body: accountPage(environment, 'list', filter, { page_size, page_token }) }
}

/** GET /connected_accounts:search (4.9, G3): at least three characters after trimming. */
export function searchConnectedAccounts({ environment, query }: Call<'search_connected_accounts'>): Reply {
  const text = query.query.trim()
  const { length } = Array.from(text)
  if (length < 3) {
    throw invalidField(
      'query',
      ruleAndFound('must have at least 3 characters after trimming', String(length)),
      'minLength',
    )
  }
  const filter = accountFilter({ query: text, connection_id: query.connection_id })
  return { status: 200, body: accountPage(environment, 'search', filter, query) }
}

function accountPage(
  environment: Environment,
  listing: string,
  filter: AccountFilter,
  { page_size, page_token }: { page_size?: number | undefined; page_token?: string | undefined },
) {
  const accounts = environment.model.accountIndex.where(filter)
  const { rows, ...page } = pageOf(environment, listing, { ...filter, page_size, page_token }, accounts, sequenceOf)
  return { connected_accounts: rows.map(accountSummary), ...page }
}

const sequenceOf = ({ sequence }: Account): number => sequence

/** Filters that were sent: an empty string counts as not given. */
export function accountFilter(filter: Record<string, string | undefined>): AccountFilter {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value))
}

/** GET /connected_accounts/auth (4.4): full credentials, renewed first when their token has expired (G56). */
export function getConnectedAccountAuth(call: Call<'get_connected_account_auth'>): Reply | Promise<Reply> {
  const account = locateAccount(call, call.query)
  const replyOf = (of: Account): Reply => ({ status: 200, body: { connected_account: viewWithSecrets(of) } })
  if (account.status !== 'ACTIVE' || !isExpired(call.environment, account)) return replyOf(account)
  return renewAccount(call, account).then((renewal) => replyOf(renewal.account))
}

/** GET /connected_accounts/details (4.5): never a stored credential. */
export function getConnectedAccountDetails(call: Call<'get_connected_account_details'>): Reply {
  const account = locateAccount(call, call.query)
  // Rows are immutable, and so is what is answered of one.
  const body = call.environment.details.of(account, () => ({ connected_account: withoutCredentials(account) }))
  return { status: 200, body, cacheable: true }
}

/** POST /connected_accounts:delete (4.8, 3.1): the third party refuses its tokens and keys from then on. */
export function deleteConnectedAccount(call: Call<'delete_connected_account'>): Reply {
  const { environment, trace } = call
  const account = locateAccount(call, call.body)
  environment.model.transact(() => {
    revokeGrants(environment, account)
    removeItemsOf(environment, account)
    environment.model.tables.accounts.remove(account.id)
    trace.deleted(account, now(environment))
  }, trace)
  return { status: 200 }
}

/** The account that a request names, noted for the request journal. */
export function locateAccount(
  { environment, documentedOnly, trace }: { environment: Environment; documentedOnly: boolean; trace: RequestTrace },
  locator: Locator,
  names?: LocatorNames,
): Account {
  const account = accountByLocator(environment.model.accountIndex, locator, documentedOnly, names)
  trace.account = account
  return account
}

/** The connector of an account; once its custom provider is deleted, one of the same type without tools (G40). */
export function connectorOf(environment: Environment, account: Account): Connector {
  return environment.connector(account.connector) ?? bareConnector(account.connector, account.authorization_type)
}

/** The account object of create, update and get-auth, with credentials (2.1, 2.2). */
function viewWithSecrets(account: Account): AccountView {
  return accountView(account, fullDetails(account.credentials, account.authorization_type))
}

/** The account object of get-details: everything but the credentials (4.5, G22). */
export function withoutCredentials(account: Account): AccountView {
  return accountView(account, publicDetails(account.credentials, account.authorization_type))
}
