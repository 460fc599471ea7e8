import { matchesGlob } from '../../domain/glob.ts'
import { own } from '../../domain/json.ts'
import { verifyJwt } from '../jwt.ts'
import { issueGrant } from '../issue.ts'
import { type GrantType, type TokenCall, refused, requestedScopes, tokenBody } from './grant-type.ts'

/** RFC 7523: the application vouches for the user whom it acts for (`WORKSPACE_DWD`). */
export const jwtBearer: GrantType = (call) => {
  const subject = assertedSubject(call, 'assertion')
  if (typeof subject !== 'string') return subject
  const { environment, connector, accountId } = call
  const grantee = { account_id: accountId, person: subject, scopes: requestedScopes(call) }
  return { body: tokenBody(connector, issueGrant(environment, connector, grantee)) }
}

/** Who a signed assertion speaks of, or why it does not count. */
export function assertedSubject(call: TokenCall, field: string) {
  const { environment, connector, application, form } = call
  const token = form.get(field)
  if (token === undefined) return refused('invalid_request', `${field} is missing`)
  const claims = verifyJwt(token, application.client_secret)
  if (!claims || own(claims, 'iss') !== application.client_id)
    return refused('invalid_grant', 'the assertion is not signed by this application')
  const expires = own(claims, 'exp')
  if (typeof expires !== 'number' || expires * 1000 <= environment.clock.now())
    return refused('invalid_grant', 'the assertion has expired')
  const subject = own(claims, 'sub')
  if (typeof subject !== 'string' || subject === '') return refused('invalid_grant', 'the assertion names no subject')
  if (connector.reject.some((glob) => matchesGlob(glob, subject)))
    return refused('invalid_grant', 'access for this subject is not allowed')
  return subject
}
