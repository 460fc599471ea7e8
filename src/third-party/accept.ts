import type { Account } from '../domain/account.ts'
import type { Connector } from '../domain/connector.ts'
import type { Credentials } from '../domain/credentials.ts'
import { matchesGlob } from '../domain/glob.ts'
import type { JsonValue } from '../domain/json.ts'
import type { Environment } from '../state/environment.ts'
import { expiry, revoked } from './issue.ts'
import type { SchemeContext } from './schemes/scheme.ts'
import { SCHEMES } from './schemes/table.ts'

/**
 * Makes credentials that a caller stored count as issued, and the account's former ones count no longer. Credentials
 * that the connector's `reject` globs name stay unknown, so that calls with them get 401. Only inside a transaction.
 */
export function acceptCredentials(context: SchemeContext, account: Account, credentials: Credentials): void {
  const { environment, connector } = context
  const scheme = SCHEMES[connector.authorization_type]
  const known = isRejected(connector, credentials) ? undefined : scheme.known(credentials, context)
  const waiting = account.pending && scheme.known(account.pending.credentials, context)?.access
  const former = environment.model.grantIndex.ofAccount(account.id)
  const same = former.find((grant) => grant.connector === connector.connector && grant.access === known?.access)
  for (const grant of former) {
    if (grant !== same && grant.access !== waiting) environment.model.tables.grants.put(revoked(environment, grant))
  }
  if (!known) return
  const expires_at = known.access === '' ? undefined : expiry(environment, connector)
  environment.model.tables.grants.put({
    id: same?.id ?? environment.ids.id('grant'),
    connector: connector.connector,
    account_id: account.id,
    person: account.identifier,
    ...known,
    ...(expires_at === undefined ? {} : { expires_at }),
    revoked: false,
    refresh_revoked: false,
  })
}

/** Refuses everything that the third party knows of the account from now on. Only inside a transaction. */
export function revokeCredentials(environment: Environment, account: Account): void {
  for (const grant of environment.model.grantIndex.ofAccount(account.id))
    environment.model.tables.grants.put(revoked(environment, grant))
}

function isRejected({ reject }: Connector, credentials: Credentials): boolean {
  if (reject.length === 0) return false
  const { oauth_token, static_auth } = credentials
  const values = [
    oauth_token?.access_token ?? '',
    oauth_token?.refresh_token ?? '',
    ...texts(static_auth?.details ?? null),
  ]
  return values.some((value) => value !== '' && reject.some((glob) => matchesGlob(glob, value)))
}

function texts(value: JsonValue): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : []
}
