import { TRAITS } from '../../domain/authorization-type.ts'
import { now } from '../../state/environment.ts'
import { issueGrant, newRefreshToken } from '../issue.ts'
import { type GrantType, refused, tokenBody } from './grant-type.ts'

/** RFC 6749 4.1.3: a code works once, in time, and with the redirect URI that it was issued for. */
export const authorizationCode: GrantType = ({ environment, connector, form, accountId }) => {
  const id = form.get('code')
  if (id === undefined) return refused('invalid_request', 'code is missing')
  const code = environment.model.tables.authorization_codes.get(id)
  if (!code || code.connector !== connector.connector)
    return refused('invalid_grant', 'the code is unknown or was used before')
  environment.model.tables.authorization_codes.remove(id)
  if (code.expires_at <= now(environment)) return refused('invalid_grant', 'the code has expired')
  if (code.redirect_uri !== form.get('redirect_uri'))
    return refused('invalid_grant', 'redirect_uri is not the one of the authorization')
  const renewable = TRAITS[connector.authorization_type].expires && connector.oauth.refresh_token !== 'none'
  const grantee = { account_id: accountId, person: code.person, scopes: code.scopes }
  const tokens = { refresh_token: renewable ? newRefreshToken(environment) : '' }
  return { body: tokenBody(connector, issueGrant(environment, connector, grantee, tokens)) }
}
