import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../.build/project.ts'

interface Rule {
  readonly name: string
  readonly comment?: string
}

const require = createRequire(import.meta.url)
const { forbidden } = require('../../.config/dependency-cruiser.cjs') as { forbidden: readonly Rule[] }

/** What each module may import, by the rules of dependency-cruiser. `src/control` may import all modules above it in the table but tls. */
const allowed = forbidden.flatMap(({ name, comment = '' }) => {
  const module = /^module-(.+)$/.exec(name)?.[1]
  const list = /may import (.*)$/.exec(comment)?.[1]
  return module === undefined || list === undefined || module === 'control' ? [] : [[module, list] as const]
})

const table = new Map(
  [...readFileSync(join(ROOT, 'AGENTS.md'), 'utf8').matchAll(/^\| `src\/([a-z-]+)` +\|[^|]*\| ([^|]*?) +\|$/gm)].map(
    ([, name = '', imports = '']) => [name, imports.replace(/ \(.*\)$/, '')] as const,
  ),
)

describe('the table of modules in AGENTS.md', () => {
  it('has each module of .config/dependency-cruiser.cjs, app, library and cli', () => {
    const modules = [...allowed.map(([name]) => name), 'control', 'app', 'library', 'cli']
    expect([...table.keys()].sort()).toEqual(modules.sort())
  })

  it.each(allowed)('lists what src/%s may import', (name, list) => {
    const expected = list === 'nothing but itself' ? ['nothing'] : list.split(', ')
    expect(table.get(name)?.split(', ').sort()).toEqual(expected.sort())
  })
})
