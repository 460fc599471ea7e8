import {
  isJsonObject,
  type JsonObject,
  jsonType,
  type JsonValue,
  listAt,
  objectAt,
  ownMember,
  textOf,
} from '../../model/domain/json.ts'
import { shorten } from '../../model/domain/text.ts'
import { linearPattern } from '../../model/linear-pattern.ts'
import { type Follow, trimmedAt } from './api-document.ts'
import type { ValueOf } from './generated-values.ts'

/** How much of a schema is kept: levels of objects and lists, and schemas in all. */
export interface Bounds {
  readonly depth: number
  readonly schemas: number
  /** Characters of a description. */
  readonly description: number
}

export interface Inlined {
  readonly schema: JsonObject
  /** Whether something was left out, because it is too deep, too much, or contains itself. */
  readonly isCut: boolean
  /** Patterns that were left out. */
  readonly patterns: ReadonlySet<string>
  /** Whether a part closed the schema to the properties of others. */
  readonly isOpened: boolean
  /** Names of its write-only properties. */
  readonly writeOnly: ReadonlySet<string>
}

/**
 * A schema that stands alone (2020-12), without what Ajv would refuse: of an input without read-only properties or,
 * with `values`, of an answer without write-only ones. Values that should vary are templates: they are examples, which
 * Prism's generator then takes.
 */
export function inlineSchema(
  schema: JsonValue,
  follow: Follow,
  { bounds, values }: { bounds: Bounds; values?: ValueOf },
): Inlined {
  const run = new Inlining(follow, bounds, values)
  const inlined = run.inline(schema, { refs: [], name: '', depth: 0 }) ?? {}
  const { isCut, isOpened, patterns, writeOnly } = run
  return { schema: inlined, isCut, isOpened, patterns, writeOnly }
}

/** Where a schema is: the references and the property that led to it, and how deep. */
interface Place {
  readonly refs: readonly string[]
  readonly name: string
  readonly depth: number
}

const MAX_CHOICES = 8

class Inlining {
  isCut = false
  isOpened = false
  readonly patterns = new Set<string>()
  readonly writeOnly = new Set<string>()
  #left: number

  constructor(
    readonly follow: Follow,
    readonly bounds: Bounds,
    /** The values of an answer; undefined for an input. */
    readonly values: ValueOf | undefined,
  ) {
    this.#left = bounds.schemas
  }

  /** Undefined for a schema that is left out. */
  inline(schema: JsonValue, place: Place): JsonObject | undefined {
    if (!isJsonObject(schema)) return {}
    const ref = trimmedAt(schema, '$ref')
    const isNew = ref !== '' && !place.refs.includes(ref)
    const target = isNew ? this.follow({ $ref: ref }) : undefined
    if (target !== undefined) return this.inline(target, { ...place, refs: [...place.refs, ref] })
    if (ref !== '' || place.depth > this.bounds.depth || this.#left <= 0) {
      // A new reference that leads nowhere cuts nothing: the document does not have it.
      if (!isNew) this.isCut = true
      const referenced = this.follow(schema)
      return this.values ? undefined : typeKeyword(isJsonObject(referenced) ? typesOf(referenced) : [])
    }
    this.#left -= 1
    const merged = this.#mergedParts(schema, place)
    return this.values ? withExample(merged, schema, this.values, place.name) : merged
  }

  #inlineAll(schemas: readonly JsonValue[], place: Place): JsonObject[] {
    return schemas.map((each) => this.inline(each, place)).filter((each) => each !== undefined)
  }

  #mergedParts(source: JsonObject, place: Place): JsonObject {
    const result = ownKeywords(source, this.values ? 0 : this.bounds.description)
    const pattern = ownMember(source, 'pattern')
    if (typeof pattern === 'string' && result['pattern'] === undefined) this.patterns.add(pattern)
    this.#inlineProperties(source, result, place)
    const inside = { ...place, name: '', depth: place.depth + 1 }
    const items = ownMember(source, 'items')
    const schema = isJsonObject(items) ? this.inline(items, inside) : undefined
    if (schema) result['items'] = schema
    const positions = positionsOf(source).map((each) => this.inline(each, inside) ?? {})
    // Prism's generator knows the older keyword.
    if (positions.length > 0) result[this.values ? 'items' : 'prefixItems'] = positions
    const parts = this.#inlineAll(listAt(source, 'allOf'), place)
    const described = [...listAt(source, 'oneOf'), ...listAt(source, 'anyOf')]
    const choices = described.filter((each) => !isNull(this.follow(each)))
    const isNullable = choices.length < described.length
    const inlined = this.#inlineAll(choices.slice(0, this.values ? 1 : MAX_CHOICES), place)
    const [only] = inlined
    if (only && inlined.length === 1 && choices.length === 1) parts.push(isNullable ? nullableSchema(only) : only)
    else if (only && this.values) parts.push(only)
    const merged = parts.reduce(mergeSchemas, result)
    if (isClosedByPart([result, ...parts])) this.isOpened = true
    if (this.values) this.#nameKind(merged, source, { choice: choices[0], ref: place.refs.at(-1) ?? '' })
    if (inlined.length > 1) merged['anyOf'] = isNullable ? [...inlined, { type: 'null' }] : inlined
    return merged
  }

  /** The property that a discriminator names has the word of the schema that is answered. */
  #nameKind(
    merged: JsonObject,
    schema: JsonObject,
    { choice, ref }: { choice: JsonValue | undefined; ref: string },
  ): void {
    const kind = ownMember(schema, 'discriminator')
    if (kind !== undefined) merged['discriminator'] = kind
    const name = trimmedAt(merged, 'discriminator') || trimmedAt(objectAt(merged, 'discriminator'), 'propertyName')
    const isOwn = choice === undefined && ref !== '' && this.follow({ $ref: ref }) === schema
    const answered = isOwn ? ref : isJsonObject(choice) ? trimmedAt(choice, '$ref') : ''
    const properties = objectAt(merged, 'properties')
    if (!Object.hasOwn(properties, name) || answered === '') return
    const schemaName = answered.split('/').at(-1) ?? ''
    const words = Object.entries(objectAt(objectAt(merged, 'discriminator'), 'mapping'))
    const ofSchema = words.find(([, target]) => target === answered || target === schemaName)
    const [word] = ofSchema ?? (choice === undefined ? words[0] : undefined) ?? [schemaName]
    const allowed = listAt(objectAt(properties, name), 'enum')
    if (allowed.length === 0 || allowed.includes(word))
      merged['properties'] = { ...properties, [name]: { type: 'string', enum: [word], example: word } }
  }

  #inlineProperties(source: JsonObject, result: JsonObject, { refs, depth }: Place): void {
    const described = objectAt(source, 'properties')
    const properties: JsonObject = {}
    let isWhole = true
    for (const [name, value] of Object.entries(described)) {
      // What is required says most about a schema of which not all fits.
      if (this.#left <= 0 && !listAt(source, 'required').includes(name)) {
        this.isCut = true
        isWhole = false
        continue
      }
      const followed = this.follow(value)
      if (isJsonObject(followed) && ownMember(followed, 'writeOnly') === true) this.writeOnly.add(name)
      if (name === '__proto__' || this.#isHidden(value)) continue
      const property = this.inline(value, { refs, name, depth: depth + 1 })
      if (property) properties[name] = property
    }
    if (Object.keys(properties).length > 0) result['properties'] = properties
    const required = listAt(source, 'required').filter((name) => Object.hasOwn(properties, textOf(name)))
    if (required.length > 0) result['required'] = [...new Set(required)]
    const others = ownMember(source, 'additionalProperties')
    if (others === false && isWhole && Object.keys(properties).length > 0) result['additionalProperties'] = false
    else if (isJsonObject(others) && Object.keys(others).length > 0) {
      const schema = this.inline(others, { refs, name: '', depth: depth + 1 })
      if (schema) result['additionalProperties'] = schema
    }
  }

  #isHidden(property: JsonValue | undefined): boolean {
    const described = this.follow(property)
    return isJsonObject(described) && ownMember(described, this.values ? 'writeOnly' : 'readOnly') === true
  }
}

/** The schemas of the first items of a list, by their places. */
function positionsOf(schema: JsonObject): JsonValue[] {
  const positions = listAt(schema, 'prefixItems')
  return positions.length > 0 ? positions : listAt(schema, 'items')
}

function isClosedByPart(parts: readonly JsonObject[]): boolean {
  const described = parts.filter((part) => ownMember(part, 'properties') !== undefined)
  return described.length > 1 && described.some((part) => ownMember(part, 'additionalProperties') === false)
}

function isNull(schema: JsonValue | undefined): boolean {
  return isJsonObject(schema) && ownMember(schema, 'type') === 'null'
}

function nullableSchema(schema: JsonObject): JsonObject {
  const type = ownMember(schema, 'type')
  const values = ownMember(schema, 'enum')
  return {
    ...schema,
    ...(typeof type === 'string' && { type: [type, 'null'] }),
    ...(Array.isArray(values) && !values.includes(null) && { enum: [...values, null] }),
  }
}

function mergeSchemas(a: JsonObject, b: JsonObject): JsonObject {
  // What one part closes, another may open.
  const { additionalProperties: _closed, ...openSchema } = a
  const { additionalProperties: _also, ...more } = b
  const both = { ...openSchema, ...more }
  const description = ownMember(a, 'description')
  if (description !== undefined) both['description'] = description
  const properties = { ...objectAt(a, 'properties'), ...objectAt(b, 'properties') }
  if (Object.keys(properties).length > 0) both['properties'] = properties
  const required = [...new Set([...listAt(a, 'required'), ...listAt(b, 'required')])]
  if (required.length > 0) both['required'] = required
  return both
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']

/** The keywords of a schema itself, as JSON Schema 2020-12 has them. */
function ownKeywords(schema: JsonObject, maxDescription: number): JsonObject {
  const types = typesOf(schema)
  const result = typeKeyword(types)
  const description = trimmedAt(schema, 'description')
  if (maxDescription > 0 && description !== '') result['description'] = shorten(description, maxDescription)
  for (const key of ['default', 'const'] as const) {
    const value = ownMember(schema, key)
    if (value !== undefined && fitsTypes(types, value)) result[key] = value
  }
  const values = listAt(schema, 'enum').filter((value) => value === null || fitsTypes(types, value))
  if (values.length > 0)
    result['enum'] = ownMember(schema, 'nullable') === true && !values.includes(null) ? [...values, null] : values
  const format = trimmedAt(schema, 'format')
  if (format !== '') result['format'] = format
  const pattern = ownMember(schema, 'pattern')
  if (typeof pattern === 'string' && linearPattern(pattern)) result['pattern'] = pattern
  for (const key of COUNTS) {
    const count = ownMember(schema, key)
    if (typeof count === 'number' && Number.isInteger(count) && count >= 0) result[key] = count
  }
  copyBounds(schema, result)
  if (ownMember(schema, 'uniqueItems') === true) result['uniqueItems'] = true
  return result
}

function copyBounds(schema: JsonObject, result: JsonObject): void {
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const value = ownMember(schema, limit)
    const strict = ownMember(schema, exclusive)
    // Before 3.1 the keyword says whether the limit itself is excluded.
    if (typeof value === 'number') result[strict === true ? exclusive : limit] = value
    if (typeof strict === 'number') result[exclusive] = strict
  }
  const multiple = ownMember(schema, 'multipleOf')
  if (typeof multiple === 'number' && multiple > 0) result['multipleOf'] = multiple
}

/** The types that a schema allows; none where it says nothing. */
function typesOf(schema: JsonObject): string[] {
  const type = ownMember(schema, 'type')
  const all = (Array.isArray(type) ? type : [type === 'file' ? 'string' : type]).filter(
    (each) => typeof each === 'string' && TYPES.includes(each),
  ) as string[]
  if (all.length === 0 && isJsonObject(ownMember(schema, 'properties'))) all.push('object')
  if (all.length === 0 && ownMember(schema, 'items') !== undefined) all.push('array')
  const isNullable = ownMember(schema, 'nullable') === true || ownMember(schema, 'x-nullable') === true
  return [...new Set(isNullable && all.length > 0 ? [...all, 'null'] : all)]
}

function typeKeyword([first, ...others]: readonly string[]): JsonObject {
  if (first === undefined) return {}
  return { type: others.length === 0 ? first : [first, ...others] }
}

/** Whether a value is of one of the types; any is where there are none. */
function fitsTypes(types: readonly string[], value: JsonValue): boolean {
  const isWhole = (Number.isInteger(value) || typeof value === 'bigint') && types.includes('integer')
  return types.length === 0 || types.includes(jsonType(value)) || isWhole
}

/** The schema with the value that an answer has there as its example; without one Prism's generator makes it. */
function withExample(schema: JsonObject, source: JsonObject, valueOf: ValueOf, name: string): JsonObject {
  const types = [ownMember(schema, 'type')].flat()
  // Examples of whole objects often contradict their own schema, so those of their properties are taken.
  if (!types.some((type) => typeof type === 'string' && SCALARS.includes(type))) return schema
  const [listed] = listAt(source, 'examples')
  const written = ownMember(source, 'example') ?? listed
  const fixed = [written, ownMember(schema, 'default'), ownMember(schema, 'const'), listAt(schema, 'enum')[0]].find(
    (value) => value !== undefined && typeof value !== 'object' && fitsTypes(typesOf(schema), value),
  )
  const example = valueOf(name, schema, fixed)
  return example === undefined ? schema : { ...schema, example }
}

const SCALARS = ['string', 'number', 'integer', 'boolean']
