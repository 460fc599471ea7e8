import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CHECKS } from '../../src/compare/conform/checks/table.ts'
import { MUTANTS } from '../mutants/table.ts'
import { operations } from './document.ts'

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const [, readme = ''] = /<!-- fidelity:start -->(.*)<!-- fidelity:end -->/s.exec(textOf('docs/fidelity.md')) ?? []
const rows = [...readme.matchAll(/^\| (?<cells>.*) \|$/gm)]
  .map(({ groups }) => (groups?.cells ?? '').split('|').map((cell) => cell.trim()))
  .slice(2)
const totals = rows.at(-1) ?? []
const lines = rows.slice(0, -1)
const numbersIn = (cell = ''): number[] => [...cell.matchAll(/\d+/g)].map(([digits]) => Number(digits))
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

describe('the operations of docs/fidelity.md', () => {
  it.each(operations)('has $id with each of its statuses once', ({ id, responses }) => {
    const [line = []] = lines.filter(([name]) => name === `\`${id}\``)
    const statuses = line.slice(2, 5).flatMap(numbersIn)
    expect(statuses.sort()).toEqual(responses.map(([status]) => Number(status)).sort())
  })

  it.each(operations)('has a check of $id', ({ id }) => {
    const [line = []] = lines.filter(([name]) => name === `\`${id}\``)
    expect(sum(numbersIn(line[5]))).toBeGreaterThan(0)
  })

  it('counts every check and every mutant once', () => {
    expect(sum(lines.flatMap((line) => numbersIn(line[5])))).toBe(CHECKS.length)
    expect(numbersIn(totals[5]).at(-1)).toBe(CHECKS.length)
    expect(sum(lines.flatMap((line) => numbersIn(line[6])))).toBe(MUTANTS.length)
    expect(numbersIn(totals[6])).toEqual([MUTANTS.length])
  })
})

describe('docs/conformance.md', () => {
  const conformance = textOf('docs/conformance.md')

  it('lists every check in one row, with the mutants that it catches', () => {
    const wrong = CHECKS.filter(({ id, basis }) => {
      const [row = '', ...others] = conformance.split('\n').filter((line) => line.startsWith(`| \`${id}\` `))
      const mutants = MUTANTS.filter(({ caughtBy }) => caughtBy === id)
      return others.length > 0 || !row.includes(basis) || mutants.some(({ what }) => !row.includes(what))
    })
    expect(wrong.map(({ id }) => id)).toEqual([])
  })
})
