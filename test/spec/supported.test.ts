import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CHECKS } from '../../src/compare/conform/checks/table.ts'
import { MOVES } from '../../src/model/domain/lifecycle.ts'
import { MUTANTS } from '../mutants/table.ts'
import { operations } from './document.ts'

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const supported = textOf('docs/supported.md')
const rowsOf = (section: string): string[][] => {
  const [, text = ''] = supported.split(`\n## ${section}\n`)
  const [own = ''] = text.split(/^## /m)
  return [...own.matchAll(/^\| (?<cells>.*) \|$/gm)].map(({ groups }) =>
    (groups?.cells ?? '').split('|').map((cell) => cell.trim()),
  )
}
const lines = rowsOf('Operations').slice(2)
const numbersIn = (cell = ''): number[] => [...cell.matchAll(/\d+/g)].map(([digits]) => Number(digits))
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

it.each(operations)('docs/supported.md has $id with each of its statuses once', ({ id, responses }) => {
  const [line = []] = lines.filter(([name]) => name === `\`${id}\``)
  const statuses = line.slice(2, 5).flatMap(numbersIn)
  expect(statuses.sort()).toEqual(responses.map(([status]) => Number(status)).sort())
})

it.each(operations)('docs/supported.md has a check of $id', ({ id }) => {
  const [line = []] = lines.filter(([name]) => name === `\`${id}\``)
  expect(sum(numbersIn(line[5]))).toBeGreaterThan(0)
})

it('docs/supported.md counts every check once', () => {
  const ofNoOperation = CHECKS.filter(({ operation }) => operation === null)
  expect(sum(lines.flatMap((line) => numbersIn(line[5]))) + ofNoOperation.length).toBe(CHECKS.length)
})

it('docs/supported.md has every move of the lifecycle, with its basis', () => {
  const moves = rowsOf('States of a connected account').filter((line) => line.length === 5)
  const wrong = MOVES.filter(({ event, to, basis }) => {
    const target = to === 'none' ? '(none)' : `\`${to}\``
    return !moves.some((line) => line[1] === event && line[3] === target && line[4] === basis)
  })
  expect(moves.length).toBeGreaterThan(15)
  expect(wrong).toEqual([])
})

const conformance = textOf('docs/conformance.md')

it('docs/conformance.md lists every check in one row, with the mutants that it catches', () => {
  const wrong = CHECKS.filter(({ id, basis }) => {
    const [row = '', ...others] = conformance.split('\n').filter((line) => line.startsWith(`| \`${id}\` `))
    const mutants = MUTANTS.filter(({ caughtBy }) => caughtBy === id)
    return others.length > 0 || !row.includes(basis) || mutants.some(({ what }) => !row.includes(what))
  })
  expect(wrong.map(({ id }) => id)).toEqual([])
})
