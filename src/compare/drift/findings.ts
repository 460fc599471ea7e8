import type { ServiceResponse } from '../conform/service-response.ts'
import type { Check } from '../conform/check.ts'
import { readDocument } from '../../model/contract/generated/document.js'
import { RULES } from '../../model/contract/generated/rules.ts'
import { isOperation, operationAt } from '../../model/contract/route.ts'
import { isJsonObject, type JsonObject, jsonText, type JsonValue, parsedJson, textOf } from '../../model/domain/json.ts'
import { maskAt } from '../../model/domain/masking.ts'
import { percentDecoded } from '../../model/domain/text.ts'
import { valueAt } from '../../model/domain/value-match.ts'
import type { HttpRequest } from '../../platform/http-client.ts'
import { basisOf } from '../../model/contract/basis.ts'
import { isMcpOperation, mcpOperation, mcpResponse } from './mcp.ts'
import { ResponseSchemas } from './response-schema.ts'
import { ResponseComparison, type ResponseDifference, type Kind } from './compare.ts'
import { bodyValue, type ValueMap } from './value-map.ts'

export const CLASSES = ['contract', 'mock', 'data'] as const

/** What fixes a difference: a part of a seed, or lines of the configuration file. */
export interface DriftRemedy {
  readonly settings?: JsonObject
  readonly configuration?: JsonObject
}

/** A difference between the service and the mock, found once or often. */
export interface DriftFinding {
  /** Operation, place and kind: the same from one run to the next. */
  readonly id: string
  /** `contract`: the service breaks its document; `mock`: the document is silent; `data`: the accounts differ. */
  readonly class: (typeof CLASSES)[number]
  /** The point of docs/fidelity.md at which the mock has chosen. */
  readonly gap?: string
  readonly basis: string
  readonly operation: string
  readonly place: string
  readonly kind: Kind | 'accepted'
  /** What the request was about, as a sentence. */
  readonly title?: string
  readonly service: JsonValue
  readonly mock: JsonValue
  readonly settings?: DriftRemedy
}

/** Which points of docs/fidelity.md the service has answered alike, which otherwise, and which no request was about. */
export interface Gaps {
  readonly confirmed: readonly string[]
  readonly contradicted: readonly string[]
  readonly not_exercised: readonly string[]
}

/** What asks, where it is a check of the conformance suite. */
export type AskingCheck = Pick<Check, 'id' | 'operation' | 'basis' | 'title'>

export interface ComparedExchange {
  /** As the mock has got it. */
  readonly request: HttpRequest
  readonly mock: ServiceResponse
  readonly service: ServiceResponse
  /** The values of the mock with those of the service. */
  readonly map: ValueMap
  readonly check?: AskingCheck | undefined
}

/** Names of members and parameters whose values are made up by whoever calls. */
const OWN_NAMES = /^(?:identifier|organization_id|user_id)$/

/** Headers whose values are compared, or say whom the request is about. */
const NAMING_HEADERS = /^(?:x-request-id|identifier)$/i

/** By which a check gives the consent of a user, whose answer says where the browser is sent. */
const CONSENT = /^\/_mock\/links\/[^/]+\/complete$/

/** Compares answers, one request after the other, and keeps what differs. */
export class Findings {
  readonly #schemas: ResponseSchemas
  readonly #prefix: string | undefined
  readonly #isSame: boolean
  readonly #findings = new Map<string, DriftFinding>()
  /** Differences inside successful answers without the checks that asked, with the ids of the findings with them. */
  readonly #anyCheck = new Map<string, { finding: DriftFinding; ids: Set<string> }>()
  readonly #exercised = new Set<string>()
  readonly #sent = new Set<string>()
  readonly #written = new Set<string>()

  /** `isSame`: whether the two hold the same connections, providers and accounts from the start. */
  constructor(prefix?: string, isSame = false) {
    this.#schemas = new ResponseSchemas(readDocument())
    this.#prefix = prefix?.toLowerCase()
    this.#isSame = isSame
  }

  add({ request, map, check, ...responses }: ComparedExchange): void {
    const [path = ''] = request.path.split('?')
    const isConsent = CONSENT.test(path)
    if (path.startsWith('/_mock/') && !isConsent) return
    const operation = operationAt(request.method, path)
    const mcp = mcpOperation(request)
    const [mock, service] = [responses.mock, responses.service].map((each) => (mcp ? mcpResponse(each) : each)) as [
      ServiceResponse,
      ServiceResponse,
    ]
    const isOwn = this.#isOwn(request, map) || this.#isSame
    const context = {
      schemas: this.#schemas,
      map,
      inputs: this.#sent,
      // What begins depends on no account.
      own: isOwn || operation === 'create_token' || mcp === 'mcp_initialize',
    }
    const { differences, bases } = new ResponseComparison(context).compare(operation ?? mcp, mock, service)
    for (const basis of bases) this.exercise(basis)
    if (operation !== undefined && mock.status < 400 && service.status === mock.status)
      for (const path of sentBy(request).names)
        this.exercise(basisOf({ operation, field: path, code: '', error_code: null }))
    const linkedOperation = isConsent
      ? 'create_magic_link'
      : path.startsWith('/proxy/')
        ? 'proxy_request'
        : 'any_operation'
    const name = operation ?? mcp ?? linkedOperation
    if (service.status === mock.status) this.exercise(refusalBasis(name, mock) ?? '')
    const about = check && (check.operation ?? name) === name ? check : undefined
    for (const each of differences) this.#addDifference(each, name, about, mock)
  }

  list(): DriftFinding[] {
    const list = new Map(this.#findings)
    // What differs whichever check asks is about none of them.
    for (const { finding, ids } of this.#anyCheck.values()) {
      if (ids.size < 3) continue
      for (const id of ids) list.delete(id)
      list.set(finding.id, finding)
    }
    return [...list.values()]
  }

  gaps(): Gaps {
    const all = [...new Set(RULES.flatMap(({ ids }) => ids.filter((id) => /^G\d+$/.test(id))))]
    const hit = new Set(this.list().flatMap(({ gap }) => gap ?? []))
    const gapIds = [...new Set([...all, ...hit])].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    const others = gapIds.filter((gap) => !hit.has(gap))
    return {
      confirmed: others.filter((gap) => this.#exercised.has(gap)),
      contradicted: gapIds.filter((gap) => hit.has(gap)),
      not_exercised: others.filter((gap) => !this.#exercised.has(gap)),
    }
  }

  /** What was asked about: by a request, or by a check of the conformance suite that went through. */
  exercise(basis: string): void {
    const gap = gapOf(basis)
    if (gap !== undefined) this.#exercised.add(gap)
  }

  #addDifference(
    difference: ResponseDifference,
    operation: string,
    check: AskingCheck | undefined,
    mock: ServiceResponse,
  ): void {
    const about = difference.behaviour ? check : undefined
    const finding = this.#findingOf(difference, operation, about, mock)
    if (this.#findings.has(finding.id)) return
    this.#findings.set(finding.id, finding)
    if (!difference.behaviour || difference.place === '' || mock.status >= 400) return
    const general = this.#findingOf(difference, operation, undefined, mock)
    const entry = this.#anyCheck.get(general.id) ?? { finding: general, ids: new Set() }
    this.#anyCheck.set(general.id, { ...entry, ids: entry.ids.add(finding.id) })
  }

  #findingOf(
    difference: ResponseDifference,
    operation: string,
    check: AskingCheck | undefined,
    mock: ServiceResponse,
  ): DriftFinding {
    const isRefusal = difference.behaviour && difference.kind === 'status'
    const basis = check?.basis ?? (isRefusal ? refusalBasis(operation, mock) : undefined) ?? difference.basis
    const isOfItsOwn = operation === 'create_token' || isMcpOperation(operation)
    const isShared = !difference.behaviour && mock.status >= 400 && !isOfItsOwn
    const about = difference.behaviour ? (check?.id ?? responseOutcome(mock)) : ''
    const place = [about, isShared ? `error${difference.place === '' ? '' : `.${difference.place}`}` : difference.place]
    const parts = {
      operation: isShared ? 'any_operation' : operation,
      place: place.filter((part) => part !== '').join(':'),
      kind: difference.kind,
    }
    const id = `${parts.operation}/${parts.place === '' ? mock.status : parts.place}/${parts.kind}`
    const isData = difference.data === true
    const gap = isData ? undefined : gapOf(basis)
    const settings = remedyOf(difference)
    return {
      id,
      class: isData ? 'data' : basis.startsWith('document') ? 'contract' : 'mock',
      ...(gap !== undefined && { gap }),
      basis,
      ...parts,
      ...(check ? { title: check.title } : {}),
      service: comparedValue(difference.place, difference.service),
      mock: comparedValue(difference.place, difference.mock),
      ...(settings && { settings }),
    }
  }

  /** Whether a request names something that this run has made. Remembers what it sends. */
  #isOwn(request: HttpRequest, map: ValueMap): boolean {
    const { names, texts, written } = sentBy(request)
    const isNamed = (text: string) => this.#prefix !== undefined && text.toLowerCase().includes(this.#prefix)
    const isOwn = texts.some((text) => map.has(text) || this.#written.has(text) || isNamed(text))
    for (const text of [...names, ...texts]) this.#sent.add(text)
    if (request.method !== 'GET') for (const text of written) this.#written.add(text)
    return isOwn
  }
}

function gapOf(basis: string): string | undefined {
  return /^(?:convention|choice):(.+)$/.exec(basis)?.[1]
}

/** The basis of the rule that a request breaks; undefined where the mock has not refused it, or its answer names no rule. */
function refusalBasis(operation: string, { status, text }: ServiceResponse): string | undefined {
  if (status < 400 || !isOperation(operation)) return undefined
  const detail = valueAt(parsedJson(text), 'details.0')
  const violation = valueAt(detail, 'validation_error_info.field_violations.0')
  const [field = '', code = ''] = ['field', 'constraint'].map((name) => textOf(valueAt(violation, name)))
  const error_code = textOf(valueAt(detail, 'error_code'))
  return code === '' ? undefined : basisOf({ operation, field, code, error_code })
}

/** What the mock answered, for requests that no check makes. */
function responseOutcome(mock: ServiceResponse): string {
  const [, code] = /"error_code":"(\w+)"/.exec(mock.text) ?? []
  const [, field] = /"field":"([^"]+)"/.exec(mock.text) ?? []
  return [mock.status, code, field].filter((part) => part !== undefined).join('.')
}

function remedyOf({ kind, word, lifetime }: ResponseDifference): DriftRemedy | undefined {
  if (lifetime) return { settings: { [lifetime[0]]: `${lifetime[1] / 1000}s` } }
  const isWord = word?.every((each) => /^\w+$/.test(each)) === true
  return isWord && kind !== 'code' ? { settings: { vocabulary: { [word[0]]: word[1] } } } : undefined
}

/** A value as reports show it: short, and without secrets. */
function comparedValue(place: string, value: JsonValue | undefined): JsonValue {
  if (value === undefined) return null
  // The details of an error are no credentials, as those of `static_auth` are.
  const path = place.split('.').filter((part) => part !== 'details[]')
  const masked = maskAt(
    path.map((part) => part.replace('[]', '')),
    value,
  )
  const text = jsonText(masked)
  return text.length > 300 ? `${text.slice(0, 300)}…` : masked
}

interface Sent {
  readonly names: readonly string[]
  readonly texts: readonly string[]
  /** The values that the caller has made up. */
  readonly written: readonly string[]
}

/** Names and texts of a request: of its path, its query and its body. */
function sentBy({ method, path, headers = {}, body }: HttpRequest): Sent {
  const [file = '', query = ''] = path.split('?')
  const isForm = Object.values(headers).some((value) => value.includes('x-www-form-urlencoded'))
  const pairs = [...new URLSearchParams(query), ...(isForm ? new URLSearchParams(body) : [])]
  const names = pairs.map(([name]) => name)
  const ids = Object.entries(headers).flatMap(([name, value]) => (NAMING_HEADERS.test(name) ? [value] : []))
  const parts = file.split('/').map((part) => percentDecoded(part) ?? part)
  const texts = [method, file.replace(/^\/[^/]+/, ''), ...ids, ...parts, ...pairs.map(([, value]) => value)]
  const written = pairs.flatMap(([name, value]) => (OWN_NAMES.test(name) ? [value] : []))
  const visit = (value: JsonValue | undefined, name: string): void => {
    if (typeof value === 'string') texts.push(value)
    if (typeof value === 'string' && OWN_NAMES.test(name)) written.push(value)
    if (Array.isArray(value)) for (const each of value) visit(each, name)
    if (!isJsonObject(value)) return
    names.push(...Object.keys(value))
    for (const [key, each] of Object.entries(value)) visit(each, key)
  }
  if (body !== undefined && !isForm) visit(bodyValue(body), '')
  return { names, texts: texts.filter(Boolean), written: written.filter(Boolean) }
}
