import { TRAITS } from '../domain/authorization-type.ts'
import type { Connector } from '../domain/connector.ts'
import type { Grant } from '../domain/grant.ts'
import { type Instant, instant } from '../domain/instant.ts'
import { type Environment, now } from '../state/environment.ts'

/** Who a new grant is for, and what it allows. */
export interface Grantee {
  account_id: string
  person: string
  scopes: string[]
}

/** How many spent grants of an account are remembered, so that a replayed refresh token is known for what it is. */
const REMEMBERED = 5

/** Issues a new access token. Only inside a transaction. */
export function issueGrant(
  environment: Environment,
  connector: Connector,
  grantee: Grantee,
  tokens: Partial<Pick<Grant, 'access' | 'secret' | 'refresh_token'>> = {},
): Grant {
  forgetSpent(environment, grantee.account_id)
  const expires_at = expiry(environment, connector)
  const grant: Grant = {
    id: environment.ids.id('grant'),
    connector: connector.connector,
    ...grantee,
    access: tokens.access ?? `at_${environment.ids.opaque()}`,
    secret: tokens.secret ?? '',
    refresh_token: tokens.refresh_token ?? '',
    ...(expires_at === undefined ? {} : { expires_at }),
    revoked: false,
    refresh_revoked: false,
  }
  environment.model.tables.grants.put(grant)
  return grant
}

export function newRefreshToken(environment: Environment): string {
  return `rt_${environment.ids.opaque()}`
}

/** When an access token issued now stops working; undefined for types whose tokens never do. */
export function expiry(environment: Environment, connector: Connector): Instant | undefined {
  if (!TRAITS[connector.authorization_type].expires) return undefined
  return instant(environment.clock.now() + connector.oauth.access_token_lifetime)
}

/** The grant as it is once nothing of it works any more; from then on it has an end, after which it can be forgotten. */
export function revoked(environment: Environment, grant: Grant): Grant {
  return { ...grant, expires_at: grant.expires_at ?? now(environment), revoked: true, refresh_revoked: true }
}

/** A grant is spent when its access token has expired and its refresh token brings nothing more. */
function forgetSpent(environment: Environment, accountId: string): void {
  if (accountId === '') return
  const present = now(environment)
  const spent = environment.model.grantIndex
    .ofAccount(accountId)
    .filter((grant) => (grant.refresh_token === '' || grant.refresh_revoked) && (grant.expires_at ?? '9') <= present)
  for (const grant of spent.slice(0, -REMEMBERED)) environment.model.tables.grants.remove(grant.id)
}
