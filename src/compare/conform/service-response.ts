import type { IncomingHttpHeaders } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import {
  isJsonObject,
  type JsonObject,
  jsonText,
  type JsonValue,
  ownMember,
  parsedJson,
  parseJson,
  textOf,
} from '../../model/domain/json.ts'
import { valueAt } from '../../model/domain/value-match.ts'

/** The expectation does not hold. */
export class Broken extends Error {
  override readonly name = 'Broken'

  constructor(expected: string, actual: string) {
    super(`expected ${expected}, found ${actual}`)
  }
}

/** The check cannot be made at this target; the message says why. */
export class Skipped extends Error {
  override readonly name = 'Skipped'
}

/** The message of the Model Context Protocol in a body or in an event of a stream; undefined where there is none. */
export function mcpMessage(text: string): JsonObject | undefined {
  const messages = [text, ...[...text.matchAll(/^data: ?(.*)$/gm)].map(([, data = '']) => data)].map(parsedJson)
  return messages
    .filter(isJsonObject)
    .find((each) => ['result', 'error'].some((name) => isJsonObject(ownMember(each, name))))
}

/** What the target answered to one request, with the assertions that checks are made of. */
export class ServiceResponse {
  #json: JsonValue | undefined

  constructor(
    /** Method and path, for messages. */
    readonly asked: string,
    readonly status: number,
    readonly headers: IncomingHttpHeaders,
    readonly text: string,
  ) {}

  /** @throws Broken when the answer has another status */
  is(...statuses: number[]): this {
    if (statuses.includes(this.status)) return this
    throw new Broken(`${this.asked} to answer ${statuses.join(' or ')}`, `${this.status} ${bodyExcerpt(this.text)}`)
  }

  /** @throws Skipped when the target does not serve the path, which is of a part that it may lack */
  servedBy(part: string): this {
    const isUnknown = this.status === 404 && this.at('details.0.error_code') === 'PATH_NOT_FOUND'
    if (isUnknown) throw new Skipped(`the target serves no ${part}`)
    return this
  }

  /** @throws Broken when the body is no JSON */
  get json(): JsonValue {
    this.#json ??= parsedJson(this.text)
    if (this.#json !== undefined) return this.#json
    throw new Broken(`${this.asked} to answer JSON`, bodyExcerpt(this.text))
  }

  /** The value at `a.b.0.c`; undefined when something on the way is absent. */
  at(path: string): JsonValue | undefined {
    return valueAt(this.json, path)
  }

  /** @throws Broken when there is no text at `path`, or an empty one */
  string(path: string): string {
    const value = this.at(path)
    if (typeof value === 'string' && value !== '') return value
    throw new Broken(`${this.asked} to answer a text in ${path}`, valueExcerpt(value))
  }

  /** @throws Broken */
  list(path: string): JsonValue[] {
    const value = this.at(path)
    if (Array.isArray(value)) return value
    throw new Broken(`${this.asked} to answer an array in ${path}`, valueExcerpt(value))
  }

  /** @throws Broken */
  objects(path: string): JsonObject[] {
    return this.list(path).map((item) => {
      if (isJsonObject(item)) return item
      throw new Broken(`${this.asked} to answer objects in ${path}`, valueExcerpt(item))
    })
  }

  /** @throws Broken */
  object(path: string): JsonObject {
    const value = this.at(path)
    if (isJsonObject(value)) return value
    throw new Broken(`${this.asked} to answer an object in ${path}`, valueExcerpt(value))
  }

  /** @throws Broken unless the value at `path` equals `expected` */
  has(path: string, expected: JsonValue | undefined): this {
    equal(this.at(path), expected, `${path} of ${this.asked}`)
    return this
  }

  /** @throws Broken unless nothing is at `path` */
  lacks(path: string): this {
    return this.has(path, undefined)
  }

  /** @throws Broken unless the header is there and fits */
  header(name: string, pattern: RegExp): this {
    const value = this.headers[name.toLowerCase()]
    const text = Array.isArray(value) ? value.join(', ') : value
    if (text !== undefined && pattern.test(text)) return this
    throw new Broken(`${this.asked} to answer the header ${name} like ${pattern.source}`, valueExcerpt(text))
  }
}

/** @throws Broken unless both are equal */
export function equal(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(comparableValue(actual), comparableValue(expected))) return
  throw new Broken(`${what} to be ${valueExcerpt(expected)}`, valueExcerpt(actual))
}

/** @throws Broken unless `holds` */
export function must(holds: boolean, expected: string, actual: unknown): void {
  if (!holds) throw new Broken(expected, valueExcerpt(actual))
}

/** @throws Broken unless both have the same members, in any order */
export function sameMembers(actual: readonly string[], expected: readonly string[], what: string): void {
  equal([...actual].sort(), [...expected].sort(), what)
}

/** Every page of a list, first to last, by its page tokens. @throws Broken for a list without an end */
export async function everyPage(
  ask: (page_token: string | undefined) => Promise<ServiceResponse>,
): Promise<ServiceResponse[]> {
  const pages: ServiceResponse[] = []
  let token: string | undefined
  let next: string | undefined
  do {
    token = next
    const response = await ask(token)
    pages.push(response)
    next = textOf(response.at('next_page_token')) || undefined
  } while (next !== undefined && next !== token && pages.length < 1000)
  must(next === undefined, 'a last page', `${pages.length} pages and no end`)
  return pages
}

/** JSON without prototypes, so that only values are compared. */
function comparableValue(value: unknown): unknown {
  return value === undefined ? undefined : parseJson(jsonText(value))
}

function valueExcerpt(value: unknown): string {
  return value === undefined ? 'nothing' : bodyExcerpt(jsonText(value))
}

/** Tokens of a live service are masked, because many people can read a report. */
function bodyExcerpt(text: string): string {
  const masked = text.replace(/("(?:access|refresh)_token":\s*")[^"]+/g, '$1…')
  return masked.length > 300 ? `${masked.slice(0, 300)}…` : masked
}
