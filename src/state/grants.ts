import type { Account } from '../model/domain/account.ts'
import type { Connector } from '../model/domain/connector.ts'
import type { Grant } from '../model/domain/generated/tables.ts'
import { milliseconds } from '../model/domain/instant.ts'
import type { Environment } from './environment.ts'

/** Revokes everything that third parties have issued to the account, permanently if the settings say so. Only inside a transaction. */
export function revokeGrants({ model, clock, settings }: Environment, account: Account): void {
  const final = settings.revocation === 'final' ? { final: true as const } : {}
  for (const grant of model.grantIndex.ofAccount(account.id))
    model.tables.grants.put({ ...revokedGrant({ clock }, grant), ...final })
}

/** The grant as revoked. Without an expiry it gets one, after which it can be removed. */
export function revokedGrant({ clock }: Pick<Environment, 'clock'>, grant: Grant): Grant {
  return { ...grant, expires_at: grant.expires_at ?? clock.instant(), revoked: true, refresh_revoked: true }
}

/** Whether a refresh token that was replaced still gives its successor (G72). */
export function isReusable({ clock }: Pick<Environment, 'clock'>, grant: Grant, { oauth }: Connector): boolean {
  const { reuse_interval: interval = 0 } = oauth
  return grant.replaced_at !== undefined && clock.now() < milliseconds(grant.replaced_at) + interval
}

/** Whether the third party refuses the account's refresh token. That of a server of the user's own is not known here. */
export function refusesRenewal(
  { model, clock }: Environment,
  account: Account,
  connector: Connector | undefined,
): boolean {
  const token = account.credentials.oauth_token?.refresh_token ?? ''
  if (token === '' || !connector || connector.base_url) return false
  const ofAccount = model.grantIndex
    .ofAccount(account.id)
    .findLast((grant) => grant.refresh_token === token && !grant.revoked)
  const renewed = ofAccount ?? model.grantIndex.byRefreshToken(connector.connector, token)
  if (!renewed || renewed.revoked) return true
  return renewed.refresh_revoked && !isReusable({ clock }, renewed, connector)
}
