import { follow, type Schema, type SpecDocument, SPEC } from './spec-document.ts'

/** Keywords that say something to a reader and nothing to a validator. */
const ANNOTATIONS = new Set([
  'title',
  'description',
  'default',
  'example',
  'examples',
  'deprecated',
  'externalDocs',
  'xml',
  'discriminator',
  'readOnly',
  'writeOnly',
  '$comment',
])

/** Keywords that hold one schema, a list of schemas, or a map of them. */
const ONE = new Set([
  'items',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'unevaluatedProperties',
])
const LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const MAP = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs'])

/** A direction: which properties it leaves unchecked. */
type Unchecked = (property: Schema) => boolean

/**
 * A schema as it judges requests, without references: properties that are output only (G9) may hold anything and are never
 * required.
 */
export function requestSchema(spec: SpecDocument, schema: Schema): Schema {
  return view(spec, schema, [], (property) => property.readOnly === true)
}

/** A schema as it judges answers, without references. */
export function responseSchema(spec: SpecDocument, schema: Schema): Schema {
  return view(spec, schema, [], () => false)
}

function view(spec: SpecDocument, schema: Schema | boolean, inside: readonly string[], unchecked: Unchecked): Schema {
  if (typeof schema === 'boolean') return schema as unknown as Schema
  const ref = schema.$ref
  if (ref !== undefined && inside.includes(ref))
    throw new Error(`${SPEC}: ${ref} contains itself, which nothing here expects`)
  const path = ref === undefined ? inside : [...inside, ref]
  const { $ref: _, ...siblings } = schema
  const own = viewKeywords(spec, siblings, path, unchecked)
  if (ref === undefined) return own
  const target = view(spec, follow<Schema>(spec, { $ref: ref }), path, unchecked)
  return Object.keys(own).length > 0 ? { allOf: [target, own] } : target
}

function viewKeywords(spec: SpecDocument, schema: Schema, inside: readonly string[], unchecked: Unchecked): Schema {
  const inner = (value: unknown): Schema => view(spec, value as Schema, inside, unchecked)
  const result: Schema = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword.startsWith('x-') || ANNOTATIONS.has(keyword)) continue
    if (ONE.has(keyword)) result[keyword] = inner(value)
    else if (LIST.has(keyword)) result[keyword] = (value as Schema[]).map(inner)
    else if (MAP.has(keyword)) {
      const entries = Object.entries(value as Record<string, Schema>)
      result[keyword] = Object.fromEntries(
        entries.map(([name, property]) => [
          name,
          unchecked(follow<Schema>(spec, property)) || unchecked(property) ? true : inner(property),
        ]),
      )
    } else result[keyword] = value
  }
  if (result.required) {
    const properties = schema.properties ?? {}
    const dropped = (name: string): boolean => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      return property !== undefined && (unchecked(property) || unchecked(follow<Schema>(spec, property)))
    }
    result.required = result.required.filter((name) => !dropped(name))
  }
  return result
}
