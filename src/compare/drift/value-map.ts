import { Skipped } from '../conform/service-response.ts'
import { isJsonObject, jsonText, type JsonValue, nestsDeeper, ownMember, parsedJson } from '../../model/domain/json.ts'
import { parseUrl } from '../../model/domain/parse-url.ts'
import { percentDecoded } from '../../model/domain/text.ts'
import type { HttpRequest } from '../../platform/http-client.ts'

/** Larger and deeper bodies are made to be refused. */
const MAX_BODY = 100_000
const MAX_DEPTH = 100

/** The value of a body; undefined for one that is none, or that is too large to look into. */
export function bodyValue(text: string): JsonValue | undefined {
  return text.length > MAX_BODY || nestsDeeper(text, MAX_DEPTH) ? undefined : parsedJson(text)
}

/** What each implementation makes for itself: ids, tokens, links. No sentence, no word of an enumeration, no instant. */
function isMade(text: string): boolean {
  const isLong = text.length >= (/\d/.test(text) ? 4 : 8)
  return isLong && !/\s|^[A-Z_]+$|^\d{4}-\d\d-\d\dT/.test(text)
}

function stringsIn(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

/** With those that another one has in their place: a request with values of the first becomes one for the second. */
export class ValueMap {
  readonly #values = new Map<string, string>()
  readonly #taken = new Set<string>()
  /** Values that both have. */
  readonly #same = new Set<string>()
  readonly #origins = new Map<string, string>()
  /** Values of answers that the other implementation has not given. */
  readonly #missing = new Set<string>()

  learn(mine: JsonValue | undefined, theirs: JsonValue | undefined): void {
    // Lists may have another order: a value that both answers hold stands for nothing else.
    const others = new Set(stringsIn(theirs))
    for (const text of stringsIn(mine)) if (others.has(text)) this.pair(text, text)
    this.#pairValues(mine, theirs)
  }

  #pairValues(mine: JsonValue | undefined, theirs: JsonValue | undefined): void {
    if (typeof mine === 'string' && typeof theirs === 'string') this.pair(mine, theirs)
    if (Array.isArray(mine) && Array.isArray(theirs))
      for (const [at, item] of mine.entries()) this.#pairValues(item, theirs[at])
    if (isJsonObject(mine) && isJsonObject(theirs))
      for (const [key, value] of Object.entries(mine)) this.#pairValues(value, ownMember(theirs, key))
  }

  /** One value in place of another. The parts of two links are values too. */
  pair(mine: string, theirs: string): void {
    if (mine === theirs) this.#same.add(mine)
    const isCommon = this.#same.has(mine) || this.#same.has(theirs)
    const isKnown = this.#values.has(mine) || this.#taken.has(theirs)
    if (isCommon || isKnown || !isMade(mine) || !isMade(theirs)) return
    this.#values.set(mine, theirs)
    this.#taken.add(theirs)
    this.#missing.delete(mine)
    const [ours, theirUrl] = [mine, theirs].map((each) => (/^https?:/.test(each) ? parseUrl(each) : undefined))
    if (!ours || !theirUrl) return
    this.#origins.set(ours.origin, theirUrl.origin)
    const parts = theirUrl.pathname.split('/')
    for (const [at, part] of ours.pathname.split('/').entries()) this.pair(part, parts[at] ?? '')
    for (const [name, value] of ours.searchParams) this.pair(value, theirUrl.searchParams.get(name) ?? '')
  }

  /** The other implementation has refused: what it should have made is nowhere. What was sent is not of its making. */
  miss(value: JsonValue | undefined, { path, body = '' }: HttpRequest): void {
    if (typeof value === 'object' && value !== null)
      for (const each of Object.values(value)) this.miss(each, { path, body, method: '' })
    if (typeof value !== 'string' || !isMade(value) || this.known(value) !== undefined) return
    if (!body.includes(value) && !path.includes(encodeURIComponent(value))) this.#missing.add(value)
  }

  /** The value of the other implementation, where one is known. */
  known(value: string): string | undefined {
    return this.#values.get(value) ?? (this.#same.has(value) ? value : undefined)
  }

  /** A URL at the address of the other implementation; another text as it is. */
  url(mine: string): string {
    const [origin = ''] = /^https?:\/\/[^/]+/.exec(mine) ?? []
    return (this.#origins.get(origin) ?? origin) + mine.slice(origin.length)
  }

  /** Whether a value of the other implementation is known as one of another value. */
  isTaken(theirs: string): boolean {
    return this.#taken.has(theirs)
  }

  /** Whether the two have different values here, which they have made since they are compared. */
  has(value: string): boolean {
    return this.#values.has(value)
  }

  /** @throws Skipped for a value that the other implementation has never made */
  value(mine: string): string {
    const theirs = this.#values.get(mine)
    if (theirs === undefined && this.#missing.has(mine))
      throw new Skipped('needs a value of an earlier answer, which the two did not both give')
    // What was sent to both is of nobody's making.
    if (theirs === undefined) this.#same.add(mine)
    return theirs ?? mine
  }

  /** @throws Skipped for a value that the other implementation has never made */
  request({ path, headers = {}, body, ...otherParts }: HttpRequest): HttpRequest {
    const names = Object.entries(headers).map(([name, value]): [string, string] => [
      name,
      value.replace(/\S+$/, (word) => this.value(word)),
    ])
    const isForm = names.some(([name, value]) => name.toLowerCase() === 'content-type' && value.includes('form'))
    const bodyPart = body === undefined ? {} : { body: isForm ? this.#mappedQuery(body) : this.#mappedJson(body) }
    return { ...otherParts, path: this.#mappedPath(path), headers: Object.fromEntries(names), ...bodyPart }
  }

  #mappedPath(path: string): string {
    const [file = '', ...query] = path.split('?')
    const mapped = file.replaceAll(/[^/:]+/g, (part) => {
      const plain = percentDecoded(part) ?? part
      const value = this.value(plain)
      return value === plain ? part : encodeURIComponent(value)
    })
    return [mapped, ...(query.length === 0 ? [] : [this.#mappedQuery(query.join('?'))])].join('?')
  }

  /** Pairs without a known value stay as they were written. */
  #mappedQuery(query: string): string {
    const mapped = query.split('&').map((pair) => {
      const [name, encoded] = pair.split(/=(.*)/s)
      const text = (encoded ?? '').replaceAll('+', ' ')
      const plain = percentDecoded(text) ?? text
      const value = this.value(plain)
      return value === plain ? pair : `${name}=${encodeURIComponent(value)}`
    })
    return mapped.join('&')
  }

  /** Unchanged, byte for byte, where it holds no known value. */
  #mappedJson(text: string): string {
    const value = bodyValue(text)
    if (value === undefined) return text
    const mapped = this.#mappedValue(value)
    return mapped === value ? text : jsonText(mapped)
  }

  #mappedValue(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.value(value)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value)
    const mapped = entries.map(([key, item]): [string, JsonValue] => [key, this.#mappedValue(item)])
    if (mapped.every(([, item], at) => item === entries[at]?.[1])) return value
    return Array.isArray(value) ? mapped.map(([, item]) => item) : Object.fromEntries(mapped)
  }
}
