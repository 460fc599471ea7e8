import type { Ajv2020, ErrorObject, Options } from 'ajv/dist/2020.js'
import { isJsonObject, type JsonObject, own } from '../domain/json.ts'
import { valueAt } from '../domain/value-match.ts'
import { type Finding, type Path, shown } from './problem.ts'

/**
 * Finds every `input_schema` that is no JSON Schema 2020-12 of an object. Ajv is loaded when the first file with tools is
 * checked; its meta schemas, which take longer to compile than everything else here, serve all files read together.
 */
export class ToolSchemaCheck {
  #judge: SchemaJudge | undefined

  async findings(document: JsonObject): Promise<Finding[]> {
    const tools = own(document, 'tools')
    if (!Array.isArray(tools) || tools.length === 0) return []
    const judge = (this.#judge ??= await loadedJudge())
    return tools.flatMap((tool, index) => {
      const schema = isJsonObject(tool) ? own(tool, 'input_schema') : undefined
      return isJsonObject(schema) ? judge.findings(schema, ['tools', index, 'input_schema']) : []
    })
  }
}

async function loadedJudge(): Promise<SchemaJudge> {
  // Of a CommonJS package that is loaded late the bundle hands on the default export only.
  const { default: ajv2020 } = await import('ajv/dist/2020.js')
  return new SchemaJudge(ajv2020.Ajv2020)
}

const OPTIONS: Options = { strict: false, allErrors: true, logger: false, validateFormats: false }

class SchemaJudge {
  readonly #Ajv: new (options: Options) => Ajv2020
  readonly #meta: Ajv2020

  constructor(Ajv: new (options: Options) => Ajv2020) {
    this.#Ajv = Ajv
    this.#meta = new Ajv(OPTIONS)
  }

  findings(schema: JsonObject, path: Path): Finding[] {
    const type = own(schema, 'type')
    if (type !== undefined && type !== 'object') {
      return [{ path: [...path, 'type'], found: shown(type), allowed: 'object, because tool_input is an object' }]
    }
    try {
      const faults = this.#metaSchemaFaults(schema)
      if (faults.length > 0) return faults.map((fault) => faultFinding(fault, schema, path))
      this.#compile(schema)
      return []
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      const found = `a schema that does not compile (${reason})`
      return [{ path, found, allowed: 'a JSON Schema 2020-12 that stands alone' }]
    }
  }

  /** What the meta schema says, each place once: the branches of its `anyOf` repeat one another. */
  #metaSchemaFaults(schema: JsonObject): ErrorObject[] {
    if (this.#meta.validateSchema(schema) === true) return []
    const faults = (this.#meta.errors ?? []).filter((fault) => fault.keyword !== 'anyOf')
    return faults.filter((fault, at) => faults.findIndex((other) => other.instancePath === fault.instancePath) === at)
  }

  /** In an instance of its own, because schemas of different tools may use the same $id. */
  #compile(schema: JsonObject): void {
    const mentionsMeta = JSON.stringify(schema).includes('json-schema.org')
    new this.#Ajv({ ...OPTIONS, validateSchema: false, meta: mentionsMeta }).compile(schema)
  }
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
