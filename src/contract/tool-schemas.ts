import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { Tool } from '../domain/connector.ts'
import { type FieldViolation, ServiceError } from '../domain/errors.ts'
import type { JsonObject } from '../domain/json.ts'
import { lazyImport } from '../lazy-import.ts'
import type { Validator } from './generated/validators.js'
import { fieldName, violationsOf } from './violation.ts'

/**
 * Checks tool inputs by the JSON Schemas (2020-12) of the tools. These come from connector files, so Ajv is loaded and compiles
 * each when it is first used; a compiled schema is kept as long as its tool.
 */
export class ToolSchemas {
  readonly #compiled = new WeakMap<JsonObject, Validator>()

  /** Compiles the schema of a tool; undefined when that was done before. @throws Error for a schema that cannot be compiled */
  prepare({ input_schema: schema }: Tool): Promise<void> | undefined {
    if (this.#compiled.has(schema)) return undefined
    return compile(schema).then((validator) => {
      this.#compiled.set(schema, validator)
    })
  }

  /** The violations of `input`; fields are paths from `tool_input`. The tool has to be prepared. */
  check(tool: Tool, input: JsonObject): FieldViolation[] {
    const validator = this.#compiled.get(tool.input_schema)
    if (!validator) throw new Error(`the schema of ${tool.name} was not prepared`)
    if (accepts(validator, input)) return []
    return violationsOf(validator.errors, input, (path) => fieldName(['tool_input', ...path]))
  }
}

/** @throws ServiceError INVALID_TOOL_INPUT for an input that leads into a `$ref` cycle, which compiles and never ends */
function accepts(validator: Validator, input: JsonObject): boolean {
  try {
    return validator(input)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const description = 'cannot be checked: the schema of the tool refers to itself without end'
    const violations = [{ field: 'tool_input', description, constraint: '$ref' }]
    throw new ServiceError('INVALID_TOOL_INPUT', `tool_input ${description}`, { violations })
  }
}

const loadAjv = lazyImport(async () => {
  // The bundle provides only the default export of a CommonJS package that is imported dynamically.
  const [{ default: ajv2020 }, { default: addFormats }] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv-formats'),
  ])
  return { ajv2020, addFormats }
})

async function compile(schema: JsonObject): Promise<Validator> {
  const { ajv2020, addFormats } = await loadAjv()
  // One instance for each schema, because schemas of different tools may use the same $id. The schema was checked when its file
  // was read; compiling the meta schema again would cost more than all the rest.
  const options = { strict: false, allErrors: true, logger: false, validateSchema: false } as const
  const validate: ValidateFunction = addFormats.default(new ajv2020.Ajv2020(options)).compile(schema)
  return validate as Validator
}
