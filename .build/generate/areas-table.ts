import { createRequire } from 'node:module'
import { join } from 'node:path'
import { markedSection } from './marked-section.ts'
import type { Step } from './step.ts'

const PAGE = 'AGENTS.md'
const AREAS = '.config/areas.cjs'

/** The table of the areas of `src`, which `npm run check:directions` enforces. */
export const areasTable: Step = {
  name: 'areas table',
  inputs: [AREAS],
  outputs: [PAGE],
  make: (root) => {
    const areas = createRequire(import.meta.url)(join(root, AREAS)) as Record<
      string,
      { has: string; imports: string[] }
    >
    const rows = Object.entries(areas).map(
      ([name, { has, imports }]) => `| \`${name}/\` | ${has} | ${importsOf(imports, Object.keys(areas), name)} |`,
    )
    return markedSection(
      root,
      PAGE,
      'areas',
      ['| area | what it has | may import |', '| --- | --- | --- |', ...rows].join('\n'),
    )
  },
}

function importsOf(imports: readonly string[], names: readonly string[], area: string): string {
  const others = names.filter((name) => name !== area && !imports.includes(name))
  if (!others.length) return 'all'
  return others.length < imports.length ? `all but ${others.join(', ')}` : imports.join(', ') || 'nothing'
}
