import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Step } from './step.ts'

const SPEC = 'spec/control.openapi.yaml'
const OUTPUT = 'src/contract/generated/control-document'

/** The description of the control API as a module: it is served as JSON, and a bundle has no files beside it to read. */
export const controlDocument: Step = {
  name: 'control document',
  inputs: [SPEC],
  outputs: [`${OUTPUT}.js`, `${OUTPUT}.d.ts`],
  make: async (root) => {
    const { parse } = await import('yaml')
    const text = JSON.stringify(JSON.stringify(parse(await readFile(join(root, SPEC), 'utf8'))))
    return new Map([
      [`${OUTPUT}.js`, `export const readControlDocument = () => JSON.parse(${text})\n`],
      [`${OUTPUT}.d.ts`, 'export declare const readControlDocument: () => Record<string, unknown>\n'],
    ])
  },
}
