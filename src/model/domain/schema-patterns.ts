import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

export interface SchemaPattern {
  readonly source: string
  readonly path: readonly (string | number)[]
  /** Whether it is a key of `patternProperties`. */
  readonly isKey: boolean
}

/** Keywords with data, in which `pattern` is a name like any other. */
const DATA = new Set(['const', 'default', 'enum', 'examples'])
/** Keywords whose keys are names and whose values are schemas. */
const MAPS = new Set(['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'])

export function patternsIn(schema: JsonValue, path: SchemaPattern['path'] = []): SchemaPattern[] {
  if (Array.isArray(schema)) return schema.flatMap((each, at) => patternsIn(each, [...path, at]))
  if (!isJsonObject(schema)) return []
  return Object.entries(schema).flatMap(([keyword, value]): SchemaPattern[] => {
    const at = [...path, keyword]
    if (keyword === 'pattern' && typeof value === 'string') return [{ source: value, path: at, isKey: false }]
    if (DATA.has(keyword)) return []
    if (!MAPS.has(keyword) || !isJsonObject(value)) return patternsIn(value, at)
    return Object.entries(value).flatMap(([name, each]) => [
      ...(keyword === 'patternProperties' ? [{ source: name, path: [...at, name], isKey: true }] : []),
      ...patternsIn(each, [...at, name]),
    ])
  })
}

/** The schema without the given patterns. Where a key is left out, the properties that it is about are open. */
export function withoutPatterns(schema: JsonObject, patterns: readonly SchemaPattern[]): JsonObject {
  const copy = structuredClone(schema)
  for (const { path, isKey } of patterns) {
    const parents: JsonObject[] = []
    let at: JsonValue | undefined = copy
    for (const part of path.slice(0, -1)) {
      if (isJsonObject(at)) parents.push(at)
      at = (at as Record<string | number, JsonValue> | undefined)?.[part]
    }
    if (isJsonObject(at)) Reflect.deleteProperty(at, path.at(-1) ?? '')
    const owner = isKey ? parents.at(-1) : undefined
    for (const closed of ['additionalProperties', 'unevaluatedProperties']) {
      if (owner) Reflect.deleteProperty(owner, closed)
    }
  }
  return copy
}
