import { readSpec, SPEC } from './spec-document.ts'
import type { Step } from './step.ts'

const FOLDER = 'src/model/contract/generated'

/** The OpenAPI document as a module, for checks that read the document itself: a bundle has no files beside it. */
export const embeddedDocument: Step = {
  name: 'embedded document',
  inputs: [SPEC],
  outputs: [`${FOLDER}/document.js`, `${FOLDER}/document.d.ts`],
  make: async (root) => {
    const text = JSON.stringify(JSON.stringify(await readSpec(root)))
    return new Map([
      [`${FOLDER}/document.js`, `export const readDocument = () => JSON.parse(${text})\n`],
      [`${FOLDER}/document.d.ts`, 'export declare const readDocument: () => Record<string, unknown>\n'],
    ])
  },
}
