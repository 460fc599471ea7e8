import type { Grant } from '../../domain/grant.ts'
import type { Environment } from '../../state/environment.ts'
import { issueGrant, newRefreshToken, revoked } from '../issue.ts'
import { type GrantType, refused, tokenBody } from './grant-type.ts'

/**
 * RFC 6749 6: with `keep` the refresh token stays, with `rotate` each use replaces it. One that was replaced and comes
 * back is taken for stolen: everything that descends from it is revoked, as real applications do (RFC 9700 4.14.2).
 */
export const refreshToken: GrantType = ({ environment, connector, form, accountId }) => {
  const presented = form.get('refresh_token')
  if (presented === undefined || presented === '') return refused('invalid_request', 'refresh_token is missing')
  const grant = environment.model.grantIndex.byRefreshToken(connector.connector, presented)
  if (!grant) return refused('invalid_grant', 'the refresh token is unknown')
  if (grant.revoked) return refused('invalid_grant', 'the refresh token has been revoked')
  if (grant.refresh_revoked) return replayed(environment, grant)
  if (connector.oauth.refresh_token === 'none')
    return refused('unauthorized_client', 'this application renews no tokens')
  const rotates = connector.oauth.refresh_token === 'rotate'
  environment.model.tables.grants.put(rotates ? { ...grant, refresh_revoked: true } : { ...grant, refresh_token: '' })
  const grantee = { account_id: grant.account_id || accountId, person: grant.person, scopes: grant.scopes }
  const tokens = { refresh_token: rotates ? newRefreshToken(environment) : presented }
  const body = tokenBody(connector, issueGrant(environment, connector, grantee, tokens))
  if (!rotates) delete body['refresh_token']
  return { body }
}

function replayed(environment: Environment, spent: Grant) {
  for (const grant of environment.model.grantIndex.ofAccount(spent.account_id)) {
    if (grant.connector !== spent.connector || grant.person !== spent.person) continue
    environment.model.tables.grants.put(revoked(environment, grant))
  }
  return refused('invalid_grant', 'the refresh token was used before; everything issued from it is revoked')
}
