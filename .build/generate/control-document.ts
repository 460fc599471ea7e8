import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Step } from './step.ts'

const SPEC = 'spec/control.openapi.yaml'
const OUTPUT = 'src/contract/generated/control-document'

/** The description of the control API as a module: it is served as JSON, and a bundle has no files beside it to read. */
export const controlDocument: Step = {
  name: 'control document',
  inputs: [SPEC, 'spec/schemas'],
  outputs: [`${OUTPUT}.js`, `${OUTPUT}.d.ts`],
  make: async (root) => {
    const { parse } = await import('yaml')
    const document: unknown = parse(await readFile(join(root, SPEC), 'utf8'))
    const text = JSON.stringify(JSON.stringify(await embedded(document, join(root, dirname(SPEC)))))
    return new Map([
      [`${OUTPUT}.js`, `export const readControlDocument = () => JSON.parse(${text})\n`],
      [`${OUTPUT}.d.ts`, 'export declare const readControlDocument: () => Record<string, unknown>\n'],
    ])
  },
}

/** References to files are put in place of, since what is served has no files beside it either. */
async function embedded(value: unknown, folder: string): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => embedded(item, folder)))
  if (typeof value !== 'object' || value === null) return value
  if ('$ref' in value && typeof value.$ref === 'string' && !value.$ref.startsWith('#')) {
    const { $schema, $id, ...schema } = JSON.parse(await readFile(join(folder, value.$ref), 'utf8')) as SchemaFile
    if (JSON.stringify(schema).includes('"$ref"')) throw new Error(`${String($id)} (${String($schema)}) has references`)
    return schema
  }
  const entries = Object.entries(value).map(async ([key, inner]) => [key, await embedded(inner, folder)] as const)
  return Object.fromEntries(await Promise.all(entries))
}

interface SchemaFile {
  readonly $schema?: unknown
  readonly $id?: unknown
}
