import { createHash, createHmac } from 'node:crypto'
import { now } from '../../state/environment.ts'
import { encodePart, headerOf } from '../wire.ts'
import { type Scheme, judge, realm, refuse } from './scheme.ts'

const ALGORITHM = 'TMK1-HMAC-SHA256'

/** What the signature covers, in its order. */
interface SignedParts {
  method: string
  path: string
  query: Iterable<readonly [name: string, value: string]>
  date: string
  session: string
  body: string | Buffer
}

/**
 * Requests signed with temporary keys: an HMAC-SHA256 over method, path, query, date, session token and body, made with
 * the secret key, which itself never travels. The session token is derived from the key, so that the third party can
 * check that the two belong together.
 */
export const signed: Scheme = {
  present(request, credentials, context) {
    const { access_key_id = '', secret_access_key = '', session_token = '' } = credentials.trusted_idp ?? {}
    if (access_key_id === '') return
    const date = now(context.environment)
    const { method, path, query, body } = request
    const signature = sign({ method, path, query, date, session: session_token, body }, secret_access_key)
    request.headers['X-Date'] = date
    request.headers['X-Session-Token'] = session_token
    request.headers['Authorization'] = `${ALGORITHM} Credential=${access_key_id}, Signature=${signature}`
  },

  verify(request, context) {
    const challenge = (): string => `${ALGORITHM} ${realm(context.connector)}`
    const header = headerOf(request, 'authorization')
    if (header === '') return refuse('missing', challenge)
    const [, keyId, signature] = /^TMK1-HMAC-SHA256 Credential=([^,\s]+), Signature=([0-9a-f]{64})$/.exec(header) ?? []
    if (keyId === undefined) return refuse('malformed', challenge)
    const verdict = judge(request, context, keyId, challenge)
    if (!verdict.allowed || !verdict.grant) return verdict
    const session = headerOf(request, 'x-session-token')
    if (session !== sessionToken(keyId, verdict.grant.secret)) return refuse('unknown', challenge)
    const { method, rawPath: path, query, body } = request
    const date = headerOf(request, 'x-date')
    const expected = sign({ method, path, query, date, session, body }, verdict.grant.secret)
    return signature === expected ? verdict : refuse('bad_signature', challenge)
  },

  known(credentials) {
    const { access_key_id = '', secret_access_key = '' } = credentials.trusted_idp ?? {}
    if (access_key_id === '' || secret_access_key === '') return undefined
    return { access: access_key_id, secret: secret_access_key, refresh_token: '', scopes: [] }
  },
}

/** The session token that goes with a temporary key. */
export function sessionToken(keyId: string, secret: string): string {
  return `st_${createHmac('sha256', secret).update(`session ${keyId}`).digest('base64url')}`
}

function sign({ method, path, query, date, session, body }: SignedParts, secret: string): string {
  const parameters = Array.from(query, ([name, value]) => `${encodePart(name)}=${encodePart(value)}`).sort()
  const bodyHash = createHash('sha256').update(body).digest('hex')
  const text = [ALGORITHM, method, path, parameters.join('&'), date, session, bodyHash].join('\n')
  return createHmac('sha256', secret).update(text).digest('hex')
}
