import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CHECKS } from '../../src/compare/conform/checks/table.ts'
import { conformOf } from './broken-mock.ts'
import { plantedMutants, plantedText } from './planted.ts'
import { MUTANTS } from './table.ts'

/** `npm run test:mutants` runs the whole suite against every mutant. */
const SHORT_FORM = [
  'verify-twice',
  'search-two-characters',
  'page-skips',
  'page-by-offset',
  'details-show-token',
  'create-across-scopes',
  'execute-deleted',
  'execute-state-first',
  'bearer-without-challenge',
  'error-code-number',
  'link-never-expires',
  'state-lost',
  'provider-update-merges-metadata',
]

describe('mutants of the mock', () => {
  it('are at least sixty, and each has a unique name and a check that must detect it', () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(60)
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
    const ids = new Set(CHECKS.map(({ id }) => id))
    expect(MUTANTS.filter(({ caughtBy }) => !ids.has(caughtBy)).map(({ name }) => name)).toEqual([])
  })

  it('that are planted in the sources have a text that is there once, and a row of CONTRIBUTING.md counts them', () => {
    const planted = plantedMutants()
    for (const mutant of planted) expect(plantedText(readFileSync(mutant.file, 'utf8'), mutant)).not.toBe('')
    const areas = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const counts = areas.map(({ name }) => [name, planted.filter(({ area }) => area === name).length])
    const [, table = ''] = readFileSync('CONTRIBUTING.md', 'utf8').split('| area ')
    const rows = [...table.matchAll(/^\| `([a-z-]+)` +\| (\d+) +\|/gm)].map(([, name, count]) => [name, Number(count)])
    expect(rows.sort()).toEqual(counts.sort())
  })

  it.each(SHORT_FORM)('%s is detected by its check', async (name) => {
    const mutant = MUTANTS.find((each) => each.name === name)!
    const { checks } = await conformOf(mutant, { only: [mutant.caughtBy] })
    expect(checks.map(({ id, result }) => ({ id, result }))).toEqual([{ id: mutant.caughtBy, result: 'broken' }])
  })

  it('are the only difference: the unchanged mock passes behind the same proxy', async () => {
    const only = SHORT_FORM.map((name) => MUTANTS.find((each) => each.name === name)!.caughtBy)
    const { summary } = await conformOf({ mutate: () => undefined }, { only })
    expect(summary).toMatchObject({ broken: 0, skipped: 0 })
  })
})
