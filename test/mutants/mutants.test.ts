import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CHECKS } from '../../src/compare/conform/checks/table.ts'
import { conformOf } from './broken-mock.ts'
import { plantedMutants, plantedText } from './planted.ts'
import { MUTANTS } from './table.ts'

/** `npm run test:mutants` runs the whole suite against every mutant. */
const SHORT_FORM = [
  'verify/twice: a second verify answers 200',
  'search/two-characters: search takes two characters',
  'list/pages: a page token skips an account',
  'list/delete-between-pages: page tokens are offsets',
  'details/no-credentials: details shows the access token',
  'create/other-organization: a 409 across scopes',
  'delete/execute: a deleted account still executes',
  'execute/tool-before-state: the state of the account is checked before the tool',
  'bearer/challenge: a 401 lacks WWW-Authenticate',
  'errors/code-404: a 404 has code 3',
  'time/link: a link works after its expiry',
  'consent/state: state does not come back',
  'providers/update-metadata: update merges metadata',
]

it('are at least sixty, and each has a check that must detect it', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(60)
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
