import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../../.build/project.ts'

const agents = readFileSync(join(ROOT, 'AGENTS.md'), 'utf8')
const lines = agents.split('\n')

it('is at most 9 kB', () => {
  expect(Buffer.byteLength(agents)).toBeLessThanOrEqual(9000)
})

it('can be read in a terminal: no line and no cell of a table has more than 100 characters', () => {
  const rows = lines.filter((line) => line.startsWith('|'))
  expect(rows.length).toBeGreaterThan(20)
  const cells = rows.flatMap((row) => row.split('|').map((cell) => cell.trim()))
  const texts = lines.filter((line) => !line.startsWith('|'))
  expect([...cells, ...texts].filter((text) => text.length > 100)).toEqual([])
})

it('names files and folders that are there', () => {
  const named = [...agents.matchAll(/[` ]((?:src|test|docs|spec|seeds|\.build|\.config)\/[\w./-]+)`/g)]
  const paths = named.flatMap(([, path = '']) => path)
  expect(paths.length).toBeGreaterThan(30)
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})
