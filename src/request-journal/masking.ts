import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../domain/json.ts'
import { isSecretName, isTextAsName, type Secrecy, secrecyOf } from '../domain/secret.ts'

/** A secret as the journal shows it: two can be compared, and none can be used. */
export function masked(secret: string): string {
  if (secret === '') return ''
  return `***${createHash('sha256').update(secret).digest('hex').slice(0, 4)}`
}

/** In addresses and forms `code` is the authorization code; in JSON it means other things. */
function isSecretParameter(name: string): boolean {
  return isSecretName(name) || name === 'code'
}

/** Maps the name of a field on the wire to its name in the document (G48). */
export type DocumentName = (name: string) => string
const SAME_NAME: DocumentName = (name) => name

/** A JSON value with its secrets masked; all of it when it is `secret` itself. */
export function maskJson(value: JsonValue, secrecy: Secrecy = 'open', documentName = SAME_NAME): JsonValue {
  if (Array.isArray(value)) return value.map((item) => maskJson(item, secrecy, documentName))
  if (isJsonObject(value)) return maskObject(value, secrecy, documentName)
  if (secrecy !== 'secret' || value === null || typeof value === 'boolean') return value
  return masked(String(value))
}

/** The value at a place of a JSON document, masked as it is there; the path is of names. */
export function maskAt(path: readonly string[], value: JsonValue): JsonValue {
  const document = path.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value)
  return path.reduce<JsonValue>((at, name) => (isJsonObject(at) ? (own(at, name) ?? null) : at), maskJson(document))
}

/** Fields of answers that are sentences. */
const SENTENCES: ReadonlySet<string> = new Set(['message', 'error_description', 'tool_error_message'])

function maskObject(value: JsonObject, around: Secrecy, documentName: DocumentName): JsonValue {
  // A header or a parameter as an object of its own: `{"name": "Authorization", "value": "…"}`.
  const named = [own(value, 'name'), own(value, 'key')].some((name) => typeof name === 'string' && isSecretName(name))
  const entries = Object.entries(value).map(([key, item]): [string, JsonValue] => {
    const name = documentName(key)
    if (isTextAsName(key)) return [masked(key), maskJson(item, 'secret', documentName)]
    if (SENTENCES.has(name) && typeof item === 'string' && around === 'open') return [key, maskText(item)]
    // The `details` of an error are a list of objects.
    if (name === 'details' && around === 'open' && Array.isArray(item)) {
      return [key, item.map((each) => maskJson(each, isJsonObject(each) ? 'open' : 'secret', documentName))]
    }
    const byName = secrecyOf(isSecretName(key) ? key : name, isJsonObject(item), around)
    return [key, maskJson(item, named && key === 'value' ? 'secret' : byName, documentName)]
  })
  return Object.fromEntries(entries)
}

/** What a name and the sign after it look like in free text: `name: `, `"name":`, `name=`. */
const NAMES = /((?:\\*["'`])?([\w.%-]{1,60})(?:\\*["'`])?\s{0,20}[:=]\s{0,20})/g
/** After it: a quoted text, a list or an object of unknown end, or a word. A credential is written in two words. */
const VALUE = /\\*"(?:[^"\\]|\\.)*"?|'[^']*'?|[[{][^]*|(?:(?:bearer|basic|oauth|token)\s+)?[^\s"',;&{}[\]]+/iy
const SCHEMES = /\b(bearer|basic|oauth)(\s+)([\w+/=~.-]{4,})/gi
/** Elements of XML, and parts of multipart forms. */
const MARKUP = [
  /(<([\w:.-]{1,60})(?:\s[^<>]{0,200})?>)([^<]+)/g,
  /(\bname="([^"]{1,60})"[^]{0,300}?\r?\n\r?\n)([^]*?)(?=\r?\n--|$)/g,
] as const

/** Text of unknown form, with everything masked that looks like a secret. */
export function maskText(text: string): string {
  const byMarkup = MARKUP.reduce(
    (shown, pattern) =>
      shown.replaceAll(pattern, (all: string, head: string, name: string, value: string) =>
        isSecretParameter(name) ? `${head}${masked(value)}` : all,
      ),
    text,
  )
  return maskPairs(byMarkup).replaceAll(
    SCHEMES,
    (_match, scheme: string, space: string, value: string) => `${scheme}${space}${masked(value)}`,
  )
}

function maskPairs(text: string): string {
  let [shown, from] = ['', 0]
  for (const { 0: head, 2: name = '', index } of text.matchAll(NAMES)) {
    if (index < from || !isSecretParameter(decoded(name))) continue
    const start = index + head.length
    VALUE.lastIndex = start
    const value = VALUE.exec(text)?.[0] ?? ''
    if (value === '' || value.startsWith('***')) continue
    shown += `${text.slice(from, start)}${masked(value.replaceAll(/^["']|["']$/g, ''))}`
    from = start + value.length
  }
  return shown + text.slice(from)
}

/** A name of a form or a query as it is meant. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
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
    // Text of another form becomes the name of a parameter.
    return [maskText(name), values.length === 1 ? (values[0] ?? '') : values]
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
    return isSecretParameter(decoded(name)) && value.length > 0 ? `${name}=${masked(value.join('='))}` : pair
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
