import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { SPEC } from './spec-document.ts'
import type { Step } from './step.ts'

const FOLDER = 'src/model/contract/generated'

/** TypeScript types of every operation of the service, by openapi-typescript. */
export const types: Step = {
  name: 'types',
  inputs: [SPEC],
  outputs: [`${FOLDER}/openapi-types.ts`],
  make: async (root) => typesOf(root, SPEC, `${FOLDER}/openapi-types.ts`),
}

/**
 * The same for the control API and the documents that it takes, which are the types of the library. A member with a default
 * may be left out.
 */
export const controlTypes: Step = {
  name: 'control types',
  inputs: [SPEC, 'spec/control.openapi.yaml', 'spec/schemas'],
  outputs: [`${FOLDER}/control-types.ts`],
  make: async (root) =>
    typesOf(root, 'spec/control.openapi.yaml', `${FOLDER}/control-types.ts`, {
      immutable: true,
      defaultNonNullable: false,
      emptyObjectsUnknown: true,
    }),
}

async function typesOf(root: string, spec: string, output: string, options = {}): Promise<Map<string, string>> {
  const { default: openapiTypescript, astToString } = await import('openapi-typescript')
  const ast = await openapiTypescript(pathToFileURL(join(root, spec)), { alphabetize: false, ...options })
  return new Map([[output, astToString(ast)]])
}
