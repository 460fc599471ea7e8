import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SPEC } from './spec-document.ts'
import type { Step } from './step.ts'

const OUTPUT = 'src/model/contract/generated/operation-lines.ts'

/** The line of each operation in the document, which SARIF reports refer to. */
export const operationLines: Step = {
  name: 'operation lines',
  inputs: [SPEC],
  outputs: [OUTPUT],
  make: async (root) => {
    const lines = (await readFile(join(root, SPEC), 'utf8')).split('\n')
    const found = lines.flatMap((line, at) => {
      const [, operation] = /^ +operationId: (\w+)$/.exec(line) ?? []
      return operation === undefined ? [] : [`  ${operation}: ${at + 1},`]
    })
    const type = 'Readonly<Record<string, number>>'
    return new Map([[OUTPUT, `export const OPERATION_LINES: ${type} = {\n${found.join('\n')}\n}\n`]])
  },
}
