import { readFileSync } from 'node:fs'
import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { isJsonObject, ownMember } from '../../src/model/domain/json.ts'
import type { JsonObject, JsonValue } from '../../src/model/domain/json.ts'

/** `spec/openapi.yaml`, parsed. */
export const document = parseDocument()

export const fidelity = readFileSync(new URL('../../docs/fidelity.md', import.meta.url), 'utf8')

export interface DocumentOperation {
  id: string
  method: string
  path: string
  /** JSON pointer of the operation object. */
  pointer: string
  object: JsonObject
  /** Including those of the path, with references resolved. */
  parameters: JsonObject[]
  responses: [status: string, response: JsonObject][]
  /** What HTTP servers answer in general (`x-basis: transport`). */
  transport: [status: string, response: JsonObject][]
}

const METHODS = ['get', 'put', 'patch', 'post', 'delete']

export const operations: DocumentOperation[] = entries(member(document, 'paths')).flatMap(([path, item]) =>
  entries(item)
    .filter(([method]) => METHODS.includes(method))
    .map(([method, object]) => ({
      id: text(object, 'operationId'),
      method: method.toUpperCase(),
      path,
      pointer: pointer('paths', path, method),
      object,
      parameters: [...list(item, 'parameters'), ...list(object, 'parameters')].map(follow),
      responses: answers(object).filter(([, response]) => ownMember(response, 'x-basis') !== 'transport'),
      transport: answers(object).filter(([, response]) => ownMember(response, 'x-basis') === 'transport'),
    })),
)

function answers(operation: JsonObject): [string, JsonObject][] {
  return entries(member(operation, 'responses')).map(([status, response]) => [status, follow(response)])
}

export const components = (kind: string): [name: string, component: JsonObject][] =>
  entries(member(member(document, 'components'), kind))

/** The target of `$ref`, or the object itself. */
export function follow(value: JsonObject): JsonObject {
  const ref = ownMember(value, '$ref')
  if (typeof ref !== 'string') return value
  const parts = ref.replace(/^#\//, '').split('/')
  return parts.reduce((found, part) => member(found, part), document)
}

/** Every object inside `value`, itself included, each with its JSON pointer. */
export function walk(value: JsonValue, at = ''): [at: string, object: JsonObject][] {
  if (Array.isArray(value)) return value.flatMap((item, index) => walk(item, `${at}/${index}`))
  if (!isJsonObject(value)) return []
  const inner = Object.entries(value).flatMap(([key, item]) => walk(item, `${at}/${escape(key)}`))
  return [[at, value], ...inner]
}

/** The names of the component schemas that `value` refers to, directly or through others. */
export function reachable(value: JsonObject, found = new Set<string>()): Set<string> {
  for (const [, object] of walk(value)) {
    const ref = ownMember(object, '$ref')
    const name = typeof ref === 'string' ? /^#\/components\/schemas\/(?<name>.+)$/.exec(ref)?.groups?.name : undefined
    if (name === undefined || found.has(name)) continue
    found.add(name)
    reachable(follow(object), found)
  }
  return found
}

/** Validates `value` by the schema at a JSON pointer; returns the problems, empty for a valid value. */
export function judge(schemaPointer: string, value: unknown): string[] {
  const validate = ajv.getSchema(`spec#${schemaPointer}`)
  if (!validate) throw new Error(`there is no schema at ${schemaPointer}`)
  if (validate(value) === true) return []
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? error.keyword}`)
}

export const judgeBy = (schema: string, value: unknown): string[] =>
  judge(pointer('components', 'schemas', schema), value)

export function pointer(...parts: string[]): string {
  return parts.map((part) => `/${encodeURIComponent(escape(part))}`).join('')
}

export function member(value: JsonObject, key: string): JsonObject {
  const found = ownMember(value, key)
  if (found === undefined || !isJsonObject(found)) throw new Error(`no object at ${key}`)
  return found
}

export function entries(value: JsonObject): [string, JsonObject][] {
  return Object.entries(value).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
}

export function list(value: JsonObject, key: string): JsonObject[] {
  const found = ownMember(value, key)
  return Array.isArray(found) ? found.filter(isJsonObject) : []
}

export function strings(value: JsonObject, key: string): string[] {
  const found = ownMember(value, key)
  return Array.isArray(found) ? found.map(String) : []
}

export function text(value: JsonObject, key: string): string {
  const found = ownMember(value, key)
  if (typeof found !== 'string') throw new Error(`no text at ${key}`)
  return found
}

function escape(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1')
}

function parseDocument(): JsonObject {
  const parsed: unknown = parse(readFileSync(new URL('../../spec/openapi.yaml', import.meta.url), 'utf8'))
  if (!isJsonObject(parsed)) throw new Error('spec/openapi.yaml holds no object')
  return parsed
}

/** Strict, so that a misspelt keyword in a schema is an error and not a rule that never applies. */
const ajv = addFormats.default(new Ajv2020({ strict: true, allErrors: true }))
ajv.addVocabulary([
  'x-basis',
  'x-required-basis',
  'x-alias-of',
  'x-values-of',
  'x-extensible-enum',
  'x-value-basis',
  'x-setting',
  'x-output-only',
  ...Object.keys(document),
])
ajv.addSchema(document, 'spec', undefined, false)
