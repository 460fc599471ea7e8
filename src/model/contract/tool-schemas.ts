import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { Tool } from '../domain/connector.ts'
import type { FieldViolation } from '../domain/errors.ts'
import { type JsonObject, type JsonValue, withDoubles } from '../domain/json.ts'
import { patternsIn, withoutPatterns } from '../domain/schema-patterns.ts'
import { quote } from '../domain/text.ts'
import { lazyImport } from '../domain/once.ts'
import type { Validator } from './generated/validators.js'
import { asJsonSchemaSays } from './json-schema.ts'
import { fieldName, violationsOf } from './violation.ts'

/** A schema, and the tool or responder that messages name. */
export type NamedSchema = Pick<Tool, 'name' | 'input_schema'>

/** The schemas come from connector files: Ajv is loaded, and compiles each, when it is first used. */
export class ToolSchemas {
  readonly #compiled = new WeakMap<JsonObject, Validator>()
  readonly #warn: (message: string) => void

  /** `warn` hears of patterns that are left out: files with one are refused, a state that holds one is loaded. */
  constructor(warn: (message: string) => void) {
    this.#warn = warn
  }

  /** Compiles the schema of a tool; undefined when that was done before. @throws Error for a schema that cannot be compiled */
  prepare({ name, input_schema: schema }: NamedSchema): Promise<void> | undefined {
    if (this.#compiled.has(schema)) return undefined
    const leftOut = (pattern: string, reason: string): void =>
      this.#warn(`${name} does not check the pattern ${quote(pattern)}, which cannot run in linear time: ${reason}`)
    return compileSchema(schema, leftOut).then((validator) => {
      this.#compiled.set(schema, validator)
    })
  }

  /** The violations of `input`; fields are paths from `root`. The tool has to be prepared. */
  check(tool: NamedSchema, input: JsonValue, root = 'tool_input'): FieldViolation[] {
    const validator = this.#compiled.get(tool.input_schema)
    if (!validator) throw new Error(`the schema of ${tool.name} was not prepared`)
    try {
      // A number that no double holds passes where it has no bound: it is checked as more, and as less, than any.
      const highest = withDoubles(input, () => Infinity)
      if (validator(highest) && (highest === input || validator(withDoubles(input, () => -Infinity)))) return []
    } catch (error) {
      // The input leads into a `$ref` cycle, which compiles and never ends, or is too long for the patterns of the schema.
      if (!(error instanceof RangeError)) throw error
      const isTooLong = error.name === 'PatternWorkError'
      const reason = isTooLong
        ? 'it is too long for the patterns of the schema'
        : 'the schema refers to itself without end'
      return [{ field: root, description: `cannot be checked: ${reason}`, constraint: isTooLong ? 'pattern' : '$ref' }]
    }
    return violationsOf(validator.errors, input, (path) => fieldName([root, ...path]))
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

const loadPatterns = lazyImport(() => import('../linear-pattern.ts'))

async function compileSchema(
  declared: JsonObject,
  leftOut: (pattern: string, reason: string) => void,
): Promise<Validator> {
  const { ajv2020, addFormats } = await loadAjv()
  const patterns = patternsIn(declared)
  // What runs patterns is loaded with the first schema that has one.
  const engine = patterns.length > 0 ? new (await loadPatterns()).PatternEngine() : undefined
  const unsupported = patterns.filter(({ source }) => {
    const reason = engine?.unsupported(source)
    if (reason !== undefined) leftOut(source, reason)
    return reason !== undefined
  })
  const schema = unsupported.length > 0 ? withoutPatterns(declared, unsupported) : declared
  // One instance for each schema, because schemas of different tools may use the same $id. The schema was checked when its file
  // was read; compiling the meta schema again would cost more than all the rest.
  const options = {
    strict: false,
    allErrors: true,
    logger: false,
    validateSchema: false,
    strictNumbers: false,
  } as const
  const ajv = addFormats.default(
    new ajv2020.Ajv2020({ ...options, ...(engine && { code: { regExp: engine.regExp } }) }),
  )
  asJsonSchemaSays(ajv, ajv2020._)
  ajv.addFormat('int64', { type: 'number', validate: (value) => Number.isInteger(value) || !Number.isFinite(value) })
  const validate: ValidateFunction = ajv.compile(schema)
  if (!engine) return validate as Validator
  const check: Validator = (value) => {
    engine.reset()
    const isValid = validate(value)
    check.errors = (validate as Validator).errors ?? null
    return isValid
  }
  return check
}
