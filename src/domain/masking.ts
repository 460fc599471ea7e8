import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue, own } from './json.ts'
import { isSecretName, isSecretParameter, isSecretText, isTextAsName, type Secrecy, secrecyOf } from './secret.ts'

const MASK = /^(?:[a-z]+\s+)?\*\*\*[\da-f]{4}$/i

/** A secret as every output shows it: two can be compared, and none can be used. A mask stays as it is. */
export function masked(secret: string): string {
  if (secret === '' || MASK.test(secret)) return secret
  return `***${createHash('sha256').update(secret).digest('hex').slice(0, 4)}`
}

/** Maps the name of a field on the wire to its name in the document (G48). */
export type DocumentName = (name: string) => string
const SAME_NAME: DocumentName = (name) => name

/** A JSON value with its secrets masked; all of it when it is `secret` itself. */
export function maskJson(value: JsonValue, secrecy: Secrecy = 'open', documentName = SAME_NAME): JsonValue {
  if (Array.isArray(value)) return value.map((item) => maskJson(item, secrecy, documentName))
  if (isJsonObject(value)) return maskObject(value, secrecy, documentName)
  if (value === null || typeof value === 'boolean') return value
  if (secrecy === 'secret') return masked(String(value))
  return typeof value === 'string' ? maskText(value) : value
}

/** The value at a place of a JSON document, masked as it is there; the path is of names. */
export function maskAt(path: readonly string[], value: JsonValue): JsonValue {
  const document = path.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value)
  return path.reduce<JsonValue>((at, name) => (isJsonObject(at) ? (own(at, name) ?? null) : at), maskJson(document))
}

function maskObject(value: JsonObject, around: Secrecy, documentName: DocumentName): JsonValue {
  // A header or a parameter as an object of its own: `{"name": "Authorization", "value": "…"}`.
  const named = [own(value, 'name'), own(value, 'key')].some((name) => typeof name === 'string' && isSecretText(name))
  const entries = Object.entries(value).map(([given, item]): [string, JsonValue] => {
    if (isTextAsName(given)) return [masked(given), maskJson(item, 'secret', documentName)]
    const name = documentName(given)
    const key = maskText(given)
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
const NAMES = /((?:\\*["'`])?([\w.%-]{1,60})(?:\\*["'`])?\s{0,20}([:=])\s{0,20})/g
/** After it: a quoted text, a list or an object of unknown end, or a word. A credential is written in two words. */
const VALUE = /\\*"(?:[^"\\]|\\.)*"?|'[^']*'?|[[{][^]*|(?:(?:bearer|basic|oauth|token)\s+)?[^\s"',;&{}[\]]+/iy
/** What names a credential after its scheme and is none: "the bearer token", "a Basic header". */
const NO_CREDENTIAL =
  /^(?:bearer|basic|oauth)\s+(?:access|auth|authentication|authorization|challenge|client|credentials?|errors?|headers?|realm|schemes?|tokens?)(?![\w+/~-]|\.\w)/i
/** What is masked already, alone or after its scheme. */
const HAS_MASK = /^(?:[a-z]+\s+)?\*\*\*[\da-f]{4}(?!\w)/i
/** A credential in two words. */
const SCHEMES = /\b(bearer|basic|oauth)(\s+)([\w+/=~.-]{4,})/gi
const ADDRESSES = /[a-z][a-z\d+.-]{0,30}:\/\/[^\s"'<>`\\]+(?<![.,;:)])/gi
/** Elements of XML, and parts of multipart forms. */
const MARKUP = [
  /(<([\w:.-]{1,60})(?:\s[^<>]{0,200})?>)([^<]+)/g,
  /(\bname="([^"]{1,60})"[^]{0,300}?\r?\n\r?\n)([^]*?)(?=\r?\n--|$)/g,
] as const
/** A form: pairs alone, whose values end at the next `&` only. */
const FORM = /^[\w.~%+*[\]-]+=[^\s&"<>]*(?:&[\w.~%+*[\]-]+=[^\s&"<>]*)*$/
/** Without any of these a text has no secret that can be told from other words. */
const SIGNS = /[:=<]|bearer|basic|oauth/i

/** Text of unknown form, with everything masked that looks like a secret. What is masked already stays as it is. */
export function maskText(text: string): string {
  if (!SIGNS.test(text)) return text
  if (FORM.test(text)) return maskUrl(`?${text}`).slice(1)
  const byMarkup = MARKUP.reduce(
    (shown, pattern) =>
      shown.replaceAll(pattern, (all: string, head: string, name: string, value: string) =>
        isSecretParameter(name) ? `${head}${masked(value)}` : all,
      ),
    text.replaceAll(ADDRESSES, maskUrl),
  )
  return maskPairs(byMarkup).replaceAll(SCHEMES, (words, scheme: string, space: string, value: string) =>
    NO_CREDENTIAL.test(words) ? words : `${scheme}${space}${masked(value)}`,
  )
}

function maskPairs(text: string): string {
  let [shown, from] = ['', 0]
  for (const { 0: head, 2: name = '', 3: sign = '', index } of text.matchAll(NAMES)) {
    const isSecret = sign === '=' ? isSecretParameter : isSecretText
    if (index < from || !isSecret(decoded(name))) continue
    const start = index + head.length
    VALUE.lastIndex = start
    const value = VALUE.exec(text)?.[0] ?? ''
    if (value === '' || HAS_MASK.test(value) || NO_CREDENTIAL.test(value)) continue
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
    const mask = everything || isSecretParameter(name) ? masked : maskText
    const values = parameters.getAll(name).map(mask)
    // Text of another form becomes the name of a parameter.
    return [maskText(name), values.length === 1 ? (values[0] ?? '') : values]
  })
  return Object.fromEntries(entries)
}

/** `user:password@` after `://`. A password can have a slash; a port is no password. */
const USERINFO = /^([a-z][a-z\d+.-]*:\/\/)(?:([^\s/?#]*)@|([^\s/?#@:[\]]*:(?!\d{0,5}(?:[/?#]|$)).*)@)/i

/** An address with its user and password and the secrets in its query and fragment masked, and everything else unchanged. */
export function maskUrl(url: string): string {
  const withoutUser = url.replace(
    USERINFO,
    (_, head: string, user?: string, other?: string) => `${head}${masked(user ?? other ?? '')}@`,
  )
  return withoutUser.replaceAll(/([?&#])([^?&#=]*)=([^&#]*)/g, (pair, sign: string, name: string, value: string) => {
    const plain = decoded(value)
    const shown = isSecretParameter(decoded(name)) ? masked(value) : plain === value ? value : encoded(value, plain)
    return shown === value ? pair : `${sign}${name}=${shown}`
  })
}

/** A value that is encoded, such as an address inside an address; unchanged where it has no secret. */
function encoded(value: string, plain: string): string {
  const shown = maskText(plain)
  return shown === plain ? value : encodeURIComponent(shown)
}

/** The value of a header or of metadata; the scheme of a credential stays readable. Binary metadata can have any content. */
export function maskHeader(name: string, value: string): string {
  if (name.endsWith('authorization')) {
    const at = value.indexOf(' ')
    return at < 0 ? masked(value) : `${value.slice(0, at)} ${masked(value.slice(at + 1))}`
  }
  return name.endsWith('-bin') || isSecretText(name) ? masked(value) : maskText(maskUrl(value))
}
