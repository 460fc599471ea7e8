import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { Tool } from '../domain/connector.ts'
import type { FieldViolation } from '../domain/errors.ts'
import type { JsonObject } from '../domain/json.ts'
import type { Validator } from './generated/validators.js'
import { violationsOf } from './violation.ts'

/**
 * Judges tool inputs by the tools' own JSON Schemas (2020-12). These come from connector files, so they are compiled when
 * first used, and Ajv itself is loaded then; compiled ones are kept for as long as their tool is.
 */
export class ToolSchemas {
  /** Promises, so that calls that come together wait for one compilation. */
  readonly #compiled = new WeakMap<JsonObject, Promise<Validator>>()

  /** What is wrong with `input`; the field is the path inside `tool_input`. */
  async check(tool: Tool, input: JsonObject): Promise<FieldViolation[]> {
    const schema = tool.input_schema
    const compiling = this.#compiled.get(schema) ?? compile(schema)
    this.#compiled.set(schema, compiling)
    const validator = await compiling
    if (validator(input)) return []
    return violationsOf(validator.errors, input).map((violation) => ({
      ...violation,
      field: underToolInput(violation.field),
    }))
  }
}

async function compile(schema: JsonObject): Promise<Validator> {
  // Of a CommonJS package that is loaded late the bundle hands on the default export only.
  const [{ default: ajv2020 }, { default: addFormats }] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv-formats'),
  ])
  // One instance each: schemas of different tools may use the same $id. That they are schemas was checked when their file
  // was read; compiling the meta schema again costs more than all the rest.
  const options = { strict: false, allErrors: true, logger: false, validateSchema: false } as const
  const validate: ValidateFunction = addFormats.default(new ajv2020.Ajv2020(options)).compile(schema)
  return validate as Validator
}

function underToolInput(field: string): string {
  if (field === '' || field === 'body') return 'tool_input'
  return field.startsWith('[') ? `tool_input${field}` : `tool_input.${field}`
}
