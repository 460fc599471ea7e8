import { existsSync, readFileSync } from 'node:fs'
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

/** What each module may import, by the rules of dependency-cruiser. */
const rules = forbidden.flatMap(({ name, comment = '' }) => {
  const module = /^module-(.+)$/.exec(name)?.[1]
  const list = /may import (.*)$/.exec(comment)?.[1]
  return module === undefined || list === undefined ? [] : [[module, list] as const]
})

/** The row of `src/control` names the modules above it that it may not import. */
const allowed = rules.filter(([module]) => module !== 'control')

const table = new Map(
  [...readFileSync(join(ROOT, 'AGENTS.md'), 'utf8').matchAll(/^\| `src\/([a-z-]+)` +\|[^|]*\| ([^|]*?) +\|$/gm)].map(
    ([, name = '', imports = '']) => [name, imports.replace(/ \(.*\)$/, '')] as const,
  ),
)

describe('the table of modules in AGENTS.md', () => {
  it('has each module of .config/dependency-cruiser.cjs, app, library, runners and cli', () => {
    const modules = [...allowed.map(([name]) => name), 'control', 'app', 'library', 'runners', 'cli']
    expect([...table.keys()].sort()).toEqual(modules.sort())
  })

  it.each(allowed)('lists what src/%s may import', (name, list) => {
    const expected = list === 'only itself' ? ['nothing'] : list.split(', ')
    expect(table.get(name)?.split(', ').sort()).toEqual(expected.sort())
  })

  it('lists which modules above src/control it may not import', () => {
    const names = [...table.keys()]
    const list = new Map(rules).get('control')?.split(', ') ?? []
    const missing = names.slice(0, names.indexOf('control')).filter((name) => !list.includes(name))
    expect(table.get('control')).toBe(`all of the above but ${missing.join(', ')}`)
  })
})

describe('AGENTS.md', () => {
  const agents = readFileSync(join(ROOT, 'AGENTS.md'), 'utf8')
  const lines = agents.split('\n')

  it('can be read in a terminal: no line and no cell of a table has more than 100 characters', () => {
    const rows = lines.filter((line) => line.startsWith('|'))
    expect(rows.length).toBeGreaterThan(20)
    const cells = rows.flatMap((row) => row.split('|').map((cell) => cell.trim()))
    const texts = lines.filter((line) => !line.startsWith('|'))
    expect([...cells, ...texts].filter((text) => text.length > 100)).toEqual([])
  })

  it('names files and folders that are there', () => {
    const named = [...agents.matchAll(/[` ]((?:src|test|docs|spec|seeds|\.build|\.config)\/[\w./-]+)`/g)]
    const paths = named.flatMap(([, path = '']) => (path === '.build/site/dist' ? [] : [path]))
    expect(paths.length).toBeGreaterThan(80)
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })
})
