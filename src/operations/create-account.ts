import { type Account, type Scope, scopeOf, issued, withLive } from '../domain/account.ts'
import {
  areLive,
  bringsCredentials,
  checkDatabaseUser,
  checkFit,
  type CredentialsPatch,
  mergeCredentials,
  mergeKeys,
} from '../domain/credentials.ts'
import { isAuthorizationType, TRAITS } from '../domain/authorization-type.ts'
import type { Connector } from '../domain/connector.ts'
import { invalidField, ServiceError } from '../domain/errors.ts'
import { nextStatus } from '../domain/lifecycle.ts'
import type { ThirdParty } from '../domain/ports.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import { type Environment, now } from '../state/environment.ts'
import { withCredentials } from './account-view.ts'
import { connectionOf, knownConnector } from './connectors.ts'
import type { Call, Reply } from './operation.ts'

/** POST /connected_accounts (4.3): 201, or 409 when the scope already holds the identifier at this connector. */
export async function createConnectedAccount(call: Call<'create_connected_account'>): Promise<Reply> {
  const { environment, thirdParty, body, trace } = call
  const connector = knownConnector(environment, body.connector)
  checkAuthorizationType(body.connected_account?.authorization_type, connector, trace)
  const patch: CredentialsPatch = body.connected_account?.authorization_details ?? {}
  checkFit(patch, connector.authorization_type)
  const draft = newAccount(environment, connector, body.identifier, scopeOf(body))
  const credentials = mergeCredentials({}, patch, connector.authorization_type, body.identifier)
  checkDatabaseUser(credentials, connector)
  noteIdleDatabaseUser(patch, connector, trace)
  refuseDuplicate(environment, draft)
  const api_config = mergeKeys({}, body.connected_account?.api_config ?? {})
  const account = await equip(call, connector, { ...draft, credentials, api_config })
  const created = insert(environment, thirdParty, { connector, account, accept: bringsCredentials(patch) })
  const event = created.status === 'ACTIVE' ? 'created_with_credentials' : 'created_without_credentials'
  trace.created(created, event, created.updated_at)
  return { status: 201, body: { connected_account: withCredentials(created) } }
}

/** A new account of a connector, without credentials and not yet in the model. */
export function newAccount(environment: Environment, connector: Connector, identifier: string, scope: Scope): Account {
  return {
    id: environment.ids.id('ca'),
    sequence: 0,
    connection_id: connectionOf(environment, connector.connector)?.id ?? '',
    connector: connector.connector,
    provider: connector.connector,
    identifier,
    ...scope,
    authorization_type: connector.authorization_type,
    status: 'PENDING_AUTH',
    updated_at: now(environment),
    api_config: {},
    credentials: {},
  }
}

/**
 * Gives a new account its place in creation order and puts it into the model.
 * @throws ServiceError ACCOUNT_ALREADY_EXISTS (409): looked up again here, where nothing can come in between (G55)
 */
function insert(
  environment: Environment,
  thirdParty: ThirdParty,
  { connector, account, accept }: { connector: Connector; account: Account; accept: boolean },
): Account {
  const { model } = environment
  return model.transact(() => {
    refuseDuplicate(environment, account)
    const placed = { ...account, sequence: model.count('account_sequence') }
    model.tables.accounts.put(placed)
    if (accept) thirdParty.accept(connector, placed, placed.credentials)
    return placed
  })
}

/** G10: a value of the enumeration must be the connector's own type; any other string is ignored with a warning. */
export function checkAuthorizationType(sent: string | undefined, connector: Connector, trace: RequestTrace): void {
  if (sent === undefined || sent === connector.authorization_type) return
  const field = 'connected_account.authorization_type'
  if (isAuthorizationType(sent)) {
    const allowed = `${connector.authorization_type}, the type of connector ${connector.connector}, or nothing`
    throw invalidField(field, `found ${sent}, expected ${allowed}`, 'authorization_type')
  }
  trace.ignored(field, 'no authorization type of the service: ignored')
}

/** Serverless workgroups ignore the database user (2.2). */
export function noteIdleDatabaseUser(
  { trusted_idp }: CredentialsPatch,
  connector: Connector,
  trace: RequestTrace,
): void {
  if (trusted_idp?.db_user === undefined || connector.cluster !== 'serverless') return
  const field = 'connected_account.authorization_details.trusted_idp.db_user'
  trace.ignored(
    field,
    `connector ${connector.connector} is a serverless workgroup, which has no database users: ignored`,
  )
}

/** Live credentials and the status they lead to (G24, G25): those that were given, else those that the service obtains itself. */
async function equip(
  { environment, thirdParty }: Call<'create_connected_account'>,
  connector: Connector,
  draft: Account,
): Promise<Account> {
  const { source } = TRAITS[connector.authorization_type]
  let account = draft
  const at = environment.clock.now()
  if (areLive(draft.credentials)) {
    account = withLive(draft, issued(draft, draft.credentials, connector.oauth.access_token_lifetime, at))
  } else if (source === 'service') {
    const answer = await thirdParty.obtain(connector, draft)
    const then = environment.clock.now()
    if (answer.granted) account = withLive(draft, issued(draft, answer.credentials, answer.lifetime_ms, then))
  }
  const ready = source === 'none' || areLive(account.credentials)
  const event = ready ? 'created_with_credentials' : 'created_without_credentials'
  return { ...account, status: nextStatus('none', event), updated_at: now(environment) }
}

function refuseDuplicate(environment: Environment, account: Account): void {
  const existing = environment.model.accountIndex.inScope(account.connector, account.identifier, account)
  if (!existing) return
  const what = `identifier ${JSON.stringify(account.identifier)} at connector ${JSON.stringify(account.connector)}`
  throw new ServiceError('ACCOUNT_ALREADY_EXISTS', `a connected account with ${what} already exists in this scope`, {
    resource: existing.id,
  })
}
