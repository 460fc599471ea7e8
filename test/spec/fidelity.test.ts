import { expect, it } from 'vitest'
import { document, fidelity, operations } from './document.ts'

const IDS = Array.from({ length: 76 }, (_, index) => `G${index + 1}`)

/** The cells of every line of every table, headers included. */
const lines = [...fidelity.matchAll(/^\| (?<cells>.*) \|$/gm)].map(({ groups }) =>
  (groups?.['cells'] ?? '').split(' | ').map((cell) => cell.trim()),
)
/** The rows with identifiers. Each has one point, and an identifier may have several rows. */
const points = lines.filter(([id = '']) => /^G\d+$/.test(id))
const BASIS = /^(choice|convention|document:\d(\.\d+)?(, document:\d(\.\d+)?)*)$/

it.each(IDS)('explains %s in rows that follow each other', (id) => {
  const places = lines.flatMap(([first], index) => (first === id ? [index] : []))
  expect(places.length).toBeGreaterThan(0)
  expect(places).toEqual(places.map((_, index) => (places[0] ?? 0) + index))
})

it('gives each row a unique point, a behaviour and a basis', () => {
  expect(points.filter((cells) => cells.length !== 4 || cells.includes(''))).toEqual([])
  expect(points.filter((cells) => !BASIS.test(cells[3] ?? ''))).toEqual([])
  const open = points.map(([id = '', point = '']) => `${id} ${point}`)
  expect(open.filter((point, index) => open.indexOf(point) !== index)).toEqual([])
})

it('has no table cell of more than 280 characters', () => {
  expect(lines.flat().filter((cell) => cell.length > 280)).toEqual([])
})

it('explains every identifier that it mentions', () => {
  const mentioned = new Set([...fidelity.matchAll(/\bG\d+\b/g)].map(([id]) => id))
  expect([...mentioned].filter((id) => !IDS.includes(id))).toEqual([])
})

it('describes every Discovery operation', () => {
  const discovery = operations.filter(({ object }) => JSON.stringify(object.tags) === '["Discovery"]')
  expect(discovery).toHaveLength(5)
  expect(discovery.filter(({ method, path }) => !fidelity.includes(`${method} \`${path}\``))).toEqual([])
})

it('is a table of at most 5,000 words', () => {
  expect(fidelity.split(/\s+/).length).toBeLessThanOrEqual(5000)
})

it('refers to no file outside the project, and neither does the contract', () => {
  expect(fidelity + JSON.stringify(document)).not.toMatch(/gaps\.md|service\.md|design\.md|\/work\//)
})
