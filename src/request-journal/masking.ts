import { createHash } from 'node:crypto'
import { isJsonObject, type JsonValue, own } from '../domain/json.ts'

/** A secret as the journal shows it: two can be compared, and none can be used. */
export function masked(secret: string): string {
  if (secret === '') return ''
  return `***${createHash('sha256').update(secret).digest('hex').slice(0, 4)}`
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
const SECRET_ENDS = ['token', 'tokens', 'signature']
const PAGE_TOKENS: ReadonlySet<string> = new Set(['pagetoken', 'nextpagetoken', 'prevpagetoken'])

/** Whether a field of this name is a secret. Fields that only identify or describe a secret are not. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  if (PAGE_TOKENS.has(plain)) return false
  return SECRET_PARTS.some((part) => plain.includes(part)) || SECRET_ENDS.some((end) => plain.endsWith(end))
}

/** In addresses and forms `code` is the authorization code; in JSON it means other things. */
function isSecretParameter(name: string): boolean {
  return isSecretName(name) || name === 'code'
}

/** Objects whose every field is a secret, whatever a connector calls it: `static_auth.details` (2.2). */
const SECRET_OBJECTS: ReadonlySet<string> = new Set(['details', 'static_auth', 'credentials'])

/** Maps the name of a field on the wire to its name in the document (G48). */
export type DocumentName = (name: string) => string
const ITSELF: DocumentName = (name) => name

/** A JSON value with its secrets masked; all of it when `inside` a secret. */
export function maskJson(value: JsonValue, inside = false, documentName = ITSELF): JsonValue {
  if (Array.isArray(value)) return value.map((item) => maskJson(item, inside, documentName))
  if (isJsonObject(value)) return maskObject(value, inside, documentName)
  if (!inside || value === null || typeof value === 'boolean') return value
  return masked(String(value))
}

/** The value at a place of a JSON document, masked as it is there; the path is of names. */
export function maskAt(path: readonly string[], value: JsonValue): JsonValue {
  const document = path.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value)
  return path.reduce<JsonValue>((at, name) => (isJsonObject(at) ? (own(at, name) ?? null) : at), maskJson(document))
}

function maskObject(
  value: { readonly [key: string]: JsonValue },
  inside: boolean,
  documentName: DocumentName,
): JsonValue {
  const entries = Object.entries(value).map(([key, item]): [string, JsonValue] => {
    const name = documentName(key)
    if (name === 'message' || name === 'error_description' || name === 'tool_error_message') {
      return [key, typeof item === 'string' && !inside ? maskText(item) : maskJson(item, inside, documentName)]
    }
    const opaque = (SECRET_OBJECTS.has(name) || SECRET_OBJECTS.has(key)) && isJsonObject(item)
    const secret = (isSecretName(name) || isSecretName(key)) && !isJsonObject(item)
    return [key, maskJson(item, inside || opaque || secret, documentName)]
  })
  return Object.fromEntries(entries)
}

/** `name: value` and `name=value` in free text, with or without quotes of either kind. */
const PAIRS = /((["'`]?)([\w.-]{1,60})\2\s*[:=]\s*)("(?:[^"\\]|\\.){0,5000}"?|'[^']{0,5000}'?|[^\s"',;&{}[\]]{1,5000})/g
const SCHEMES = /\b(bearer|basic|oauth)(\s+)([\w+/=~.-]{4,})/gi

/** Text of unknown form, with everything masked that looks like a secret. */
export function maskText(text: string): string {
  return text
    .replaceAll(PAIRS, (pair: string, ...groups: string[]) => maskPair(pair, groups))
    .replaceAll(SCHEMES, (_match, scheme: string, space: string, value: string) => `${scheme}${space}${masked(value)}`)
}

function maskPair(pair: string, [head = '', _quote, name = '', value = '']: readonly string[]): string {
  return isSecretParameter(name) ? `${head}${masked(value.replaceAll(/^["']|["']$/g, ''))}` : pair
}

/** Parameters of a query or a form; repeated ones as a list. `everything`: each value is a credential. */
export function maskParameters(
  parameters: URLSearchParams,
  everything = false,
): Record<string, string | readonly string[]> {
  const names = [...new Set(parameters.keys())]
  const entries = names.map((name): [string, string | string[]] => {
    const secret = everything || isSecretParameter(name)
    const values = parameters.getAll(name).map((value) => (secret ? masked(value) : value))
    return [name, values.length === 1 ? (values[0] ?? '') : values]
  })
  return Object.fromEntries(entries)
}

/** An address with the secrets in its query masked, and everything else unchanged. */
export function maskUrl(url: string): string {
  const at = url.indexOf('?')
  if (at < 0) return url
  const [query = '', ...fragment] = url.slice(at + 1).split('#')
  const pairs = query.split('&').map((pair) => {
    const [name = '', ...value] = pair.split('=')
    return isSecretParameter(name) && value.length > 0 ? `${name}=${masked(value.join('='))}` : pair
  })
  return [`${url.slice(0, at)}?${pairs.join('&')}`, ...fragment].join('#')
}

const SECRET_HEADERS: ReadonlySet<string> = new Set(['cookie', 'set-cookie'])
const URL_HEADERS: ReadonlySet<string> = new Set(['location', 'referer'])

/** The value of a header; the scheme of a credential stays readable. */
export function maskHeader(name: string, value: string): string {
  if (name.endsWith('authorization')) {
    const at = value.indexOf(' ')
    return at < 0 ? masked(value) : `${value.slice(0, at)} ${masked(value.slice(at + 1))}`
  }
  if (URL_HEADERS.has(name)) return maskUrl(value)
  return SECRET_HEADERS.has(name) || isSecretName(name) ? masked(value) : value
}
