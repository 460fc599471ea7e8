import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js'
import { isJsonObject, type JsonObject, own } from '../domain/json.ts'
import { type Finding, type Path, shown } from './problem.ts'
import { valueAt } from '../domain/value-match.ts'

/** Every `input_schema` that is no JSON Schema 2020-12 of an object. Ajv is loaded when a file with tools is checked. */
export async function schemaFindings(document: JsonObject): Promise<Finding[]> {
  const tools = own(document, 'tools')
  if (!Array.isArray(tools) || tools.length === 0) return []
  // Of a CommonJS package that is loaded late the bundle hands on the default export only.
  const { Ajv2020 } = (await import('ajv/dist/2020.js')).default
  return tools.flatMap((tool, index) => {
    const schema = isJsonObject(tool) ? own(tool, 'input_schema') : undefined
    if (!isJsonObject(schema)) return []
    // One instance each: schemas of different tools may use the same $id.
    const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, validateFormats: false })
    return inputSchemaFindings(schema, ajv, ['tools', index, 'input_schema'])
  })
}

function inputSchemaFindings(schema: JsonObject, ajv: Ajv2020, path: Path): Finding[] {
  const type = own(schema, 'type')
  if (type !== undefined && type !== 'object') {
    return [{ path: [...path, 'type'], found: shown(type), allowed: 'object, because tool_input is an object' }]
  }
  const faults = metaSchemaFaults(schema, ajv)
  if (faults.length > 0) return faults.map((fault) => faultFinding(fault, schema, path))
  try {
    ajv.compile(schema)
    return []
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [
      { path, found: `a schema that does not compile (${reason})`, allowed: 'a JSON Schema 2020-12 that stands alone' },
    ]
  }
}

/** What the meta schema says, without the branches of `anyOf` that only repeat it. */
function metaSchemaFaults(schema: JsonObject, ajv: Ajv2020): ErrorObject[] {
  try {
    if (ajv.validateSchema(schema) === true) return []
  } catch {
    // An unknown dialect in $schema; compiling says so.
    return []
  }
  const faults = (ajv.errors ?? []).filter((fault) => fault.keyword !== 'anyOf')
  return faults.filter((fault, at) => faults.findIndex((other) => other.instancePath === fault.instancePath) === at)
}

function faultFinding(fault: ErrorObject, schema: JsonObject, base: Path): Finding {
  const parts = fault.instancePath.split('/').slice(1).map(unescaped)
  const value = parts.length === 0 ? schema : valueAt(schema, parts.join('.'))
  const path = [...base, ...parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part))]
  return { path, found: shown(value), allowed: `JSON Schema 2020-12: ${allowedBy(fault)}` }
}

function allowedBy({ keyword, params, message = 'something else' }: ErrorObject): string {
  const values: unknown = keyword === 'enum' ? (params as { allowedValues?: unknown }).allowedValues : undefined
  return Array.isArray(values) ? values.join(', ') : message
}

function unescaped(part: string): string {
  return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
}
