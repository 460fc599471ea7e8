import { markedSection } from './marked-section.ts'
import { operationsOf, readSpec, SPEC } from './spec-document.ts'
import type { Step } from './step.ts'

const README = 'README.md'

/** The README's table of operations with their statuses and where they come from. */
export const operationsTable: Step = {
  name: 'operations table',
  inputs: [SPEC],
  outputs: [README],
  make: async (root) => {
    const rows = operationsOf(await readSpec(root)).map(
      ({ id, method, path, responses, basis }) =>
        `| \`${id}\` | \`${method.toUpperCase()} ${path}\` | ${[...responses.keys()].join(', ')} | ${basis.join(', ')} |`,
    )
    const head = ['| operation | method and path | statuses | basis |', '| --- | --- | --- | --- |']
    return markedSection(root, README, 'operations', [...head, ...rows].join('\n'))
  },
}
