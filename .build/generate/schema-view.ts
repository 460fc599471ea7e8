import { follow, type Schema, type SpecDocument, SPEC } from './spec-document.ts'

/** Keywords that validators ignore. */
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
  '$comment',
])

/** Keywords whose value is one schema, a list of schemas, or a map of them. */
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

/** How a schema is rewritten: which properties stay unchecked, and what replaces a reference. */
interface View {
  readonly spec: SpecDocument
  readonly unchecked: (property: Schema) => boolean
  readonly reference: (ref: string, inside: readonly string[]) => Schema
}

/**
 * The schema that requests are checked against, without references. Output-only properties (G9) accept any value and are never
 * required.
 */
export function requestSchema(spec: SpecDocument, schema: Schema): Schema {
  const view: View = {
    spec,
    unchecked: (property) => property['x-output-only'] === true,
    reference: (ref, inside) => {
      if (inside.includes(ref))
        throw new Error(`${SPEC}: ${ref} contains itself; recursive request schemas are not supported`)
      return viewed(view, follow<Schema>(spec, { $ref: ref }), [...inside, ref])
    },
  }
  return viewed(view, schema, [])
}

/** Where `responseSchema` has the schemas that it refers to. */
const COMPONENTS = 'components'

/** The schema that answers are checked against; its references point into `responseComponents`. */
export function responseSchema(spec: SpecDocument, schema: Schema): Schema {
  const reference = (ref: string): Schema => ({ $ref: ref.replace('#/components/schemas/', `${COMPONENTS}#/$defs/`) })
  return viewed({ spec, unchecked: () => false, reference }, schema, [])
}

/** The named schemas of the spec that answers are checked against. */
export function responseComponents(spec: SpecDocument): Schema & { $id: string } {
  const schemas = Object.entries(spec.components?.schemas ?? {})
  return {
    $id: COMPONENTS,
    $defs: Object.fromEntries(schemas.map(([name, schema]) => [name, responseSchema(spec, schema)])),
  }
}

function viewed(view: View, schema: Schema | boolean, inside: readonly string[]): Schema {
  if (typeof schema === 'boolean') return schema as unknown as Schema
  const { $ref: ref, ...siblings } = schema
  const own = viewedKeywords(view, siblings, inside)
  if (ref === undefined) return own
  const target = view.reference(ref, inside)
  return Object.keys(own).length > 0 ? { allOf: [target, own] } : target
}

function viewedKeywords(view: View, schema: Schema, inside: readonly string[]): Schema {
  const inner = (value: unknown): Schema => viewed(view, value as Schema, inside)
  const result: Schema = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword.startsWith('x-') || ANNOTATIONS.has(keyword)) continue
    if (ONE.has(keyword)) result[keyword] = inner(value)
    else if (LIST.has(keyword)) result[keyword] = (value as Schema[]).map(inner)
    else if (MAP.has(keyword)) result[keyword] = viewedMap(view, value as Record<string, Schema>, inner)
    else result[keyword] = value
  }
  if (result.required) result.required = result.required.filter((name) => !isUnchecked(view, schema, name))
  return result
}

function viewedMap(view: View, schemas: Record<string, Schema>, inner: (schema: Schema) => Schema): object {
  const entries = Object.entries(schemas)
  return Object.fromEntries(entries.map(([name, schema]) => [name, view.unchecked(schema) ? true : inner(schema)]))
}

function isUnchecked(view: View, schema: Schema, name: string): boolean {
  const property = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
  return property !== undefined && view.unchecked(property)
}
