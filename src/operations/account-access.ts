import type { Account } from '../domain/account.ts'
import type { Connector } from '../domain/connector.ts'
import { ServiceError } from '../domain/errors.ts'
import { locate, type Locator } from '../domain/locator.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import type { Environment } from '../state/environment.ts'

interface Context {
  readonly environment: Environment
  readonly strict: boolean
  readonly trace: RequestTrace
}

/** The account that a request names, noted for the journal. */
export function locateAccount({ environment, strict, trace }: Context, locator: Locator): Account {
  const account = locate(environment.model.accountIndex, locator, strict)
  trace.account = account
  return account
}

/** The account as it is now, after something was awaited: another request may have changed or deleted it. */
export function presentAccount(environment: Environment, id: string): Account {
  const account = environment.model.tables.accounts.get(id)
  if (account) return account
  throw new ServiceError('ACCOUNT_NOT_FOUND', `connected account ${JSON.stringify(id)} was deleted in the meantime`)
}

/** The connector of an account; gone when its custom provider was deleted, which answers 404 (G40). */
export function connectorOf(environment: Environment, account: Account): Connector {
  const connector = environment.connector(account.connector)
  if (connector) return connector
  const message = `connector ${JSON.stringify(account.connector)} of account ${account.id} no longer exists`
  throw new ServiceError('PROVIDER_NOT_FOUND', message)
}
