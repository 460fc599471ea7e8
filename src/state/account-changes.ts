import {
  type Account,
  expiryOfIssue,
  type Scope,
  updatedAccount,
  withLive,
  withoutPending,
} from '../model/domain/account.ts'
import { TRAITS } from '../model/domain/authorization-type.ts'
import { type Connector, providerOf } from '../model/domain/connector.ts'
import { lacksDatabaseUser, mergeCredentials } from '../model/domain/credentials.ts'
import { type Instant, instant } from '../model/domain/instant.ts'
import type { AuthRequest } from '../model/domain/generated/tables.ts'
import type { ThirdParty } from '../model/domain/ports.ts'
import type { RequestTrace } from '../model/domain/request-trace.ts'
import { accountsOf, connectionOf, type Environment, now } from './environment.ts'
import { revokeGrants } from './grants.ts'

export function newAccount(
  environment: Environment,
  connector: Connector,
  name: Scope & Pick<Account, 'connector' | 'identifier'>,
  id = environment.ids.id('ca'),
): Account {
  return {
    id,
    sequence: 0,
    connection_id: connectionOf(environment, name.connector)?.id ?? '',
    connector: name.connector,
    provider: providerOf(connector),
    identifier: name.identifier,
    organization_id: name.organization_id,
    user_id: name.user_id,
    authorization_type: connector.authorization_type,
    status: 'PENDING_AUTH',
    updated_at: now(environment),
    api_config: {},
    credentials: mergeCredentials({}, {}, connector.authorization_type, name.identifier),
  }
}

/** Ends the auth requests of an account that wait for verification: they then answer 404. Only inside a transaction. */
export function endRequests(
  { model }: Environment,
  account: Account,
  outcome: Extract<AuthRequest['outcome'], 'superseded' | 'withdrawn'>,
): void {
  for (const request of model.pendingRequests.get(account.id)) model.tables.auth_requests.put({ ...request, outcome })
}

/** Ends the open links of accounts: from now on they answer 410 as expired ones do, at any time of the clock. */
function endLinks({ model }: Environment, accounts: ReadonlySet<string>, at: Instant): void {
  const { magic_links } = model.tables
  for (const link of model.openLinks())
    if (accounts.has(link.account_id) && !link.expired)
      magic_links.put({ ...link, expires_at: link.expires_at > at ? at : link.expires_at, expired: true })
}

/** Gives all connections of these connectors the type of their connector. Only inside a transaction. */
export function adoptConnectionTypes(environment: Environment, connectors: readonly Connector[]): void {
  const types = new Map(connectors.map((each) => [each.connector, TRAITS[each.authorization_type].connectionType]))
  const { connections } = environment.model.tables
  for (const connection of connections.values()) {
    const type = types.get(environment.connector(connection.key_id)?.connector ?? '')
    if (type !== undefined && connection.type !== type) connections.put({ ...connection, type })
  }
}

/**
 * Credentials of another type no longer fit (G39): they are revoked and dropped, links and what waits for verification
 * end, and the account is as after a create without credentials. Only inside a transaction.
 */
export function adoptConnectorType(
  environment: Environment,
  thirdParty: Pick<ThirdParty, 'issue'>,
  name: string,
  trace: RequestTrace,
): void {
  const connector = environment.connector(name)
  if (!connector) return
  const type = connector.authorization_type
  const { source } = TRAITS[type]
  const now = environment.clock.now()
  const at = instant(now)
  const changed = new Set<string>()
  for (const account of accountsOf(environment, connector.connector)) {
    if (account.authorization_type === type) continue
    revokeGrants(environment, account)
    endRequests(environment, account, 'withdrawn')
    changed.add(account.id)
    const credentials = mergeCredentials({}, {}, type, account.identifier)
    const bare = { ...withoutPending(account), authorization_type: type, credentials }
    const isObtained = source === 'service' && !lacksDatabaseUser(credentials, connector)
    const response = isObtained ? thirdParty.issue(connector, bare) : undefined
    const live = response?.granted
      ? expiryOfIssue(bare, response.credentials, response.lifetime_ms, now)
      : { credentials }
    const event = response?.granted || source === 'none' ? 'type_changed_ready' : 'type_changed'
    environment.model.tables.accounts.put(trace.moved(updatedAccount(account, withLive(bare, live), at), event, at))
  }
  if (changed.size > 0) endLinks(environment, changed, at)
}
