import { operationsOf, type Parameter, readSpec, type SpecOperation, SPEC } from './spec-document.ts'
import { requestSchema } from './schema-view.ts'
import type { SpecDocument } from './spec-document.ts'
import type { Step } from './step.ts'

const OUTPUT = 'src/model/contract/generated/routes.ts'

/** The table of operations: where each is, what it takes, what it may answer. */
export const routes: Step = {
  name: 'routes',
  inputs: [SPEC],
  outputs: [OUTPUT],
  make: async (root) => {
    const spec = await readSpec(root)
    const rows = operationsOf(spec).map((operation) => `  ${JSON.stringify(routeOf(spec, operation))},`)
    return new Map([[OUTPUT, `export const ROUTES = [\n${rows.join('\n')}\n] as const\n`]])
  },
}

function routeOf(spec: SpecDocument, operation: SpecOperation): object {
  return {
    operation: operation.id,
    method: operation.method.toUpperCase(),
    path: operation.path,
    summary: operation.summary,
    discovery: operation.tags.includes('Discovery'),
    mcp: operation.tags.includes('MCP'),
    bearer: operation.bearer,
    statuses: [...operation.responses.keys()].map(Number),
    bodyMediaType: operation.body?.mediaType ?? null,
    bodyRequired: operation.body?.required ?? false,
    query: operation.parameters
      .filter(({ in: place }) => place === 'query')
      .map((parameter) => queryOf(spec, parameter)),
  }
}

/** How a query parameter is read from text: the type of one value, and whether it may be repeated. */
function queryOf(spec: SpecDocument, parameter: Parameter): object {
  const schema = requestSchema(spec, parameter.schema)
  const repeatable = schema.type === 'array'
  const type = (repeatable ? schema.items?.type : schema.type) ?? 'string'
  if (type !== 'string' && type !== 'integer' && type !== 'boolean') {
    throw new Error(
      `${SPEC}: the query parameter ${parameter.name} is of type ${String(type)}, but the routes read string, integer and boolean`,
    )
  }
  return { name: parameter.name, type, repeatable, required: parameter.required ?? false }
}
