import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CONTROL_SPEC } from './control-document.ts'
import { follow, type Parameter, type Schema, type SpecDocument } from './spec-document.ts'
import type { Step } from './step.ts'

const OUTPUT = 'src/servers/control/generated/input.ts'

/** The schemas in zod of what the control API reads: bodies and query parameters, by operation. */
export const controlInput: Step = {
  name: 'control input',
  inputs: [CONTROL_SPEC],
  outputs: [OUTPUT],
  make: async (root) => {
    const { parse } = await import('yaml')
    const spec = parse(await readFile(join(root, CONTROL_SPEC), 'utf8')) as SpecDocument
    const operations = Object.values(spec.paths).flatMap((item) => Object.values(item) as ControlOperation[])
    const bodies = operations.flatMap(({ operationId, requestBody }) => {
      const schema = requestBody?.content['application/json']?.schema
      return schema?.$ref !== undefined && !READ_ELSEWHERE.test(schema.$ref)
        ? [`  ${operationId}: ${zodOf(spec, schema)},`]
        : []
    })
    const queries = operations.flatMap(({ operationId, parameters = [] }) => {
      const own = parameters.filter((parameter) => !('$ref' in parameter && parameter.$ref === ENVIRONMENT))
      const read = own.map((each) => follow<Parameter>(spec, each)).filter((parameter) => parameter.in === 'query')
      const fields = read.map(({ name, required, schema }) => [name, optional(inQuery(schema), schema, required)])
      return read.length === 0 || operationId === 'list_requests'
        ? []
        : [`  ${operationId}: z.object(${members(fields)}),`]
    })
    const parts = 'clockTime, digits, duration, jsonObject, nonEmpty, strict, wholeNumber'
    const text = [
      `import { z } from 'zod'`,
      `import { ${parts} } from '../../../model/schema/parts.ts'`,
      `export const BODIES = {\n${bodies.join('\n')}\n} as const`,
      `export const QUERIES = {\n${queries.join('\n')}\n} as const`,
    ]
    return new Map([[OUTPUT, `${text.join('\n')}\n`]])
  },
}

interface ControlOperation {
  readonly operationId: string
  readonly parameters?: readonly (Parameter | { $ref: string })[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

/** The parameter that chooses the environment of a call, which all such calls read alike. */
const ENVIRONMENT = '#/components/parameters/Environment'

/** What other modules read, by schemas of their own; the query of `list_requests` is a match too. */
const READ_ELSEWHERE = /\/(?:\w+Document|Match|State|NewWebhook|JsonRpcMessage)$/

function zodOf(spec: SpecDocument, schema: Schema): string {
  if (READ_ELSEWHERE.test(schema.$ref ?? '')) return 'jsonObject'
  const { type, properties, required = [], anyOf, items, additionalProperties, ...rest } = follow<Schema>(spec, schema)
  const [least, most] = [rest['minimum'], rest['maximum']]
  if (anyOf) return `z.union([${anyOf.map((each) => zodOf(spec, each)).join(', ')}])`
  if (Array.isArray(rest['enum'])) return `z.enum(${JSON.stringify(rest['enum'])})`
  if (rest.format === 'date-time') return 'clockTime'
  // The one value that is a text or a number.
  if (Array.isArray(type)) return 'duration'
  if (type === 'array' && items) return `z.array(${zodOf(spec, items)})${rest['minItems'] === 1 ? '.min(1)' : ''}`
  if (type === 'integer') return `wholeNumber(${String(least)}, ${String(most)})`
  if (type === 'object' && additionalProperties === false) {
    const fields = Object.entries(properties ?? {}).map(([name, inner]) => {
      return [name, optional(zodOf(spec, inner), inner, required.includes(name))]
    })
    return `strict(${members(fields)})`
  }
  if (type === 'object') return 'jsonObject'
  const text = rest['minLength'] === 1 ? 'nonEmpty' : `z.${String(type)}()`
  return typeof rest['maxLength'] === 'number' ? `${text}.max(${rest['maxLength']})` : text
}

/** In a query every value is a text. */
function inQuery(schema: Schema): string {
  const { type, minimum, maximum } = schema
  return type === 'integer' ? `digits(${String(minimum)}, ${String(maximum)})` : zodOf({ paths: {} }, schema)
}

function optional(zod: string, schema: Schema, isRequired = false): string {
  if (schema['default'] !== undefined) return `${zod}.default(${JSON.stringify(schema['default'])})`
  return isRequired ? zod : `${zod}.optional()`
}

function members(fields: readonly (readonly string[])[]): string {
  return `{ ${fields.map(([name = '', zod = '']) => `${name}: ${zod}`).join(', ')} }`
}
