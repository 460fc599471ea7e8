import { isLoopback } from '../domain/loopback.ts'
import { isAuthorizationType, TRAITS } from '../domain/authorization-type.ts'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../domain/json.ts'
import { type Finding, type Path, shown } from './problem.ts'
import type { ToolSchemaCheck } from './tool-schema.ts'
import { type CheckTemplate, templateFindings } from './template-places.ts'

/** What checking a document takes from outside this room. */
export interface DocumentChecks {
  /** The template room's check, loaded when a file is read that needs it. */
  templates: () => Promise<CheckTemplate>
  /** The operations of the service with the statuses that its spec declares, loaded when a scenario is read. */
  operations: () => Promise<ReadonlyMap<string, readonly number[]>>
  /** Every word of the spec, loaded when a seed has a vocabulary (G48). */
  words: () => Promise<readonly string[]>
  /** Whether `base_url` may leave loopback (`--allow-outbound`). */
  allowOutbound?: boolean
}

/** What files that are read together are checked with. */
export interface CheckContext extends DocumentChecks {
  /** Absent for the bundled seed, whose schemas are checked in the tests: compiling them all takes most of the time. */
  toolSchemas?: ToolSchemaCheck
}

/**
 * What is wrong with a connector document beyond the shape of its parts: names that repeat, fields that do not go with its
 * type, templates and JSON Schemas that cannot be read. Takes the document as it was written, whatever its shape, so that
 * these problems are told together with those of the shape.
 */
export async function checkConnector(document: JsonValue, context: CheckContext): Promise<Finding[]> {
  if (!isJsonObject(document)) return []
  return [
    ...typeFindings(document),
    ...toolFindings(document),
    ...list(own(document, 'responders')).flatMap(responderFindings),
    ...outboundFindings(document, context.allowOutbound ?? false),
    ...((await context.toolSchemas?.findings(document)) ?? []),
    ...templateFindings(document, await context.templates()),
  ]
}

function typeFindings(document: JsonObject): Finding[] {
  const type = own(document, 'authorization_type')
  if (type === undefined) {
    const allowed = 'one of the twelve authorization types, or custom_provider (required)'
    return own(document, 'custom_provider') === undefined
      ? [{ path: ['authorization_type'], found: 'nothing', allowed }]
      : []
  }
  if (typeof type !== 'string' || !isAuthorizationType(type)) return []
  const { source, kind } = TRAITS[type]
  const only = (key: string, fits: boolean, allowed: string): Finding[] =>
    fits || own(document, key) === undefined
      ? []
      : [{ path: [key], found: `${key} in a connector of type ${type}`, allowed, atKey: true }]
  const findings = [
    ...only('cluster', type === 'TRUSTED_IDP', 'cluster in connectors of type TRUSTED_IDP'),
    ...only('oauth', kind !== null && source !== 'form', 'oauth in connectors whose accounts have tokens'),
    ...only(
      'credentials',
      source === 'form',
      'credentials in API_KEY, BASIC_AUTH, BEARER_TOKEN, CUSTOM and BASIC connectors',
    ),
  ]
  if (source === 'consent' && isMissingOrEmpty(own(document, 'people'))) {
    const allowed = `at least one identity that can sign in, because ${type} asks for consent`
    findings.push({ path: ['people'], found: shown(own(document, 'people')), allowed })
  }
  return type === 'CUSTOM' ? [...findings, ...customFindings(document)] : findings
}

/** Nobody can guess what a `CUSTOM` connector asks for and how that travels. */
function customFindings(document: JsonObject): Finding[] {
  if (own(document, 'custom_provider') !== undefined) return []
  const credentials = own(document, 'credentials')
  return ['fields', 'send'].flatMap((key): Finding[] => {
    const value = isJsonObject(credentials) ? own(credentials, key) : undefined
    const allowed = `credentials.${key}, because the type CUSTOM has no default (required)`
    return isMissingOrEmpty(value) ? [{ path: ['credentials', key], found: shown(value), allowed }] : []
  })
}

function toolFindings(document: JsonObject): Finding[] {
  const credentials = own(document, 'credentials')
  const fields = isJsonObject(credentials) ? list(own(credentials, 'fields')) : []
  return [
    ...repeatedNames(list(own(document, 'tools')), 'name', ['tools']),
    ...repeatedNames(fields, 'name', ['credentials', 'fields']),
  ]
}

/** Findings for every item whose `key` an earlier item of the list already has. */
export function repeatedNames(items: readonly JsonValue[], key: string, base: Path): Finding[] {
  const first = new Map<string, number>()
  return items.flatMap((item, index) => {
    const name = isJsonObject(item) ? own(item, key) : undefined
    if (typeof name !== 'string') return []
    const before = first.get(name)
    if (before === undefined) first.set(name, index)
    const found = `${JSON.stringify(name)} for the second time`
    const allowed = `a ${key} that differs from item ${before ?? 0}`
    return before === undefined ? [] : [{ path: [...base, index, key], found, allowed }]
  })
}

function responderFindings(responder: JsonValue, index: number): Finding[] {
  if (!isJsonObject(responder)) return []
  const has = (key: string): boolean => Object.hasOwn(responder, key)
  const findings: Finding[] = []
  if (has('respond') === has('sequence')) {
    const found = has('respond') ? 'both respond and sequence' : 'neither respond nor sequence'
    findings.push({ path: ['responders', index], found, allowed: 'exactly one of respond and sequence' })
  }
  if (has('after_last') && !has('sequence')) {
    const allowed = 'after_last together with sequence'
    findings.push({
      path: ['responders', index, 'after_last'],
      found: 'after_last without sequence',
      allowed,
      atKey: true,
    })
  }
  return findings
}

function outboundFindings(document: JsonObject, allowOutbound: boolean): Finding[] {
  const url = own(document, 'base_url')
  if (typeof url !== 'string') return []
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const http = parsed?.protocol === 'http:' || parsed?.protocol === 'https:'
  if (parsed && http && (allowOutbound || isLoopback(parsed.hostname))) return []
  const allowed = allowOutbound
    ? 'an http or https URL'
    : 'an http or https URL on loopback (or start with --allow-outbound)'
  return [{ path: ['base_url'], found: shown(url), allowed }]
}

function isMissingOrEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}
