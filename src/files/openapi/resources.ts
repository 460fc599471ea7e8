import {
  isJsonObject,
  type JsonObject,
  jsonText,
  type JsonValue,
  objectAt,
  ownMember,
} from '../../model/domain/json.ts'
import { isNumberType, trimmedAt, typeOf } from './api-document.ts'
import { snakeCase, unusedName, valueOfItem } from './generated-values.ts'
import { listBody, listStep, type SentParameter } from './list-query.ts'

/** An operation as far as collections need it: paths with names that templates can use, schemas that stand alone. */
export interface ResourceOperation {
  readonly place: string
  readonly method: string
  /** With `{name}` parts. */
  readonly path: string
  readonly parameters: readonly SentParameter[]
  readonly request: JsonObject | undefined
  readonly isRequestRequired: boolean
  /** Names of properties that no answer shows, of the whole document. */
  readonly writeOnly: ReadonlySet<string>
  /** The schema of its answer, when that is JSON. */
  readonly response: JsonObject | undefined
  /** Its answer, with templates. */
  readonly sample: JsonValue | undefined
  /** Whether the answer is an example of the document. */
  readonly isExample: boolean
}

/** The steps of one operation on its collection, and the body of its answer; `undefined` is no body. */
export interface ResourceSteps {
  readonly steps: JsonObject[]
  readonly body: JsonValue | undefined
}

export interface Resources {
  readonly collections: JsonObject
  readonly steps: ReadonlyMap<ResourceOperation, ResourceSteps>
}

/** Says that something of the document is left out, and where. */
export type Note = (reason: string, place: string) => void

/** The collections that paths form: `/contacts` beside `/contacts/{id}`, where one item and its key are known. */
export function resourcesIn(operations: readonly ResourceOperation[], note: Note): Resources {
  const byPath = new Map<string, Map<string, ResourceOperation>>()
  for (const operation of operations) {
    const methods = byPath.get(operation.path) ?? new Map<string, ResourceOperation>()
    byPath.set(operation.path, methods.set(operation.method, operation))
  }
  const collections: JsonObject = {}
  const steps = new Map<ResourceOperation, ResourceSteps>()
  for (const [path, items] of byPath) {
    const [, base = '', parameter = ''] = /^(.+)\/\{(\w+)\}$/.exec(path) ?? []
    const all = byPath.get(base)
    const resource = all && resourceAt(base, parameter, all, items)
    if (!resource && all?.has('POST')) note(NO_ITEMS, base)
    if (!resource) continue
    const name = freeName(base, collections)
    collections[name] = resourceCollection(resource)
    for (const [operation, each] of stepsOf(name, resource, items)) {
      steps.set(operation, each)
      const lost = each.steps.some((step) => 'create' in step || 'update' in step)
        ? foreignFields(operation, resource.item)
        : []
      if (lost.length > 0) note(FOREIGN, `${lost.join(', ')} of ${operation.place}`)
    }
  }
  return { collections, steps }
}

const FOREIGN = 'left out of items: fields of a request that its answer does not have, or has with another type'

const NO_ITEMS = 'not stored, because no item with a key and the fields of its path is described: what is created at'

interface Resource {
  readonly parameter: string
  readonly item: Wrapped
  readonly key: string
  /** Parameters in front of the resource: `project_id` of `/projects/{project_id}/tasks`. */
  readonly parents: readonly string[]
  readonly list: Listed | undefined
  readonly create: ResourceOperation | undefined
}

/** An item inside the body that carries it: `{ data: { … } }`. */
interface Wrapped {
  /** Empty where the body is the item. */
  readonly wrapper: string
  readonly schema: JsonObject
  readonly sample: JsonObject
}

interface Listed {
  readonly operation: ResourceOperation
  /** Where the items are in the body; empty where the body is the list. */
  readonly at: readonly string[]
}

function resourceAt(
  base: string,
  parameter: string,
  all: ReadonlyMap<string, ResourceOperation>,
  items: ReadonlyMap<string, ResourceOperation>,
): Resource | undefined {
  const wrappedItem = itemOf(items.get('GET'), base, parameter)
  if (!wrappedItem) return undefined
  const parents = [...base.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const isFree = parents.every((name) => {
    const property = ownMember(objectAt(wrappedItem.item.schema, 'properties'), name)
    return isJsonObject(property)
      ? typeOf(property) === 'string'
      : ownMember(wrappedItem.item.schema, 'additionalProperties') !== false
  })
  const post = all.get('POST')
  const create = post?.request && typeOf(post.request) === 'object' ? post : undefined
  const list = collectionList(all.get('GET'), wrappedItem)
  // Without a call that creates them, the items of a parent could never be.
  if (parents.length > 0 ? !isFree || !create : !create && !list) return undefined
  return { ...wrappedItem, parameter, parents, list, create }
}

/** The item that a call answers, and the field that the last part of its path names. */
function itemOf(
  get: ResourceOperation | undefined,
  base: string,
  parameter: string,
): { item: Wrapped; key: string } | undefined {
  const { response, sample } = get ?? {}
  if (!response || !isJsonObject(sample)) return undefined
  const names = keyNames(base, parameter)
  const inner = Object.entries(objectAt(response, 'properties')).flatMap(([wrapper, schema]): Wrapped[] => {
    const value = ownMember(sample, wrapper)
    return isJsonObject(schema) && isJsonObject(value) ? [{ wrapper, schema, sample: value }] : []
  })
  for (const item of [{ wrapper: '', schema: response, sample }, ...(inner.length === 1 ? inner : [])]) {
    const key = names.find((name) => isKey(ownMember(objectAt(item.schema, 'properties'), name)))
    if (key !== undefined) return { item, key }
  }
  return undefined
}

/** `contactId` of `/contacts/{contactId}` is `contactId`, or `id`. */
function keyNames(base: string, parameter: string): string[] {
  const segment = base.split('/').findLast((part) => part !== '' && !part.startsWith('{')) ?? ''
  const one = snakeCase(segment).replace(/ies$/, 'y').replace(/s$/, '')
  const last = snakeCase(parameter).split('_').at(-1) ?? ''
  const camel = one.replaceAll(/_(\w)/g, (_whole, letter: string) => letter.toUpperCase())
  return [...new Set([parameter, last, 'id', `${one}_id`, `${camel}Id`, `${camel}ID`, ...OTHER_KEYS])]
}

const OTHER_KEYS = ['gid', 'sid', 'uuid', 'uid', 'key', 'number', 'name']

/** Whether values of a key can be made: plain texts, UUIDs, whole numbers. */
function isKey(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema) || ownMember(schema, 'enum') !== undefined || ownMember(schema, 'pattern') !== undefined)
    return false
  const type = typeOf(schema)
  return type === 'integer' || (type === 'string' && ['', 'uuid', 'string'].includes(trimmedAt(schema, 'format')))
}

function keyValue(schema: JsonObject): string {
  if (typeOf(schema) === 'integer') return '{{sequence}}'
  if (trimmedAt(schema, 'format') === 'uuid') return '{{uuid}}'
  const [, prefix = ''] = /^([A-Za-z]{1,8}_)\w+$/.exec(trimmedAt(schema, 'example')) ?? []
  return `${prefix}{{id}}`
}

/** Where a list has items like the one of the resource: the list itself, or the only such property at most two levels down. */
function collectionList(
  operation: ResourceOperation | undefined,
  { item, key }: { item: Wrapped; key: string },
): Listed | undefined {
  if (!operation?.response) return undefined
  const propertyNames = Object.keys(objectAt(item.schema, 'properties'))
  const isList = (schema: JsonObject): boolean => {
    const items = objectAt(schema, 'items')
    const names = Object.keys(objectAt(items, 'properties'))
    return (
      typeOf(schema) === 'array' &&
      names.includes(key) &&
      names.filter((name) => propertyNames.includes(name)).length * 2 >= names.length
    )
  }
  if (isList(operation.response)) return { operation, at: [] }
  const [only, ...others] = propertiesOf(operation.response, []).filter(({ schema }) => isList(schema))
  return only && others.length === 0 ? { operation, at: only.at } : undefined
}

function propertiesOf(schema: JsonObject, at: readonly string[]): { at: string[]; schema: JsonObject }[] {
  return Object.entries(objectAt(schema, 'properties')).flatMap(([name, each]) => {
    if (!isJsonObject(each)) return []
    const here = [...at, name]
    return [{ at: here, schema: each }, ...(at.length === 0 ? propertiesOf(each, here) : [])]
  })
}

const MAX_SEEDED = 3
const LARGE_ITEM = 1000

function resourceCollection({ item, key, parents, list, create }: Resource): JsonObject {
  const { schema } = item
  const listed = list && listedItems(list, key)
  const sample = { ...listed?.needed, ...item.sample }
  const described = objectAt(schema, 'properties')
  const required = new Set([ownMember(schema, 'required'), ...(listed?.required ?? [])].flat())
  const asked = create?.request ? wrappedIn(create.request, item.wrapper) : undefined
  const foreign = create ? foreignFields(create, item) : []
  const requiredNames = new Set(
    [ownMember(asked ?? {}, 'required')].flat().filter((name) => !foreign.some((each) => each === name)),
  )
  const fields: JsonObject = { [key]: keyValue(objectAt(described, key)) }
  for (const [name, value] of Object.entries(sample)) {
    const property = objectAt(described, name)
    const isGenerated =
      !Object.hasOwn(objectAt(asked ?? {}, 'properties'), name) && typeOf(property) === 'string' && value === '{{now}}'
    if (name !== key && !requiredNames.has(name) && (required.has(name) || isGenerated)) fields[name] = value
  }
  for (const name of parents) fields[name] = `{{request.params.${name}}}`
  // An item of the seed has the values of `fields` where it says nothing else.
  const itemAt = (at: number): JsonObject =>
    Object.fromEntries(
      Object.entries(sample)
        .map(([name, value]) => [name, valueOfItem(name, value, objectAt(described, name), at)] as const)
        .filter(([name, value]) => name !== key && fields[name] !== value),
    )
  const items = [itemAt(0), itemAt(1)].slice(0, jsonText(itemAt(0)).length < LARGE_ITEM ? 2 : 1)
  const seed = parents.length > 0 ? [] : (listed?.examples ?? items)
  const taken = Math.max(0, ...seed.map((each) => ownMember(each, key)).filter((each) => typeof each === 'number'))
  if (taken > 0 && fields[key] === '{{sequence}}') fields[key] = `{{sum sequence ${String(taken)}}}`
  return { key, fields, ...(seed.length > 0 && { seed }) }
}

/** What a list says of its items: fields that they need, with the values of its sample, and the items of an example. */
function listedItems({ operation, at }: Listed, key: string) {
  let value = operation.sample
  let schema = operation.response ?? {}
  for (const name of at) {
    value = isJsonObject(value) ? ownMember(value, name) : undefined
    schema = objectAt(objectAt(schema, 'properties'), name)
  }
  const items = Array.isArray(value) ? value : []
  const [first] = items
  const required = [ownMember(objectAt(schema, 'items'), 'required') ?? []].flat()
  const needed = isJsonObject(first) ? Object.entries(first).filter(([name]) => required.includes(name)) : []
  return {
    required,
    needed: Object.fromEntries(needed),
    examples: operation.isExample ? withKeys(items.filter(isJsonObject), key) : undefined,
  }
}

/** The first of these items; undefined unless each has a key of its own. */
function withKeys(items: readonly JsonObject[], key: string): JsonObject[] | undefined {
  const keys = items.map((item) => ownMember(item, key))
  const isSound = keys.every((each) => each !== undefined && each !== null && typeof each !== 'object')
  if (items.length === 0 || !isSound || new Set(keys.map(String)).size < keys.length) return undefined
  return items.slice(0, MAX_SEEDED)
}

function* stepsOf(
  collection: string,
  resource: Resource,
  items: ReadonlyMap<string, ResourceOperation>,
): Generator<readonly [ResourceOperation, ResourceSteps]> {
  const { item, list, create, parents, parameter } = resource
  const value = `{{request.params.${parameter}}}`
  const where = Object.fromEntries(parents.map((name) => [name, `{{request.params.${name}}}`]))
  // A key alone would also find the items of other parents.
  const find = {
    get: collection,
    ...(parents.length > 0 ? { where: { [resource.key]: value, ...where } } : { key: value }),
  }
  const before = parents.length > 0 ? [find] : []
  if (create) {
    const requestItem = requestValue(create, item)
    const step = { create: collection, ...(requestItem !== '{{request.body}}' && { item: requestItem }) }
    yield [create, { steps: [...bodyCheck(create), step], body: resourceResponse(create, resource) }]
  }
  if (list) {
    const { sample, response, parameters } = list.operation
    const { step, hasToken } = listStep(collection, parameters, item.schema, where)
    yield [list.operation, { steps: [step], body: listBody(sample, response ?? {}, list.at, { hasToken }) }]
  }
  const get = items.get('GET')
  if (get) yield [get, { steps: [find], body: wrappedBody(get.sample, item.wrapper) }]
  for (const method of ['PATCH', 'PUT', 'POST']) {
    const update = items.get(method)
    if (!update?.request || typeOf(update.request) !== 'object') continue
    // A POST changes an item only where it answers that item.
    if (method === 'POST' && itemBody(update, resource) === undefined) continue
    const step = { update: collection, key: value, set: requestValue(update, item) }
    yield [update, { steps: [...bodyCheck(update), ...before, step], body: resourceResponse(update, resource) }]
  }
  const remove = items.get('DELETE')
  if (!remove) return
  const removed = itemBody(remove, resource)
  const first = removed === undefined ? before : [find]
  const body = removed ?? withKey(remove.sample, resource, value)
  yield [remove, { steps: [...first, { delete: collection, key: value }], body }]
}

function bodyCheck({ isRequestRequired }: ResourceOperation): JsonObject[] {
  return isRequestRequired ? [{ refuse: { 'request.body': { exists: false } }, otherwise: { status: 400 } }] : []
}

function requestValue(operation: ResourceOperation, item: Wrapped): string {
  const { request } = operation
  const place =
    request && wrappedIn(request, item.wrapper) !== request ? `request.body.${item.wrapper}` : 'request.body'
  const foreign = foreignFields(operation, item).map((name) => ` '${name}'`)
  return foreign.length > 0 ? `{{without ${place}${foreign.join('')}}}` : `{{${place}}}`
}

/** Fields of a request that an item cannot have by its schema, as paths. */
function foreignFields({ request, writeOnly }: ResourceOperation, { schema, wrapper }: Wrapped): string[] {
  const foreignIn = (asked: JsonObject, responseBody: JsonObject): string[] => {
    if (ownMember(asked, 'items') !== undefined)
      return foreignIn(objectAt(asked, 'items'), objectAt(responseBody, 'items'))
    const isClosed = ownMember(responseBody, 'additionalProperties') === false
    return Object.entries(objectAt(asked, 'properties')).flatMap(([name, propertySchema]) => {
      const property = ownMember(objectAt(responseBody, 'properties'), name)
      if (!isJsonObject(property)) return isClosed || writeOnly.has(name) ? [name] : []
      if (!isJsonObject(propertySchema)) return []
      return isOtherType(propertySchema, property)
        ? [name]
        : foreignIn(propertySchema, property).map((inner) => `${name}.${inner}`)
    })
  }
  return foreignIn(wrappedIn(request ?? {}, wrapper), schema).filter((path) => !/['{}\\]/.test(path))
}

/** Whether an answer has another type than the request: a text in place of an object, texts in place of objects in a list. */
function isOtherType(asked: JsonObject, answered: JsonObject): boolean {
  const [from = [], to = []] = [asked, answered].map((schema) =>
    [ownMember(schema, 'type') ?? []].flat().map((type) => (isNumberType(type) ? 'number' : type)),
  )
  if (from.includes('array') && to.includes('array'))
    return isOtherType(objectAt(asked, 'items'), objectAt(answered, 'items'))
  return from.length > 0 && to.length > 0 && !from.some((type) => type !== 'null' && to.includes(type))
}

/** The schema inside the wrapper where a request has it, or else the schema itself. */
function wrappedIn(schema: JsonObject, wrapper: string): JsonObject {
  const inner = /^\w+$/.test(wrapper) ? ownMember(objectAt(schema, 'properties'), wrapper) : undefined
  return isJsonObject(inner) && typeOf(inner) === 'object' ? inner : schema
}

/** The body of an answer that is the item; undefined where it is something else. */
function itemBody({ response, sample }: ResourceOperation, { item, key }: Resource): JsonValue | undefined {
  if (!response || !isJsonObject(sample)) return undefined
  const schema = item.wrapper === '' ? response : ownMember(objectAt(response, 'properties'), item.wrapper)
  if (!isJsonObject(schema)) return undefined
  const properties = Object.keys(objectAt(schema, 'properties'))
  const names = Object.keys(objectAt(item.schema, 'properties'))
  const needed = [ownMember(item.schema, 'required')].flat()
  const isItem =
    properties.includes(key) && properties.filter((name) => names.includes(name)).length * 2 >= names.length
  const isComplete = [ownMember(schema, 'required')]
    .flat()
    .every((name) => name === undefined || name === key || needed.includes(name))
  return isItem && isComplete ? wrappedBody(sample, item.wrapper) : undefined
}

function resourceResponse(operation: ResourceOperation, resource: Resource): JsonValue | undefined {
  return itemBody(operation, resource) ?? withKey(operation.sample, resource, `{{item.${resource.key}}}`)
}

/** Another answer than the item names the same key. */
function withKey(sample: JsonValue | undefined, { key, item }: Resource, value: string): JsonValue | undefined {
  if (!isJsonObject(sample) || typeof ownMember(sample, key) !== typeof ownMember(item.sample, key)) return sample
  const isNumber = typeOf(objectAt(objectAt(item.schema, 'properties'), key)) === 'integer'
  return isNumber && !value.includes('item') ? sample : { ...sample, [key]: value }
}

function wrappedBody(sample: JsonValue | undefined, wrapper: string): JsonValue {
  return wrapper === '' || !isJsonObject(sample) ? '{{item}}' : { ...sample, [wrapper]: '{{item}}' }
}

/** The last fixed part of a path, with those before it while the name is taken. */
function freeName(base: string, taken: JsonObject): string {
  const parts = base
    .split('/')
    .filter((part) => part !== '' && !part.startsWith('{'))
    .map(snakeCase)
    .filter((part) => part !== '')
  for (let count = 1; count <= parts.length; count++) {
    const name = plainCollectionName(parts.slice(-count).join('_'))
    if (!Object.hasOwn(taken, name)) return name
  }
  return unusedName(plainCollectionName(parts.at(-1) ?? 'items'), (name) => Object.hasOwn(taken, name), 60)
}

function plainCollectionName(text: string): string {
  const name = text === '' ? 'items' : text.slice(-60)
  return /^[a-z]/.test(name) ? name : `c_${name}`
}
