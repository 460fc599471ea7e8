import { hash, timingSafeEqual } from 'node:crypto'

/** Whether a secret that was sent is the expected one; takes the same time for every text that was sent, of any length. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}

export const ADMIN_TOKEN_RULE = 'visible ASCII characters, without blanks at its ends'

/** Whether a header can carry a text as the admin token. */
export function isAdminToken(text: string): boolean {
  return /^[!-~](?:[ -~]*[!-~])?$/.test(text)
}

const SECRET_PARTS = [
  'secret',
  'password',
  'passphrase',
  'privatekey',
  'apikey',
  'accesskey',
  'assertion',
  'credential',
]
const SECRET_ENDS = ['token', 'tokens', 'signature', 'authorization', 'cookie', 'cookies']
const PAGE_TOKENS: ReadonlySet<string> = new Set(['pagetoken', 'nextpagetoken', 'prevpagetoken'])

/** Whether a field, parameter or header of this name is a secret. Those that only identify or describe a secret are not. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  if (PAGE_TOKENS.has(plain)) return false
  return SECRET_PARTS.some((part) => plain.includes(part)) || SECRET_ENDS.some((end) => plain.endsWith(end))
}

/** What of a value may be shown: all of it, only the fields of credentials that are no secrets, or nothing. */
export type Secrecy = 'open' | 'credentials' | 'secret'

/** Objects of credentials, of which only some fields can be shown (2.2). */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization_details',
  'oauth_token',
  'workspace_dwd',
  'trusted_idp',
])
const SHOWN_OF_CREDENTIALS: ReadonlySet<string> = new Set([
  'scopes',
  'domain',
  'subject',
  'token_expires_at',
  'db_user',
  'expiry',
  'authorization_type',
])
/** Objects whose every field is a secret, with any name that a connector gives it: `static_auth.details` (2.2). */
const SECRET_OBJECTS: ReadonlySet<string> = new Set(['details', 'static_auth', 'credentials'])
/** Objects in whose place a client may send the secret itself by mistake. */
const HOLDERS: ReadonlySet<string> = new Set([...CREDENTIALS, ...SECRET_OBJECTS, 'connected_account', 'api_config'])

/**
 * The secrecy of a member: by its name in the document (G48), by whether it is an object, and by the secrecy of the object
 * that contains it.
 */
export function secrecyOf(name: string, isObject: boolean, around: Secrecy): Secrecy {
  if (around === 'secret') return 'secret'
  if (HOLDERS.has(name) && !isObject) return 'secret'
  if (CREDENTIALS.has(name)) return 'credentials'
  if (SECRET_OBJECTS.has(name) || isSecretName(name)) return 'secret'
  return around === 'credentials' && !SHOWN_OF_CREDENTIALS.has(name) ? 'secret' : 'open'
}

/** Whether the name of a form field is other text, such as JSON that a client sent with the media type of a form. */
export function isTextAsName(name: string): boolean {
  return /[\r\n"{<]|:\s/.test(name)
}
