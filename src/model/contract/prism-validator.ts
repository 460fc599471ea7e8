import { getHttpOperationsFromSpec } from '@stoplight/prism-http/dist/utils/operations.js'
import { validateInput, validateOutput } from '@stoplight/prism-http/dist/validator/index.js'
import type { generateStatic as GenerateStatic } from '@stoplight/prism-http/dist/mocker/generator/JSONSchema.js'
import type { HttpMethod } from '@stoplight/types'
import type { JsonObject, JsonValue } from '../domain/json.ts'
import { readDocument } from './generated/document.js'
import type { Operation } from './shapes.ts'

/**
 * Reads the same document as the mock's own check and shares no code with it. It takes half a second to load and is
 * slow: for tests and reports, never on the way of a request. Prism's main entry would load its mock and its proxy too.
 */
export interface PrismValidator {
  request(operation: Operation, request: PrismInput): PrismViolation[]
  response(
    operation: Operation,
    status: number,
    headers: Readonly<Record<string, string>>,
    body: unknown,
  ): PrismViolation[]
}

export interface PrismInput {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Parsed JSON, or the text of a form; undefined when there is none. */
  readonly body: unknown
}

export interface PrismViolation {
  /** Where: `body.connected_account.api_config`. */
  readonly field: string
  readonly message: string
  readonly code: string
}

type Described = Awaited<ReturnType<typeof getHttpOperationsFromSpec>>[number]
type PrismResult = ReturnType<typeof validateInput> | ReturnType<typeof validateOutput>

export async function createPrismValidator(
  document: Record<string, unknown> = readDocument(),
): Promise<PrismValidator> {
  const operations = new Map<string, Described>()
  for (const operation of await getHttpOperationsFromSpec(document))
    operations.set(operation.iid ?? operation.id, operation)
  const resource = (id: Operation): Described => {
    const operation = operations.get(id)
    if (!operation) throw new Error(`Prism knows no operation ${id}`)
    return operation
  }
  return {
    request: (operation, request) =>
      prismViolations(validateInput({ resource: resource(operation), element: prismRequest(request) })),
    response: (operation, status, headers, body) =>
      prismViolations(
        validateOutput({
          resource: resource(operation),
          element: { statusCode: status, headers: { ...headers }, body },
        }),
      ),
  }
}

/** Makes a value that fits a schema that stands alone: its examples and defaults where there are, the same each time. */
export type ResponseGenerator = (schema: JsonObject) => JsonValue | undefined

/**
 * As `prism mock` without `--dynamic`; its module is large. Undefined stands for a schema that it finds too complex.
 */
export async function createResponseGenerator(): Promise<ResponseGenerator> {
  const module = await import('@stoplight/prism-http/dist/mocker/generator/JSONSchema.js')
  // The bundle gives a CommonJS package that is loaded late only a default export.
  const { generate, generateStatic } = 'default' in module ? (module.default as typeof module) : module
  // It reads the operation for references, of which there are none, and for the message of an error.
  const operation = { id: '', method: 'get', path: '/', request: {}, responses: [] } as unknown as StaticOperation
  return (schema) => {
    // Without `--dynamic` it answers "string" whatever the pattern is.
    const isPattern = schema['pattern'] !== undefined && schema['example'] === undefined
    const result = isPattern ? generate(operation, {}, schema, SEED) : generateStatic(operation, schema)
    return result._tag === 'Right' ? (result.right as JsonValue) : undefined
  }
}

const SEED = 'toolmock'

type StaticOperation = Parameters<typeof GenerateStatic>[0]

type PrismRequest = Parameters<typeof validateInput>[0]['element']

function prismRequest({ method, path, query, headers, body }: PrismInput): PrismRequest {
  const values = [...new Set(query.keys())].map((name) => {
    const all = query.getAll(name)
    return [name, all.length === 1 ? all.join() : all] as const
  })
  return {
    method: method.toLowerCase() as HttpMethod,
    url: { path, query: Object.fromEntries(values) },
    headers: { ...headers },
    body,
  }
}

function prismViolations(result: PrismResult): PrismViolation[] {
  if (result._tag === 'Right') return []
  return result.left
    .filter(({ code }) => code !== 'deprecated')
    .map(({ path, message, code }) => ({ field: (path ?? []).join('.'), message, code: String(code ?? '') }))
}
