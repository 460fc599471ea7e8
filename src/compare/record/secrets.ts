import { readDocument } from '../../model/contract/generated/document.js'
import {
  isJsonObject,
  isNumber,
  type JsonObject,
  jsonText,
  type JsonValue,
  parsedJson,
} from '../../model/domain/json.ts'
import { maskSecret, Masking } from '../../model/domain/masking.ts'
import { parseUrl } from '../../model/domain/parse-url.ts'
import { isSecretParameter } from '../../model/domain/secret.ts'
import { percentDecoded } from '../../model/domain/text.ts'
import { bodyText, headerIn, type Message, type Recorded } from './recorded.ts'

/** What is a secret in a recording beside what the journal masks. */
const MORE_NAMES = ['client_id', 'auth_request_id', 'link']
/** Shorter values are masked where their name is, and not elsewhere: they are words too. */
const LEAST = 8
/** Names whose values say which account, tool or client is meant. */
const IDENTIFYING = new Set(['identifier', 'id', 'connector', 'organization_id', 'user_id', 'tool_name', 'key_id'])

export interface SecretsOptions {
  /** Names of further fields, headers and parameters. */
  readonly names: readonly string[]
  readonly maskIdentifiers: boolean
}

/** First learns the secrets from everything recorded, then hides them in all that is written, in whatever form. */
export class Secrets {
  readonly #finding: Masking
  readonly #showing: Masking
  readonly #isMore: (name: string) => boolean
  /** By the name that each was first found under. */
  readonly #names = new Map<string, string>()
  readonly #placeholders = new Map<string, string>()
  readonly #taken = new Set<string>()
  /** Values that say who is meant. Beside a secret they may only be told by their place: a user name that is the identifier. */
  readonly #identifying = new Set<string>()
  readonly #withoutSecretName = new Set<string>()
  /** Forms of secrets by their first eight characters, the longest first. */
  readonly #starts = new Map<string, Form[]>()
  /** Every eight characters of a secret, but those that the contract has. */
  readonly #pieces = new Map<string, string>()

  constructor({ names, maskIdentifiers }: SecretsOptions) {
    const more = new Set([...MORE_NAMES, ...names, ...(maskIdentifiers ? ['identifier'] : [])].map(wordLetters))
    this.#isMore = (name) => more.has(wordLetters(name))
    this.#finding = new Masking((secret, name) => this.#learnSecret(secret, name), this.#isMore)
    this.#showing = new Masking((secret) => this.placeholder(secret), this.#isMore)
  }

  /** Finds the secrets of an exchange. */
  learn({ target, request, response }: Recorded): void {
    this.#finding.url(target)
    this.#learnMessage(request)
    if (!response) return
    this.#finding.text(response.reason)
    this.#learnMessage(response)
  }

  /** What is hidden, by name, with how many values each. */
  summary(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const name of this.#names.values()) counts.set(name, (counts.get(name) ?? 0) + 1)
    return counts
  }

  placeholder(secret: string): string {
    const earlier = this.#placeholders.get(secret)
    if (earlier !== undefined) return earlier
    // The mask has four digits: two secrets of a long recording can have the same.
    let text = maskSecret(secret)
    for (let again = 1; this.#taken.has(text) && text !== secret; again++) text = maskSecret(`${secret}\n${again}`)
    this.#placeholders.set(secret, text)
    this.#taken.add(text)
    return text
  }

  /** A text of unknown form, such as a reason phrase. */
  phrase(text: string): string {
    return this.text(this.#showing.text(text))
  }

  /** A URL, or a path with its query. */
  url(url: string): string {
    return this.text(this.#showing.url(url))
  }

  header(name: string, value: string): string {
    return this.text(this.#showing.header(name.toLowerCase(), value))
  }

  /** A body as it is written: JSON by its fields, everything else as text. */
  body(text: string): string {
    const json = parsedJson(text)
    if (json !== undefined && typeof json === 'object') return jsonText(this.json(json))
    return this.text(this.#showing.text(text))
  }

  /** Masks what its fields name, and hides what is known. */
  json(value: JsonValue): JsonValue {
    return this.hide(this.#showing.json(value))
  }

  /** Hides what is known, in keys and values. */
  hide<Value extends JsonValue>(value: Value): Value
  hide(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value)
    if (isNumber(value)) return this.text(String(value)) === String(value) ? value : this.text(String(value))
    if (Array.isArray(value)) return value.map((item) => this.hide(item))
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.text(key), this.hide(item)]))
  }

  /** A text without any secret that is known, or eight characters of one. */
  text(text: string): string {
    const hidden = this.#hideEncoded(text, UNIT)
    return QUOTED_PRINTABLE.test(hidden) ? this.#hideEncoded(hidden, QUOTED_UNIT) : hidden
  }

  #hideEncoded(text: string, unit: RegExp): string {
    if (text.length < LEAST) return text
    if (this.#starts.size === 0) this.#indexForms()
    const { read, starts, ends } = decodeUnits(text, unit)
    let [hidden, from, at] = ['', 0, 0]
    while (at + LEAST <= read.length) {
      const match = this.#secretAt(read, at)
      if (!match) {
        at++
        continue
      }
      hidden += text.slice(from, starts[at]) + match.placeholder
      at += match.length
      from = ends[at - 1] ?? text.length
    }
    return hidden + text.slice(from)
  }

  /** What is to be hidden at a place: a whole secret, or as much as there is of one. */
  #secretAt(read: string, at: number): { readonly placeholder: string; readonly length: number } | undefined {
    const gram = read.slice(at, at + LEAST)
    const whole = this.#starts.get(gram)?.find(({ value }) => read.startsWith(value, at))
    if (whole) return { placeholder: this.placeholder(whole.secret), length: whole.value.length }
    const secret = this.#pieces.get(gram)
    if (secret === undefined) return undefined
    let length = LEAST
    while (this.#pieces.has(read.slice(at + length - LEAST + 1, at + length + 1)) && at + length < read.length) length++
    return { placeholder: this.placeholder(secret), length }
  }

  #indexForms(): void {
    const said = substringsOf(jsonText(readDocument()))
    for (const secret of this.#names.keys()) {
      const isShort = secret.length < LEAST
      if (isShort || (this.#withoutSecretName.has(secret) && this.#identifying.has(secret))) continue
      for (const value of formsOf(secret)) this.#addForm({ value, secret }, said)
    }
    // Nothing is searched for where nothing was learned, and the index is made once.
    if (this.#starts.size === 0) this.#starts.set('', [])
  }

  #addForm({ value, secret }: Form, said: ReadonlySet<string>): void {
    const start = value.slice(0, LEAST)
    const forms = [...(this.#starts.get(start) ?? []), { value, secret }]
    forms.sort((a, b) => b.value.length - a.value.length)
    this.#starts.set(start, forms)
    for (const gram of substringsOf(value)) if (!said.has(gram)) this.#pieces.set(gram, secret)
  }

  #learnSecret(secret: string, name: string): string {
    const decoded = percentDecoded(secret) ?? secret
    const isNamed = isSecretParameter(name) || this.#isMore(name)
    for (const each of new Set([secret, decoded])) {
      if (each === '') continue
      if (!this.#names.has(each)) this.#names.set(each, name || 'text')
      if (isNamed) this.#withoutSecretName.delete(each)
      else this.#withoutSecretName.add(each)
    }
    this.#learnParts(decoded, name)
    return this.placeholder(secret)
  }

  /** What a secret is made of is one too: the user and password of a header, the opaque part of a link. */
  #learnParts(secret: string, name: string): void {
    if (/authorization$/i.test(name)) {
      const [user = '', ...password] = Buffer.from(secret, 'base64').toString('utf8').split(':')
      const isBasic = password.length > 0 && /^[!-z]*$/.test(user)
      if (isBasic) for (const part of [user, password.join(':')]) this.#learnSecret(part, name)
    }
    const link = /^[a-z]+:\/\//i.test(secret) ? parseUrl(secret) : undefined
    if (link) {
      // The link itself is masked where it is; its host is everywhere.
      this.#names.delete(secret)
      const { pathname, searchParams } = link
      const opaque = [...pathname.split('/').slice(-1), ...searchParams.values()].filter((part) => part.length >= LEAST)
      for (const part of opaque) this.#learnSecret(part, name)
    }
  }

  #learnMessage(message: Message): void {
    for (const [name, value] of message.headers) this.#learnHeader(name.toLowerCase(), value)
    this.#learnBody(bodyText(message), headerIn(message, 'content-type'))
  }

  #learnHeader(name: string, value: string): void {
    this.#finding.header(name, value)
    if (!/cookie$/.test(name)) return
    const cookies = name === 'cookie' ? value.split(';') : value.split(';', 1)
    for (const cookie of cookies) this.#learnSecret(cookie.slice(cookie.indexOf('=') + 1).trim(), name)
  }

  #learnBody(text: string | undefined, type = ''): void {
    if (text === undefined) return
    const json = parsedJson(text)
    if (json === undefined || typeof json !== 'object') {
      this.#finding.text(text)
      if (type.includes('x-www-form-urlencoded')) this.#finding.parameters(new URLSearchParams(text))
      return
    }
    this.#finding.json(json)
    this.#learnInside(json)
  }

  /** JSON inside texts of JSON, and the values that identify. */
  #learnInside(value: JsonValue | JsonObject, name = ''): void {
    if (Array.isArray(value)) for (const item of value) this.#learnInside(item, name)
    else if (isJsonObject(value)) for (const [key, item] of Object.entries(value)) this.#learnInside(item, key)
    if (typeof value !== 'string') return
    if (IDENTIFYING.has(name)) this.#identifying.add(value)
    if (/^\s*[[{]/.test(value)) this.#learnBody(value)
  }
}

interface Form {
  /** As texts are read, see `decoded`. */
  readonly value: string
  readonly secret: string
}

function wordLetters(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

function substringsOf(text: string): Set<string> {
  return new Set(Array.from({ length: Math.max(0, text.length - LEAST + 1) }, (_, at) => text.slice(at, at + LEAST)))
}

/** A secret as it is, and as base64 at each of the three places where it can begin in what is encoded. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const encoded = [0, 1, 2].flatMap((offset) => {
    const all = Buffer.concat([Buffer.alloc(offset), bytes])
    // The characters at both ends depend on what is beside the secret.
    const first = Math.ceil((offset * 8) / 6)
    const last = Math.floor((all.length * 8) / 6)
    return (['base64', 'base64url'] as const).map((encoding) => all.toString(encoding).slice(first, last))
  })
  const hexadecimal = bytes.toString('hex')
  const forms = [secret, ...encoded, hexadecimal].flatMap((form) => [form, form.toUpperCase()])
  return [...new Set(forms.map((form) => decodeUnits(form, UNIT).read))].filter((form) => form.length >= LEAST)
}

/** Escapes of JSON, of any depth, of URLs and forms, encoded any number of times, and of HTML. */
const UNIT =
  /\\+u([\da-f]{4})|\\+([bfnrt"/])|\\+|%(?:25)*([0-7][\da-f])|((?:%(?:25)*[89a-f][\da-f])+)|&#(\d{2,7};|x[\da-f]{2,6};)|&(amp|lt|gt|quot|apos);/giu
const QUOTED_PRINTABLE = /=(?:\r?\n|[2-7][\dA-F])/
const QUOTED_UNIT = /=\r?\n|=([2-7][\dA-F])/g
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** `%41`, `\u0041` and `A` are one. Two arrays of places: an object for each character takes too much memory. */
function decodeUnits(text: string, unit: RegExp) {
  const [starts, ends] = [new Uint32Array(text.length), new Uint32Array(text.length)]
  const parts: string[] = []
  let [length, from] = [0, 0]
  const copy = (until: number): void => {
    parts.push(text.slice(from, until))
    for (; from < until; from++, length++) {
      starts[length] = from
      ends[length] = from + 1
    }
  }
  for (const match of text.matchAll(unit)) {
    copy(match.index)
    const meant = readOf(match)
    parts.push(meant)
    from = match.index + match[0].length
    starts.fill(match.index, length, length + meant.length)
    ends.fill(from, length, length + meant.length)
    length += meant.length
  }
  copy(text.length)
  return { read: parts.join('').replaceAll('+', ' '), starts, ends }
}

function readOf([all, code, escaped, percent, octets, number = '', entity]: RegExpExecArray): string {
  const hexadecimal = code ?? percent
  if (hexadecimal !== undefined) return String.fromCharCode(Number.parseInt(hexadecimal, 16))
  if (octets !== undefined) return percentDecoded(octets.replaceAll(/%(?:25)+/g, '%')) ?? all
  if (escaped !== undefined) return CONTROLS[escaped] ?? escaped
  if (entity !== undefined) return ENTITIES[entity.toLowerCase()] ?? all
  const point = number.startsWith('x') ? Number.parseInt(number.slice(1), 16) : Number.parseInt(number, 10)
  if (point <= 0x10_ff_ff) return String.fromCodePoint(point)
  return all.startsWith('\\') ? '\\' : all.startsWith('=') ? '' : all
}
