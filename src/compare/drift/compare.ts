import type { ServiceResponse } from '../conform/service-response.ts'
import { isErrorCode } from '../../model/domain/errors.ts'
import { DATE_TIME } from '../../model/domain/instant.ts'
import {
  isJsonObject,
  type JsonObject,
  jsonText,
  jsonType,
  type JsonValue,
  ownMember,
  parsedJson,
  textOf,
} from '../../model/domain/json.ts'
import { isDeepStrictEqual } from 'node:util'
import { parseUrl } from '../../model/domain/parse-url.ts'
import { valueAt } from '../../model/domain/value-match.ts'
import { isMcpOperation } from './mcp.ts'
import type { ResponseNode, ResponseSchemas } from './response-schema.ts'
import type { ValueMap } from './value-map.ts'

/** What can differ between two answers to the same request. */
export type Kind =
  | 'status'
  | 'code'
  | 'error_code'
  | 'missing'
  | 'extra'
  | 'type'
  | 'format'
  | 'word'
  | 'value'
  | 'items'
  | 'order'
  | 'header'
  | 'lifetime'

/** A value of an answer; undefined where the answer has none. */
type Value = JsonValue | undefined

export interface ResponseDifference {
  readonly kind: Kind
  /** The path of a member, `[]` for any item; the name of a header; empty for the answer as a whole. */
  readonly place: string
  readonly basis: string
  /** What depends on the request and not on the form of the answer: the check that asked says more of its basis. */
  readonly behaviour: boolean
  readonly mock: Value
  readonly service: Value
  /** What the answer holds that was there before this run. */
  readonly data?: boolean
  /** A word of the document, and the one in its place. */
  readonly word?: readonly [string, string]
  /** The setting that holds this duration, and what the service has, in milliseconds. */
  readonly lifetime?: readonly [string, number]
}

export interface CompareContext {
  readonly schemas: ResponseSchemas
  /** The values of the mock with those of the service. */
  readonly map: ValueMap
  /** Texts and names of members that requests have sent. */
  readonly inputs: ReadonlySet<string>
  /** Whether the request names something that this run has made, or both hold the same from the start. */
  readonly own: boolean
}

const CLOCK_TOLERANCE = 5_000
/** Members that name one thing. */
const IDENTITY = /(?:^|[._])(?:id|link)$/
/** Where the browser of a user is sent, as the control API of a toolmock says it. */
const REDIRECT = 'redirect_url'
/** What may hold anything. */
const OPEN: JsonObject = { additionalProperties: true }
/** What the mock answers for a field without a value (G53). */
const ZERO: ReadonlySet<string> = new Set(['""', '[]', '{}', 'false', '0'])

/** Compares two answers to the same request. */
export class ResponseComparison {
  readonly #context: CompareContext
  readonly differences: ResponseDifference[] = []
  /** The basis of everything that was compared. */
  readonly bases = new Set<string>()
  /** Errors do not depend on what was there before. */
  #isRefusal = false
  /** How far the clock of the service is ahead, and the one of the mock. */
  #clocks = { ahead: 0, mock: 0 }

  constructor(context: CompareContext) {
    this.#context = context
  }

  compare(operation: string | undefined, mock: ServiceResponse, service: ServiceResponse): this {
    const schema = this.#context.schemas.of(operation, mock.status)
    this.#isRefusal = mock.status >= 400
    this.bases.add(schema.basis)
    if (mock.status !== service.status) {
      // A resource that only one side has; a path that only one serves is none.
      const isLocated = this.#context.schemas.of(operation, 404).basis !== 'transport'
      const isFound = mock.status < 400 || service.status < 400
      const isMissing = mock.status === 404 || service.status === 404
      const data = !this.#context.own && isLocated && isFound && isMissing
      const basis =
        schema.basis === 'transport' ? this.#context.schemas.of(operation, service.status).basis : schema.basis
      this.#addDifference('status', '', basis, mock.status, service.status, { behaviour: true, data })
      return this
    }
    const [clock, serviceClock] = [mock, service].map(({ headers }) => Date.parse(String(headers['date'])) || 0)
    this.#clocks = { ahead: (serviceClock ?? 0) - (clock ?? 0), mock: clock ?? 0 }
    this.#compareHeaders(schema.headers, mock, service)
    const [mine, theirs] = [comparedBody(mock), comparedBody(service)]
    if (mock.status >= 400 || isMcpOperation(operation))
      this.#errorCodes(schema.body?.basis ?? schema.basis, mine, theirs)
    this.#compareValues(schema.body, '', mine, theirs)
    return this
  }

  #addDifference(
    kind: Kind,
    place: string,
    basis: string,
    mock: Value,
    service: Value,
    more: Partial<ResponseDifference> = {},
  ): void {
    this.differences.push({ kind, place, basis, behaviour: false, mock, service, ...more })
  }

  #compareHeaders(
    declared: readonly { name: string; node: ResponseNode }[],
    mock: ServiceResponse,
    service: ServiceResponse,
  ): void {
    const type = ({ headers }: ServiceResponse): string => (headers['content-type'] ?? '').replace(/;.*/, '')
    if (type(mock) !== type(service))
      this.#addDifference('header', 'content-type', 'document:1', type(mock), type(service))
    for (const { name, node } of declared) {
      const [mine, theirs] = [mock, service].map(({ headers }) => headers[name]?.toString())
      this.bases.add(node.basis)
      if ((mine === undefined) !== (theirs === undefined)) this.#addDifference('header', name, node.basis, mine, theirs)
      else if (theirs !== undefined && !fitsSchema(node.schema, theirs))
        this.#addDifference('format', name, node.basis, mine, theirs)
      else if (mine !== undefined && theirs !== undefined) this.#compareEcho(name, node.basis, mine, theirs)
    }
  }

  /** A header that the request has sent comes back; another one may come again in the body. */
  #compareEcho(name: string, basis: string, mine: string, theirs: string): void {
    const { map, inputs } = this.#context
    if (mine !== theirs && inputs.has(mine))
      this.#addDifference('value', name, basis, mine, theirs, { behaviour: true })
    map.pair(mine, theirs)
  }

  /** The two numbers and words by which clients tell errors apart. */
  #errorCodes(basis: string, mine: Value, theirs: Value): void {
    for (const [kind, path] of ERROR_CODES) {
      const [ours, serviceCode] = [valueAt(mine, path), valueAt(theirs, path)]
      if (isNoCode(ours) || isNoCode(serviceCode) || ours === serviceCode) continue
      const isOwn = typeof ours === 'string' && typeof serviceCode === 'string' && !isErrorCode(serviceCode)
      const word = isOwn ? { word: [ours, serviceCode] as const } : {}
      this.#addDifference(kind, path.replace('.0', '[]'), basis, ours, serviceCode, { behaviour: true, ...word })
    }
  }

  #compareValues(node: ResponseNode | undefined, place: string, mine: Value, theirs: Value): void {
    if (node) this.bases.add(node.basis)
    const [ours, serviceType] = [jsonType(mine), jsonType(theirs)]
    if (node && ownMember(node.schema, 'x-whole') === true) {
      if (!isDeepStrictEqual(mine, theirs)) this.#addBehaviour('value', node, place, mine, theirs)
    } else if (ours !== serviceType) this.#addDifference('type', place, node?.presence ?? 'document:1', mine, theirs)
    else if (isJsonObject(mine) && isJsonObject(theirs)) this.#compareMembers(node, place, mine, theirs)
    else if (Array.isArray(mine) && Array.isArray(theirs)) this.#compareItems(node, place, mine, theirs)
    else if (typeof mine === 'string' && typeof theirs === 'string') this.#compareTexts(node, place, mine, theirs)
    else if (node && mine !== theirs && !place.endsWith('code') && !this.#compareLifetimes(node, place, mine, theirs))
      this.#addBehaviour('value', node, place, mine, theirs)
  }

  #compareMembers(node: ResponseNode | undefined, place: string, mine: JsonObject, theirs: JsonObject): void {
    const renamed = this.#renamedMembers(node, mine, theirs)
    for (const name of new Set([...Object.keys(mine), ...Object.keys(theirs)])) {
      const [ours, serviceMember] = [ownMember(mine, name), ownMember(theirs, name)]
      const declared = node && this.#context.schemas.member(node, name)
      const at = place === '' ? name : `${place}.${name}`
      // What the contract leaves open counts where the client has sent it.
      const isOpen = node !== undefined && ownMember(node.schema, 'additionalProperties') === true
      if (!declared && isOpen && !this.#context.inputs.has(name)) continue
      const member = declared ?? (isOpen ? { ...node, schema: OPEN } : undefined)
      if (member) this.bases.add(member.presence)
      if (ours !== undefined && serviceMember !== undefined) {
        this.#compareValues(member, at, ours, serviceMember)
        continue
      }
      const required = [ownMember(node?.schema ?? {}, 'required') ?? []].flat().includes(name)
      const isZero =
        (required && ZERO.has(jsonText(ours ?? serviceMember))) || (serviceMember === null && member?.schema !== OPEN)
      const stated = required ? member?.presence : member?.valueBasis
      const basis = isZero ? 'choice:G53' : (stated ?? node?.basis ?? 'choice')
      const behaviour = member !== undefined && !required
      const data = behaviour && !isZero && !this.#context.own && !this.#isRefusal
      const word = ours !== undefined && renamed?.[0] === name ? { word: renamed } : {}
      this.#addDifference(serviceMember === undefined ? 'missing' : 'extra', at, basis, ours, serviceMember, {
        behaviour,
        data,
        ...word,
      })
    }
  }

  /** A member that the service calls otherwise: the only one that it lacks, and the only one that it has in addition. */
  #renamedMembers(
    node: ResponseNode | undefined,
    mine: JsonObject,
    theirs: JsonObject,
  ): readonly [string, string] | undefined {
    const [lacking, ...others] = Object.keys(mine).filter((name) => !Object.hasOwn(theirs, name))
    const [added, ...more] = Object.keys(theirs).filter((name) => !Object.hasOwn(mine, name))
    if (!node || lacking === undefined || added === undefined || others.length + more.length > 0) return undefined
    const isKnown = this.#context.schemas.member(node, added) !== undefined
    return isKnown || jsonType(mine[lacking]) !== jsonType(theirs[added]) ? undefined : [lacking, added]
  }

  #compareItems(
    node: ResponseNode | undefined,
    place: string,
    mine: readonly JsonValue[],
    theirs: readonly JsonValue[],
  ): void {
    const item = node && this.#context.schemas.item(node)
    const at = `${place}[]`
    const names = mine.map((each) => this.#itemName(each, (value) => this.#context.map.known(value)))
    const others = theirs.map((each) => this.#itemName(each, (value) => value))
    if (names.every((name) => name !== undefined) && others.every((name) => name !== undefined)) {
      if ([...names].sort().join('\n') !== [...others].sort().join('\n'))
        this.#addBehaviour('items', node, at, names.length, others.length)
      else if (names.join('\n') !== others.join('\n')) this.#addBehaviour('order', node, at, mine[0], theirs[0])
    } else if (mine.length !== theirs.length) this.#addBehaviour('items', node, at, mine.length, theirs.length)
    for (const [index, each] of mine.entries()) {
      const partner = theirs[names[index] === undefined ? index : others.indexOf(names[index])]
      if (partner !== undefined) this.#compareValues(item, at, each, partner)
    }
  }

  /** What tells an item from others: its id, the name of a tool, or the whole text. */
  #itemName(item: JsonValue, mapped: (value: string) => string | undefined): string | undefined {
    const id = isJsonObject(item) ? ownMember(item, 'id') : item
    if (typeof id === 'string') return mapped(id)
    const name = isJsonObject(item) ? ownMember(item, 'name') : undefined
    return typeof name === 'string' ? name : undefined
  }

  #compareTexts(node: ResponseNode | undefined, place: string, mine: string, theirs: string): void {
    const { map, inputs } = this.#context
    if (mine === theirs || map.known(mine) === theirs) return
    const [mineUrl, theirUrl] = place === REDIRECT ? [parseUrl(mine), parseUrl(theirs)] : []
    if (mineUrl && theirUrl) {
      if (this.#queryParameters(mineUrl) !== this.#queryParameters(theirUrl))
        this.#addDifference('value', place, 'document:4.6', mine, theirs, { behaviour: true })
      return
    }
    if (node && !fitsSchema(node.schema, theirs)) {
      this.#checkForm(node, place, mine, theirs)
      return
    }
    if (node ? this.#compareLifetimes(node, place, mine, theirs) : map.url(mine) === theirs) return
    if (node && ownMember(node.schema, 'x-extensible-enum') !== undefined) {
      this.#addDifference('value', place, node.valueBasis, mine, theirs, { behaviour: true })
      return
    }
    const isWord = node !== undefined && ownMember(node.schema, 'enum') !== undefined && !place.endsWith('error_code')
    // Another account than the mock's, or one value in place of two.
    const isIdentity = IDENTITY.test(place) && ((map.known(mine) ?? theirs) !== theirs || map.isTaken(theirs))
    const isUrl = !node && map.url(mine) !== mine
    const follows = isWord || inputs.has(mine) || isIdentity || isUrl || (mine === '') !== (theirs === '')
    const isProse = this.#isRefusal && /(?:message|description)$/.test(place)
    if (follows && !DATE_TIME.test(mine) && !isProse) {
      this.#addBehaviour('value', node, place, mine, theirs)
      return
    }
    const [prefix, servicePrefix] = [mine, theirs].map((text) => /^[a-z]+_/.exec(text)?.[0])
    if (prefix !== servicePrefix && IDENTITY.test(place) && prefix !== undefined)
      this.#addDifference('format', place, 'choice', mine, theirs)
  }

  /** What an address has in its query, where the values of those that the request has sent count. */
  #queryParameters(url: URL): string {
    const { inputs } = this.#context
    const pairs = [...url.searchParams].map(([name, value]) => [name, value === '' || inputs.has(value) ? value : '*'])
    return jsonText(pairs)
  }

  /** A text that is none of the words, or has not the form, that the contract declares. */
  #checkForm(node: ResponseNode, place: string, mine: string, theirs: string): void {
    const words = ownMember(node.schema, 'enum')
    if (Array.isArray(words)) {
      if (place.endsWith('error_code')) return
      this.#addDifference('word', place, node.basis, mine, theirs, { word: [mine, theirs] })
      return
    }
    const isInstant = ownMember(node.schema, 'format') === 'date-time' && DATE_TIME.test(theirs)
    this.#addDifference('format', place, isInstant ? node.basis : node.presence, mine, theirs)
  }

  /** Whether the value is a duration, or the end of one, that a setting holds; adds where it differs. */
  #compareLifetimes(node: ResponseNode, place: string, mine: Value, theirs: Value): boolean {
    const setting = ownMember(node.schema, 'x-setting')
    if (typeof setting !== 'string') return false
    const { ahead, mock } = this.#clocks
    const [ours = 0, serviceLifetime = 0] = [mine, theirs].map((value, at) =>
      typeof value === 'number' ? value * 1000 : Date.parse(textOf(value)) - mock - at * ahead,
    )
    this.bases.add(node.valueBasis)
    if (Math.abs(ours - serviceLifetime) > CLOCK_TOLERANCE) {
      // The two dates of an answer tell whole seconds, each rounded on its own: an end is known to a few seconds.
      const unit = typeof theirs === 'number' ? 1000 : CLOCK_TOLERANCE
      const rounded = Math.max(unit, Math.round(serviceLifetime / unit) * unit)
      this.#addDifference('lifetime', place, node.valueBasis, mine, theirs, { lifetime: [setting, rounded] })
    }
    return true
  }

  /** A value, which counts where it follows from what the run has done. */
  #addBehaviour(kind: Kind, node: ResponseNode | undefined, place: string, mine: Value, theirs: Value): void {
    this.#addDifference(kind, place, node?.valueBasis ?? 'choice', mine, theirs, {
      behaviour: true,
      data: !this.#context.own && !this.#isRefusal,
    })
  }
}

const ERROR_CODES = [
  ['code', 'code'],
  ['code', 'error'],
  ['error_code', 'details.0.error_code'],
  ['code', 'error.code'],
  ['error_code', 'result.refusal.details.0.error_code'],
] as const

function isNoCode(value: Value): value is JsonObject | undefined {
  return value === undefined || isJsonObject(value)
}

/** Whether a text is one of the words of a schema, and has its form. */
function fitsSchema(schema: JsonObject, text: string): boolean {
  const [words, pattern, format] = ['enum', 'pattern', 'format'].map((key) => ownMember(schema, key))
  if (Array.isArray(words) && !words.includes(text)) return false
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(text)) return false
  if (format === 'uri' && !parseUrl(text)) return false
  return format !== 'date-time' || DATE_TIME.test(text)
}

/** The parsed body; a text that is no JSON as it is, undefined where there is none. */
function comparedBody({ text }: ServiceResponse): Value {
  return text === '' ? undefined : (parsedJson(text) ?? text)
}
