import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export const SPEC = 'spec/openapi.yaml'

/** A JSON Schema, as far as the generator looks into it; `spec/openapi.yaml` is linted, so its shape is trusted. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  /** Only in answers; ignored in requests (G9). */
  'x-output-only'?: boolean
  format?: string
  [keyword: string]: unknown
}

export interface Parameter {
  name: string
  in: 'query' | 'path' | 'header'
  required?: boolean
  description?: string
  schema: Schema
  'x-basis'?: string
}

interface Content {
  content?: Record<string, { schema?: Schema; examples?: Record<string, { value?: unknown } | { $ref: string }> }>
  description?: string
  'x-basis'?: string
}

interface OperationObject {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  security?: Record<string, string[]>[]
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: (Content & { required?: boolean }) | { $ref: string }
  responses: Record<string, Content | { $ref: string }>
  'x-basis'?: string | string[]
}

export interface SpecDocument {
  security?: Record<string, string[]>[]
  paths: Record<string, Record<string, unknown>>
  components?: { schemas?: Record<string, Schema>; [kind: string]: unknown }
}

/** One operation of the spec with its references to parameters, bodies and responses resolved. */
export interface SpecOperation {
  id: string
  method: string
  path: string
  summary: string
  description: string
  tags: string[]
  basis: string[]
  bearer: boolean
  parameters: Parameter[]
  body: { mediaType: string; required: boolean; schema: Schema } | null
  /** Status → the schema of its JSON body, null when it has none. */
  responses: ReadonlyMap<string, Schema | null>
  /** Status → the error codes of its examples: the spec has an example for each code. */
  codes: ReadonlyMap<string, readonly string[]>
  /** Status → when it is answered. */
  statusText: ReadonlyMap<string, string>
  /** Status → where it comes from. */
  statusBasis: ReadonlyMap<string, string>
}

/** The basis of what any HTTP server answers: declared for generated clients, not part of the operation's own contract. */
const TRANSPORT = 'transport'

const METHODS = ['get', 'put', 'patch', 'post', 'delete']

export async function readSpec(root: string): Promise<SpecDocument> {
  const { parse } = await import('yaml')
  return parse(await readFile(join(root, SPEC), 'utf8')) as SpecDocument
}

/** Every operation, in the order of the document. */
export function operationsOf(spec: SpecDocument): SpecOperation[] {
  return Object.entries(spec.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => Object.hasOwn(item, method)).map((method) =>
      readOperation(spec, { method, path }, item as { parameters?: Parameter[] }),
    ),
  )
}

function readOperation(
  spec: SpecDocument,
  at: { method: string; path: string },
  item: { parameters?: Parameter[] },
): SpecOperation {
  const operation = (item as Record<string, unknown>)[at.method] as OperationObject
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])]
  const responses = Object.entries(operation.responses)
    .map(([status, response]) => [status, follow<Content>(spec, response)] as const)
    .filter(([, response]) => response['x-basis'] !== TRANSPORT)
    .map(([status, response]) => [declaredStatus(operation.operationId, status), response] as const)
  return {
    id: operation.operationId,
    ...at,
    summary: operation.summary ?? '',
    description: operation.description ?? '',
    tags: operation.tags ?? [],
    basis: [operation['x-basis'] ?? []].flat(),
    bearer: needsBearer(operation.security ?? spec.security ?? []),
    parameters: parameters.map((parameter) => follow<Parameter>(spec, parameter)),
    body: operation.requestBody ? readBody(spec, operation.operationId, operation.requestBody) : null,
    responses: new Map(responses.map(([status, response]) => [status, jsonSchemaOf(response)])),
    codes: new Map(responses.map(([status, response]) => [status, codesOf(spec, response)])),
    statusText: new Map(responses.map(([status, response]) => [status, response.description ?? ''])),
    statusBasis: new Map(responses.map(([status, response]) => [status, response['x-basis'] ?? ''])),
  }
}

function codesOf(spec: SpecDocument, { content }: Content): string[] {
  const examples = Object.values(content?.['application/json']?.examples ?? {})
  const codes = examples.flatMap((example) => {
    const { value } = follow<{ value?: unknown }>(spec, example)
    const { error, details } = (value ?? {}) as { error?: string; details?: { error_code?: string }[] }
    return error ?? details?.[0]?.error_code ?? []
  })
  return [...new Set(codes)]
}

function needsBearer(security: Record<string, string[]>[]): boolean {
  return security.length > 0 && security.every((schemes) => Object.keys(schemes).some((name) => /bearer/i.test(name)))
}

/** Refuses ranges and `default`: scenarios and coverage need exact statuses. */
function declaredStatus(id: string, status: string): string {
  if (/^[1-5]\d\d$/.test(status)) return status
  throw new Error(`${SPEC}: ${id} declares the response ${status}; name each status by itself`)
}

function readBody(
  spec: SpecDocument,
  id: string,
  value: NonNullable<OperationObject['requestBody']>,
): SpecOperation['body'] {
  const body = follow<Content & { required?: boolean }>(spec, value)
  const [entry, ...others] = Object.entries(body.content ?? {})
  if (!entry?.[1].schema || others.length > 0) throw new Error(`${SPEC}: ${id} needs one media type with a schema`)
  return { mediaType: entry[0], required: body.required ?? false, schema: entry[1].schema }
}

function jsonSchemaOf(content: Content): Schema | null {
  return content.content?.['application/json']?.schema ?? null
}

/** The target of a reference, or the value itself. */
export function follow<T>(spec: SpecDocument, value: T | { $ref: string }): T {
  if (typeof value !== 'object' || value === null || !('$ref' in value) || typeof value.$ref !== 'string')
    return value as T
  let target: unknown = spec
  for (const part of value.$ref.replace(/^#\//, '').split('/')) {
    target = (target as Record<string, unknown> | undefined)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  if (target === undefined) throw new Error(`${SPEC}: ${value.$ref} refers to a value that does not exist`)
  return follow(spec, target as T | { $ref: string })
}
