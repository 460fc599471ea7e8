import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { SPEC } from './spec-document.ts'
import type { Step } from './step.ts'

const OUTPUT = 'src/contract/generated/openapi-types.ts'

/** TypeScript types of every operation, by openapi-typescript. */
export const types: Step = {
  name: 'types',
  inputs: [SPEC],
  outputs: [OUTPUT],
  make: async (root) => {
    const { default: openapiTypescript, astToString } = await import('openapi-typescript')
    const ast = await openapiTypescript(pathToFileURL(join(root, SPEC)), { alphabetize: false })
    return new Map([[OUTPUT, astToString(ast)]])
  },
}
