import type { Credentials } from '../../domain/credentials.ts'
import { headerOf, headerValue } from '../wire.ts'
import { type Scheme, judge, realm, refuse } from './scheme.ts'

/** `Authorization: Bearer …` (RFC 6750): the types whose access tokens come from a token endpoint. */
export const bearer: Scheme = {
  present(request, credentials) {
    const token = headerValue(tokenOf(credentials))
    if (token !== '') request.headers['Authorization'] = `Bearer ${token}`
  },

  verify(request, context) {
    const header = headerOf(request, 'authorization')
    if (header === '') return refuse('missing', () => `Bearer ${realm(context.connector)}`)
    const challenge = (message: string): string =>
      `Bearer ${realm(context.connector)}, error="invalid_token", error_description="${message}"`
    const [, token] = /^Bearer +(\S.*)$/i.exec(header) ?? []
    return token === undefined ? refuse('malformed', challenge) : judge(request, context, token, challenge)
  },

  known(credentials) {
    const { oauth_token, workspace_dwd } = credentials
    const access = headerValue(tokenOf(credentials))
    const refresh_token = oauth_token?.refresh_token ?? ''
    if (access === '' && refresh_token === '') return undefined
    return { access, secret: '', refresh_token, scopes: oauth_token?.scopes ?? workspace_dwd?.scopes ?? [] }
  },
}

function tokenOf(credentials: Credentials): string {
  return credentials.oauth_token?.access_token ?? credentials.workspace_dwd?.access_token ?? ''
}
