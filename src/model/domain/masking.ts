import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from './json.ts'
import { isSecretName, isSecretParameter, isSecretText, isTextAsName, type Secrecy, secrecyOf } from './secret.ts'
import { formDecoded } from './text.ts'

const MASK = /^(?:[a-z]+\s+)?\*\*\*[\da-f]{4}$/i

/** A secret as every output shows it: two can be compared, and none can be used. A mask stays as it is. */
export function maskSecret(secret: string): string {
  if (secret === '' || MASK.test(secret)) return secret
  return `***${createHash('sha256').update(secret).digest('hex').slice(0, 4)}`
}

/** Maps the name of a field on the wire to its name in the document (G48). */
export type DocumentName = (name: string) => string
const SAME_NAME: DocumentName = (name) => name

/** What a name and the sign after it look like in free text: `name: `, `"name":`, `name=`. */
const NAMES = /((?:\\*["'`])?([\w.%-]{1,60})(?:\\*["'`])?\s{0,20}([:=])\s{0,20})/g
/** After it: a quoted text, a list or an object of unknown end, or a word. A credential is written in two words. */
const VALUE = /\\*"(?:[^"\\]|\\.)*"?|'[^']*'?|[[{][^]*|(?:(?:bearer|basic|oauth|token)\s+)?[^\s"',;&{}[\]]+/iy
/** What names a credential after its scheme and is none: "the bearer token", "a Basic header". */
const NO_CREDENTIAL =
  /^(?:bearer|basic|oauth)\s+(?:access|auth|authentication|authorization|challenge|client|credentials?|errors?|headers?|realm|schemes?|tokens?)(?![\w+/~-]|\.\w)/i
/** What is masked already, alone or after its scheme. */
const HAS_MASK = /^(?:[a-z]+\s+)?\*\*\*[\da-f]{4}(?!\w)/i
/** A credential in two words; "an account of type OAUTH takes" has none. */
const SCHEMES = /\b(?<!\bof type )(bearer|basic|oauth)(\s+)([\w+/=~.-]{4,})/gi
const ADDRESSES = /[a-z][a-z\d+.-]{0,30}:\/\/[^\s"'<>`\\]+(?<![.,;:)])/gi
/** Elements of XML, attributes of forms and of `<meta>`, and parts of multipart forms. */
const MARKUP = [
  /(<([\w:.-]{1,60})(?:\s[^<>]{0,200})?>)([^<]+)/g,
  /(<(?:input|meta|option|button)\b(?=[^<>]{0,600}?\s(?:name|id|property)=["']([^"'<>]{1,60})["'])[^<>]{0,600}?\s(?:value|content)=["'])([^"'<>]+)/gi,
  /(\bname="([^"]{1,60})"[^]{0,300}?\r?\n\r?\n)([^]*?)(?=\r?\n--|$)/g,
] as const
/** A form: pairs alone, whose values end at the next `&` only. */
const FORM = /^[\w.~%+*[\]-]+=[^\s&"<>]*(?:&[\w.~%+*[\]-]+=[^\s&"<>]*)*$/
/** A private key, and the user and password of `curl`. */
const KEYS = /(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)([^]+?)(?=-----END|$)/g
const CURL_USERS = /((?:^|\s)(?:-u|--user)[\s=]+["']?)([^\s"':]+:[^\s"']+)/g
/** What a name of a secret can have as its value and is none. */
const NO_SECRET = /^(?:none|null|true|false|undefined|required|optional)$/i
/** Without any of these a text has no secret that can be told from other words. */
const SIGNS = /[:=<]|-----BEGIN|bearer|basic|oauth/i

/** `user:password@` after `://`. A password can have a slash; a port is no password. */
const USERINFO = /^([a-z][a-z\d+.-]*:\/\/)(?:([^\s/?#]*)@|([^\s/?#@:[\]]*:(?!\d{0,5}(?:[/?#]|$)).*)@)/i

/** The one list of what is a secret. Each secret that is found is given to `mask`, and its result is shown in its place. */
export class Masking {
  readonly #mask: (secret: string, name: string) => string
  readonly #isMore: (name: string) => boolean

  /**
   * @param mask gets the name of the field, header or parameter too, which is empty where there is none
   * @param isMore whether a name holds a secret beside those of the list
   */
  constructor(mask: (secret: string, name: string) => string, isMore: (name: string) => boolean = () => false) {
    this.#mask = mask
    this.#isMore = isMore
  }

  /** A JSON value with its secrets masked; all of it when it is `secret` itself. */
  json(value: JsonValue, secrecy: Secrecy = 'open', documentName = SAME_NAME, name = ''): JsonValue {
    if (Array.isArray(value)) return value.map((item) => this.json(item, secrecy, documentName, name))
    if (isJsonObject(value)) return this.#maskObject(value, secrecy, documentName)
    if (value === null || typeof value === 'boolean') return value
    if (secrecy === 'secret') return NO_SECRET.test(String(value)) ? value : this.#mask(String(value), name)
    return typeof value === 'string' ? this.text(value) : value
  }

  #maskObject(value: JsonObject, around: Secrecy, documentName: DocumentName): JsonValue {
    // A header or a parameter as an object of its own: `{"name": "Authorization", "value": "…"}`.
    const isNamedSecret = ['name', 'key', 'param', 'parameter', 'field', 'header']
      .map((key) => ownMember(value, key))
      .some((name) => typeof name === 'string' && this.#isSecretText(name))
    const entries = Object.entries(value).map(([memberName, item]): [string, JsonValue] => {
      if (isTextAsName(memberName)) return [this.#mask(memberName, ''), this.json(item, 'secret', documentName)]
      const name = documentName(memberName)
      const key = this.text(memberName)
      // The `details` of an error are a list of objects.
      if (name === 'details' && around === 'open' && Array.isArray(item)) {
        return [key, item.map((each) => this.json(each, isJsonObject(each) ? 'open' : 'secret', documentName, key))]
      }
      const isSecret = this.#isMore(key) || this.#isMore(name)
      const byName = isSecret ? 'secret' : secrecyOf(isSecretName(key) ? key : name, isJsonObject(item), around)
      return [key, this.json(item, isNamedSecret && key === 'value' ? 'secret' : byName, documentName, key)]
    })
    return Object.fromEntries(entries)
  }

  /** Text of unknown form, with everything masked that looks like a secret. What is masked already stays as it is. */
  text(text: string): string {
    if (!SIGNS.test(text)) return text
    if (FORM.test(text)) return this.url(`?${text}`).slice(1)
    const byMarkup = MARKUP.reduce(
      (masked, pattern) =>
        masked.replaceAll(pattern, (all: string, head: string, name: string, value: string) =>
          this.#isSecretParameter(name) ? `${head}${this.#mask(value, name)}` : all,
        ),
      text
        .replaceAll(KEYS, (_all, head: string, key: string) => `${head}${this.#mask(key, 'private key')}`)
        .replaceAll(CURL_USERS, (_all, head: string, user: string) => `${head}${this.#mask(user, 'password')}`)
        .replaceAll(ADDRESSES, (url) => this.url(url)),
    )
    return this.#maskPairs(byMarkup).replaceAll(SCHEMES, (words, scheme: string, space: string, value: string) =>
      NO_CREDENTIAL.test(words) ? words : `${scheme}${space}${this.#mask(value, scheme)}`,
    )
  }

  #maskPairs(text: string): string {
    let [masked, from] = ['', 0]
    for (const { 0: head, 2: name = '', 3: sign = '', index } of text.matchAll(NAMES)) {
      const isSecret = (plain: string): boolean =>
        sign === '=' ? this.#isSecretParameter(plain) : this.#isSecretText(plain)
      if (index < from || !isSecret(formDecoded(name))) continue
      const start = index + head.length
      VALUE.lastIndex = start
      const value = VALUE.exec(text)?.[0] ?? ''
      if (value === '' || HAS_MASK.test(value) || NO_CREDENTIAL.test(value) || NO_SECRET.test(value)) continue
      masked += `${text.slice(from, start)}${this.#mask(value.replaceAll(/^["']|["']$/g, ''), name)}`
      from = start + value.length
    }
    return masked + text.slice(from)
  }

  /** Parameters of a query or a form; repeated ones as a list. `everything`: each value is a credential. */
  parameters(parameters: URLSearchParams, everything = false): Record<string, string | readonly string[]> {
    const names = [...new Set(parameters.keys())]
    const entries = names.map((name): [string, string | string[]] => {
      const isSecret = everything || this.#isSecretParameter(name)
      const values = parameters.getAll(name).map((value) => (isSecret ? this.#mask(value, name) : this.text(value)))
      // Text of another form becomes the name of a parameter.
      return [this.text(name), values.length === 1 ? (values[0] ?? '') : values]
    })
    return Object.fromEntries(entries)
  }

  /** An address with its user and password and the secrets in its query and fragment masked, and everything else unchanged. */
  url(url: string): string {
    const withoutUser = url.replace(
      USERINFO,
      (_, head: string, user?: string, onlyUser?: string) =>
        `${head}${this.#mask(user ?? onlyUser ?? '', 'password')}@`,
    )
    return withoutUser.replaceAll(/([?&#])([^?&#=]*)=([^&#]*)/g, (pair, sign: string, name: string, value: string) => {
      const plain = formDecoded(value)
      const masked = this.#isSecretParameter(formDecoded(name))
        ? this.#mask(value, formDecoded(name))
        : plain === value
          ? value
          : this.#maskEncoded(value, plain)
      return masked === value ? pair : `${sign}${name}=${masked}`
    })
  }

  /** A value that is encoded, such as an address inside an address; unchanged where it has no secret. */
  #maskEncoded(value: string, plain: string): string {
    const masked = this.text(plain)
    return masked === plain ? value : encodeURIComponent(masked)
  }

  /** The value of a header or of metadata; the scheme of a credential stays readable. Binary metadata can have any content. */
  header(name: string, value: string): string {
    if (name.endsWith('authorization')) {
      const at = value.indexOf(' ')
      return at < 0 ? this.#mask(value, name) : `${value.slice(0, at)} ${this.#mask(value.slice(at + 1), name)}`
    }
    return name.endsWith('-bin') || this.#isSecretText(name) ? this.#mask(value, name) : this.text(this.url(value))
  }

  #isSecretText(name: string): boolean {
    return isSecretText(name) || this.#isMore(name)
  }

  #isSecretParameter(name: string): boolean {
    return isSecretParameter(name) || this.#isMore(name)
  }
}

const JOURNAL = new Masking(maskSecret)
export const maskJson = JOURNAL.json.bind(JOURNAL)
export const maskText = JOURNAL.text.bind(JOURNAL)
export const maskUrl = JOURNAL.url.bind(JOURNAL)
export const maskHeader = JOURNAL.header.bind(JOURNAL)
export const maskParameters = JOURNAL.parameters.bind(JOURNAL)

/** The value at a place of a JSON document, masked as it is there; the path is of names and of places in lists. */
export function maskAt(path: readonly string[], value: JsonValue): JsonValue {
  const wrapped = path.reduceRight<JsonValue>((inner, name) => (PLACE.test(name) ? [inner] : { [name]: inner }), value)
  return path.reduce<JsonValue>(
    (at) => (typeof at === 'object' && at !== null ? (Object.values(at)[0] ?? null) : at),
    maskJson(wrapped),
  )
}

const PLACE = /^\d+$/
