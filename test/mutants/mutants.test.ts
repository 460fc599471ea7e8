import { describe, expect, it } from 'vitest'
import { CHECKS } from '../../src/conform/checks/table.ts'
import { conformOf } from './broken-mock.ts'
import { MUTANTS } from './table.ts'

/** `npm run test:mutants` holds the whole suite against all of them. */
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
  it('are at least sixty, and each has a name of its own and a check that is meant to catch it', () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(60)
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
    const ids = new Set(CHECKS.map(({ id }) => id))
    expect(MUTANTS.filter(({ caughtBy }) => !ids.has(caughtBy)).map(({ name }) => name)).toEqual([])
  })

  it.each(SHORT_FORM)('%s is caught by the check that is meant for it', async (name) => {
    const mutant = MUTANTS.find((each) => each.name === name)!
    const { checks } = await conformOf(mutant, { only: [mutant.caughtBy] })
    expect(checks.map(({ id, result }) => ({ id, result }))).toEqual([{ id: mutant.caughtBy, result: 'broken' }])
  })

  it('are all by which the proxy in between is noticed: the mock itself passes', async () => {
    const only = SHORT_FORM.map((name) => MUTANTS.find((each) => each.name === name)!.caughtBy)
    const { summary } = await conformOf({ mutate: () => undefined }, { only })
    expect(summary).toMatchObject({ broken: 0, skipped: 0 })
  })
})
