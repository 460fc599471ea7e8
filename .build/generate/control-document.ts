import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { follow, type SpecDocument } from './spec-document.ts'
import type { Step } from './step.ts'

export const CONTROL_SPEC = 'spec/control.openapi.yaml'
const OUTPUT = 'src/model/contract/generated/control-document'
const ROUTES = 'src/model/contract/generated/control-routes.ts'

/** The description of the control API as a module: it is served as JSON, and a bundle has no files beside it to read. */
export const controlDocument: Step = {
  name: 'control document',
  inputs: [CONTROL_SPEC, 'spec/openapi.yaml', 'spec/schemas'],
  outputs: [`${OUTPUT}.js`, `${OUTPUT}.d.ts`],
  make: async (root) => {
    const { parse } = await import('yaml')
    const read = async (file: string): Promise<unknown> => parse(await readFile(join(root, file), 'utf8'))
    const document = await read(CONTROL_SPEC)
    const files = new Map<string, unknown>()
    for (const [, file = ''] of JSON.stringify(document).matchAll(/"\$ref":"([^#"]+)/g)) {
      files.set(file, await read(join(dirname(CONTROL_SPEC), file)))
    }
    const text = JSON.stringify(JSON.stringify(embedded(document, files)))
    return new Map([
      [`${OUTPUT}.js`, `export const readControlDocument = () => JSON.parse(${text})\n`],
      [`${OUTPUT}.d.ts`, 'export declare const readControlDocument: () => Record<string, unknown>\n'],
    ])
  },
}

/** The table of control operations, from which the routes are mounted and their handlers are typed. */
export const controlRoutes: Step = {
  name: 'control routes',
  inputs: [CONTROL_SPEC],
  outputs: [ROUTES],
  make: async (root) => {
    const { parse } = await import('yaml')
    const document = parse(await readFile(join(root, CONTROL_SPEC), 'utf8')) as ControlDocument
    const rows = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId, parameters = [], requestBody, security }]) => {
        const environment = parameters.some(({ $ref }) => $ref === '#/components/parameters/Environment')
        const body = requestBody === undefined ? 'none' : requestBody.required === true ? 'required' : 'optional'
        return {
          operation: operationId,
          method: method.toUpperCase(),
          path,
          environment,
          body,
          open: security?.length === 0,
        }
      }),
    )
    const lines = rows.map((row) => `  ${JSON.stringify(row)},`)
    return new Map([[ROUTES, `export const CONTROL_ROUTES = [\n${lines.join('\n')}\n] as const\n`]])
  },
}

interface ControlDocument {
  readonly paths: Record<string, Record<string, ControlOperation>>
}
interface ControlOperation {
  readonly operationId: string
  readonly parameters?: readonly { readonly $ref?: string }[]
  readonly requestBody?: { readonly required?: boolean }
  /** Empty where everyone is admitted. */
  readonly security?: readonly object[]
}

/** Replaces references to other files by what they refer to, because the document is served without those files. */
export function embedded(value: unknown, files: ReadonlyMap<string, unknown>, inside?: SpecDocument): unknown {
  if (Array.isArray(value)) return value.map((item) => embedded(item, files, inside))
  if (typeof value !== 'object' || value === null) return value
  if ('$ref' in value && typeof value.$ref === 'string') {
    const { $ref, ...siblings } = value
    const [file = '', pointer = ''] = value.$ref.split('#')
    const document = file === '' ? inside : (files.get(file) as SpecDocument)
    if (document) {
      const target = pointer === '' ? document : follow<object>(document, { $ref: `#${pointer}` })
      const { $schema, $id, ...schema } = target as Record<string, unknown>
      return { ...(embedded(schema, files, document) as object), ...siblings }
    }
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, embedded(inner, files, inside)]))
}
