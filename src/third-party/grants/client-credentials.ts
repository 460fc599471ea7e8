import { issueGrant } from '../issue.ts'
import { type GrantType, requestedScopes, tokenBody } from './grant-type.ts'

/** RFC 6749 4.4: the application itself is who signs in (`OAUTH_M2M`). */
export const clientCredentials: GrantType = (call) => {
  const { environment, connector, application, accountId } = call
  const grantee = { account_id: accountId, person: application.client_id, scopes: requestedScopes(call) }
  return { body: tokenBody(connector, issueGrant(environment, connector, grantee)) }
}
