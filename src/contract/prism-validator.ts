import { getHttpOperationsFromSpec } from '@stoplight/prism-http/dist/utils/operations.js'
import { validateInput, validateOutput } from '@stoplight/prism-http/dist/validator/index.js'
import type { HttpMethod } from '@stoplight/types'
import { readDocument } from './generated/document.js'
import type { Operation } from './shapes.ts'

/**
 * Checks requests and answers by Prism, which reads the same document and shares no code with the mock's own check. It takes
 * about half a second to load and is slow to check: it is for tests and reports, never on the way of a request.
 *
 * The main entry of Prism would load its mock and its proxy too. Of the two modules imported here one reads the document, the
 * other is the validator.
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

/** Loads the document into Prism. */
export async function createPrismValidator(
  document: Record<string, unknown> = readDocument(),
): Promise<PrismValidator> {
  const operations = new Map<string, Described>()
  for (const operation of await getHttpOperationsFromSpec(document))
    operations.set(operation.iid ?? operation.id, operation)
  const resource = (id: Operation): Described => {
    const found = operations.get(id)
    if (!found) throw new Error(`Prism knows no operation ${id}`)
    return found
  }
  return {
    request: (operation, request) =>
      violations(validateInput({ resource: resource(operation), element: prismRequest(request) })),
    response: (operation, status, headers, body) =>
      violations(
        validateOutput({
          resource: resource(operation),
          element: { statusCode: status, headers: { ...headers }, body },
        }),
      ),
  }
}

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

function violations(result: PrismResult): PrismViolation[] {
  if (result._tag === 'Right') return []
  return result.left
    .filter(({ code }) => code !== 'deprecated')
    .map(({ path, message, code }) => ({ field: (path ?? []).join('.'), message, code: String(code ?? '') }))
}
