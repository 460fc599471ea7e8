import { matchesGlob } from '../../domain/glob.ts'
import { issueGrant } from '../issue.ts'
import { sessionToken } from '../schemes/signed.ts'
import { assertedSubject } from './jwt-bearer.ts'
import { type GrantType, refused, requestedScopes, tokenBody } from './grant-type.ts'

/** RFC 8693: an identity that the third party trusts, for temporary keys (`TRUSTED_IDP`; provisioned clusters need `db_user`, 2.2). */
export const tokenExchange: GrantType = (call) => {
  const { environment, connector, form, accountId } = call
  const subject = assertedSubject(call, 'subject_token')
  if (typeof subject !== 'string') return subject
  const user = form.get('db_user') ?? ''
  if (connector.cluster === 'provisioned' && user === '')
    return refused('invalid_request', 'a provisioned cluster needs db_user')
  if (connector.reject.some((glob) => matchesGlob(glob, user)))
    return refused('invalid_grant', 'access for this db_user is not allowed')
  const keys = { access: environment.ids.id('key'), secret: `sk_${environment.ids.opaque()}` }
  const grantee = { account_id: accountId, person: subject, scopes: requestedScopes(call) }
  const grant = issueGrant(environment, connector, grantee, keys)
  return {
    body: {
      ...tokenBody(connector, grant),
      // The session token stands where an access token does; the keys are what requests are signed with.
      access_token: sessionToken(grant.access, grant.secret),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'N_A',
      access_key_id: grant.access,
      secret_access_key: grant.secret,
    },
  }
}
