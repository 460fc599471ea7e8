import { isJsonObject, type JsonObject, type JsonValue, own } from '../../domain/json.ts'
import { shorten } from '../../domain/text.ts'
import { linearPattern } from '../../linear-pattern.ts'
import { type Follow, listAt, objectAt, textOf } from './api-document.ts'
import type { ValueOf } from './generated-values.ts'

/** How much of a schema is kept: levels of objects and lists, and schemas in all. */
export interface Bounds {
  readonly depth: number
  readonly schemas: number
  /** Characters of a description. */
  readonly description: number
}

/** What a schema is for: read-only properties are no input, write-only ones are not answered. */
export type Purpose = 'input' | 'answer'

interface Inlining {
  readonly follow: Follow
  readonly purpose: Purpose
  readonly bounds: Bounds
  /** The values of an answer; null for an input. */
  readonly values: ValueOf | null
  left: number
  isCut: boolean
}

export interface Inlined {
  readonly schema: JsonObject
  /** Whether something was left out, because it is too deep, too much, or contains itself. */
  readonly isCut: boolean
}

/**
 * A schema of the document as one that stands alone, in JSON Schema 2020-12: references are replaced by what they lead to,
 * `allOf` is merged, and what Ajv would refuse is left out. In a schema of an answer, values that should vary are templates:
 * they are examples there, which Prism's generator then takes.
 */
export function inlineSchema(
  schema: JsonValue,
  follow: Follow,
  {
    purpose,
    bounds,
    values = null,
    name = '',
  }: { purpose: Purpose; bounds: Bounds; values?: ValueOf | null; name?: string },
): Inlined {
  const run: Inlining = { follow, purpose, bounds, values, left: bounds.schemas, isCut: false }
  return { schema: inline(schema, run, [], name, 0) ?? {}, isCut: run.isCut }
}

/** Undefined for a schema that is left out. */
function inline(
  given: JsonValue,
  run: Inlining,
  refs: readonly string[],
  name: string,
  depth: number,
): JsonObject | undefined {
  if (!isJsonObject(given)) return {}
  const ref = textOf(given, '$ref')
  if (ref !== '') {
    const target = refs.includes(ref) ? undefined : run.follow({ $ref: ref })
    if (target !== undefined) return inline(target, run, [...refs, ref], name, depth)
    run.isCut = true
    return run.purpose === 'input' ? typeOnly(run.follow(given)) : undefined
  }
  if (depth > run.bounds.depth || run.left <= 0) {
    run.isCut = true
    return run.purpose === 'input' ? typeOnly(given) : undefined
  }
  run.left -= 1
  const merged = mergedParts(given, run, refs, name, depth)
  return run.values ? withExample(merged, given, run.values, name) : merged
}

function mergedParts(
  given: JsonObject,
  run: Inlining,
  refs: readonly string[],
  name: string,
  depth: number,
): JsonObject {
  const result = ownKeywords(given, run, refs, depth)
  const inlineAll = (schemas: readonly JsonValue[]): JsonObject[] =>
    schemas.map((each) => inline(each, run, refs, name, depth)).filter((each) => each !== undefined)
  const parts = inlineAll(listAt(given, 'allOf'))
  const choices = [...listAt(given, 'oneOf'), ...listAt(given, 'anyOf')].filter((each) => !isNull(run.follow(each)))
  const isNullable = choices.length < listAt(given, 'oneOf').length + listAt(given, 'anyOf').length
  const inlined = inlineAll(choices.slice(0, run.purpose === 'answer' ? 1 : MAX_CHOICES))
  const [only] = inlined
  if (only && inlined.length === 1 && choices.length === 1) parts.push(isNullable ? nullable(only) : only)
  else if (only && run.purpose === 'answer') parts.push(only)
  const merged = parts.reduce(merge, result)
  if (inlined.length > 1) merged['anyOf'] = isNullable ? [...inlined, { type: 'null' }] : inlined
  return merged
}

const MAX_CHOICES = 8

function isNull(schema: JsonValue | undefined): boolean {
  return isJsonObject(schema) && own(schema, 'type') === 'null'
}

function nullable(schema: JsonObject): JsonObject {
  const type = own(schema, 'type')
  const values = own(schema, 'enum')
  return {
    ...schema,
    ...(typeof type === 'string' && { type: [type, 'null'] }),
    ...(Array.isArray(values) && !values.includes(null) && { enum: [...values, null] }),
  }
}

function merge(a: JsonObject, b: JsonObject): JsonObject {
  // What one part closes, another may open.
  const { additionalProperties: _closed, ...rest } = a
  const { additionalProperties: _also, ...more } = b
  const both = { ...rest, ...more }
  const description = own(a, 'description')
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
function ownKeywords(given: JsonObject, run: Inlining, refs: readonly string[], depth: number): JsonObject {
  const result: JsonObject = {}
  const types = typesOf(given)
  if (types.length > 0) result['type'] = types.length === 1 ? (types[0] ?? 'object') : types
  const description = textOf(given, 'description')
  if (run.purpose === 'input' && description !== '')
    result['description'] = shorten(description, run.bounds.description)
  for (const key of ['default', 'const'] as const) {
    const value = own(given, key)
    if (value !== undefined && fits(types, value)) result[key] = value
  }
  const values = listAt(given, 'enum').filter((value) => value === null || fits(types, value))
  if (values.length > 0)
    result['enum'] = own(given, 'nullable') === true && !values.includes(null) ? [...values, null] : values
  const format = textOf(given, 'format')
  if (format !== '') result['format'] = format
  const pattern = own(given, 'pattern')
  if (typeof pattern === 'string' && linearPattern(pattern)) result['pattern'] = pattern
  for (const key of COUNTS) {
    const count = own(given, key)
    if (typeof count === 'number' && Number.isInteger(count) && count >= 0) result[key] = count
  }
  bounds(given, result)
  if (own(given, 'uniqueItems') === true) result['uniqueItems'] = true
  properties(given, result, run, refs, depth)
  items(given, result, run, refs, depth)
  return result
}

function bounds(given: JsonObject, result: JsonObject): void {
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const value = own(given, limit)
    const strict = own(given, exclusive)
    // Before 3.1 the keyword says whether the limit itself is excluded.
    if (typeof value === 'number') result[strict === true ? exclusive : limit] = value
    if (typeof strict === 'number') result[exclusive] = strict
  }
  const multiple = own(given, 'multipleOf')
  if (typeof multiple === 'number' && multiple > 0) result['multipleOf'] = multiple
}

function properties(
  given: JsonObject,
  result: JsonObject,
  run: Inlining,
  refs: readonly string[],
  depth: number,
): void {
  const hidden = run.purpose === 'input' ? 'readOnly' : 'writeOnly'
  const kept: JsonObject = {}
  let isWhole = true
  for (const [name, value] of Object.entries(objectAt(given, 'properties'))) {
    const described = run.follow(value)
    // What is required says most about a schema of which not all fits.
    if (run.left <= 0 && !listAt(given, 'required').includes(name)) {
      run.isCut = true
      isWhole = false
      continue
    }
    if (name === '__proto__' || (isJsonObject(described) && own(described, hidden) === true)) continue
    const property = inline(value, run, refs, name, depth + 1)
    if (property) kept[name] = property
  }
  if (Object.keys(kept).length > 0) result['properties'] = kept
  const isKept = (name: JsonValue): boolean => {
    if (typeof name !== 'string' || name === '__proto__') return false
    if (Object.hasOwn(kept, name) || run.purpose === 'input') return Object.hasOwn(kept, name)
    // An answer has it, also where its schema was cut.
    const described = run.follow(own(objectAt(given, 'properties'), name))
    return !(isJsonObject(described) && own(described, hidden) === true)
  }
  const required = listAt(given, 'required').filter(isKept)
  if (required.length > 0) result['required'] = [...new Set(required)]
  const others = own(given, 'additionalProperties')
  if (others === false && isWhole && Object.keys(kept).length > 0) result['additionalProperties'] = false
  else if (isJsonObject(others) && Object.keys(others).length > 0) {
    const schema = inline(others, run, refs, '', depth + 1)
    if (schema) result['additionalProperties'] = schema
  }
}

function items(given: JsonObject, result: JsonObject, run: Inlining, refs: readonly string[], depth: number): void {
  const described = own(given, 'items')
  const first = Array.isArray(described) ? described[0] : described
  if (!isJsonObject(first)) return
  const schema = inline(first, run, refs, '', depth + 1)
  if (schema) result['items'] = schema
}

/** The types that a schema allows; none where it says nothing. */
export function typesOf(given: JsonObject): string[] {
  const type = own(given, 'type')
  const all = (Array.isArray(type) ? type : [type === 'file' ? 'string' : type]).filter(
    (each) => typeof each === 'string' && TYPES.includes(each),
  ) as string[]
  if (all.length === 0 && isJsonObject(own(given, 'properties'))) all.push('object')
  if (all.length === 0 && own(given, 'items') !== undefined) all.push('array')
  const isNullable = own(given, 'nullable') === true || own(given, 'x-nullable') === true
  return [...new Set(isNullable && all.length > 0 ? [...all, 'null'] : all)]
}

function typeOnly(schema: JsonValue | undefined): JsonObject {
  const types = isJsonObject(schema) ? typesOf(schema) : []
  const [first] = types
  return first === undefined ? {} : { type: types.length === 1 ? first : types }
}

/** Whether a value is of one of the types; any is where there are none. */
export function fits(types: readonly string[], value: JsonValue): boolean {
  if (types.length === 0) return true
  if (value === null) return types.includes('null')
  if (Array.isArray(value)) return types.includes('array')
  if (typeof value === 'number')
    return types.includes('number') || (types.includes('integer') && Number.isInteger(value))
  return types.includes(typeof value)
}

/** The schema with the value that an answer has there as its example; without one Prism's generator makes it. */
function withExample(schema: JsonObject, given: JsonObject, valueOf: ValueOf, name: string): JsonObject {
  const types = [own(schema, 'type')].flat()
  // Examples of whole objects often contradict their own schema, so those of their properties are taken.
  if (!types.some((type) => typeof type === 'string' && SCALARS.includes(type))) return schema
  const [listed] = listAt(given, 'examples')
  const written = own(given, 'example') ?? listed
  const fixed = [written, own(schema, 'default'), own(schema, 'const'), listAt(schema, 'enum')[0]].find(
    (value) =>
      value !== undefined &&
      value !== null &&
      isScalar(value) &&
      fits(typesOf(schema), value) &&
      !excludes(schema, value),
  )
  const example = valueOf(name, schema, fixed)
  return example === undefined ? schema : { ...schema, example }
}

const SCALARS = ['string', 'number', 'integer', 'boolean']

function isScalar(value: JsonValue): boolean {
  return typeof value !== 'object'
}

function excludes(schema: JsonObject, value: JsonValue): boolean {
  const values = own(schema, 'enum')
  if (Array.isArray(values) && !values.includes(value)) return true
  const pattern = own(schema, 'pattern')
  return (
    typeof pattern === 'string' &&
    linearPattern(pattern)?.test(typeof value === 'object' ? '' : String(value)) === false
  )
}
