import { type Account, updated, withLive, withoutPending } from '../domain/account.ts'
import { TRAITS } from '../domain/authorization-type.ts'
import { lacksDatabaseUser, mergeCredentials } from '../domain/credentials.ts'
import type { AuthRequest } from '../domain/magic-link.ts'
import type { ThirdParty } from '../domain/ports.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import { type Environment, now } from './environment.ts'

/** Ends the auth requests of an account that wait for verification: they then answer 404. Only inside a transaction. */
export function endRequests(
  { model }: Environment,
  account: Account,
  outcome: Extract<AuthRequest['outcome'], 'superseded' | 'withdrawn'>,
): void {
  for (const request of model.pendingRequests.get(account.id)) model.tables.auth_requests.put({ ...request, outcome })
}

/**
 * Gives the accounts of a connector the connector's authorization type (G39). Credentials of another type no longer fit: they
 * are revoked and dropped, what waits for verification ends, and the account is as after a create without credentials. Only
 * inside a transaction.
 */
export function adoptConnectorType(
  environment: Environment,
  thirdParty: Pick<ThirdParty, 'revoke'>,
  name: string,
  trace: RequestTrace,
): void {
  const connector = environment.connector(name)
  if (!connector) return
  const type = connector.authorization_type
  const { source } = TRAITS[type]
  const at = now(environment)
  for (const account of environment.model.accountIndex.ofConnector(name)) {
    if (account.authorization_type === type) continue
    thirdParty.revoke(account)
    endRequests(environment, account, 'withdrawn')
    const credentials = mergeCredentials({}, {}, type, account.identifier)
    const isObtained = source === 'service' && !lacksDatabaseUser(credentials, connector)
    // The service obtains these at the first use, because their time is over.
    const live = isObtained ? { credentials, token_expires_at: at } : { credentials }
    const changed = updated(account, withLive({ ...withoutPending(account), authorization_type: type }, live), at)
    const event = isObtained || source === 'none' ? 'type_changed_ready' : 'type_changed'
    environment.model.tables.accounts.put(trace.moved(changed, event, at))
  }
}
