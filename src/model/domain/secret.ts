import { hash, timingSafeEqual } from 'node:crypto'

/** Whether a secret that was sent is the expected one; takes the same time for every text that was sent, of any length. */
export function isSameSecret(candidate: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', candidate, 'buffer'), hash('sha256', expected, 'buffer'))
}

export const ADMIN_TOKEN_RULE = 'visible ASCII characters, without blanks at its ends'

/** Whether a header can carry a text as the admin token. */
export function isAdminToken(text: string): boolean {
  return /^[!-~](?:[ -~]*[!-~])?$/.test(text)
}

const SECRET_PARTS = [
  'secret',
  'password',
  'passwd',
  'passphrase',
  'passcode',
  'privatekey',
  'apikey',
  'accesskey',
  'signingkey',
  'sharedkey',
  'masterkey',
  'encryptionkey',
  'assertion',
  'credential',
  'sessionid',
  'sessid',
  'connectionstring',
]
/** Other words that begin like a secret. */
const OTHER_WORDS = /(?:secretar|secretion|secretly|passwordless)[a-z]*/g
const SECRET_ENDS = ['token', 'tokens', 'signature', 'authorization', 'cookie', 'cookies', 'bearer', 'jwt', 'dsn']
/** Names of objects too, which have members that are no secrets; a text of this name is a secret. */
const SECRET_TEXTS: ReadonlySet<string> = new Set(['auth', 'xauth', 'pass', 'pwd', 'otp'])
/** In addresses and forms: there `code` is the authorization code. In JSON they mean other things. */
const SECRET_PARAMETERS: ReadonlySet<string> = new Set(['code', 'key', 'sig', 'signature', 'session', 'sid'])
const PAGE_TOKENS: ReadonlySet<string> = new Set(['pagetoken', 'nextpagetoken', 'prevpagetoken'])

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** Whether a field, parameter or header of this name is a secret. Those that only identify or describe a secret are not. */
export function isSecretName(name: string): boolean {
  const plain = plainName(name).replaceAll(OTHER_WORDS, '')
  // The text of an e-mail ends with one too.
  if (PAGE_TOKENS.has(plain) || plain === 'signature') return false
  // In several words, such as `Secret Santa`, only the last says what it is.
  const isPhrase = /\S\s+\S/.test(name)
  return (
    SECRET_PARTS.some((part) => (isPhrase ? plain.endsWith(part) : plain.includes(part))) ||
    SECRET_ENDS.some((end) => plain.endsWith(end))
  )
}

/** Whether a text of this name is a secret: a header, a field of JSON, a name before a colon. */
export function isSecretText(name: string): boolean {
  return SECRET_TEXTS.has(plainName(name)) || isSecretName(name)
}

/** Whether a parameter of an address, a form or a cookie with this name is a secret. */
export function isSecretParameter(name: string): boolean {
  return SECRET_PARAMETERS.has(plainName(name)) || isSecretText(name)
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

/** By its name in the document (G48), by whether it is an object, and by the secrecy of what contains it. */
export function secrecyOf(name: string, isObject: boolean, around: Secrecy): Secrecy {
  if (around === 'secret') return 'secret'
  if (HOLDERS.has(name) && !isObject) return 'secret'
  if (CREDENTIALS.has(name)) return 'credentials'
  if (SECRET_OBJECTS.has(name) || (isObject ? isSecretName(name) : isSecretText(name))) return 'secret'
  return around === 'credentials' && !SHOWN_OF_CREDENTIALS.has(name) ? 'secret' : 'open'
}

/** Whether the name of a form field is other text, such as JSON that a client sent with the media type of a form. */
export function isTextAsName(name: string): boolean {
  return /[\r\n"{<]|:\s/.test(name)
}

/** Whether the value at a path, which is no object, is a secret. */
export function isSecretAt(path: readonly (string | number)[]): boolean {
  const names = path.filter((part): part is string => typeof part === 'string' && !/^\d*$/.test(part))
  const secrecy = names.reduce<Secrecy>((around, name, at) => secrecyOf(name, at < names.length - 1, around), 'open')
  return secrecy === 'secret'
}
