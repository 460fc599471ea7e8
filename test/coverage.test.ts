import { describe, expect, inject, it } from 'vitest'
import { ROUTES } from '../src/model/contract/route.ts'
import { OPERATIONS } from '../src/service/operations/table.ts'
import { recordedExchanges } from './support/recorded-exchanges.ts'

describe('every operation of the spec has tests', () => {
  it('names the same operations as the table of handlers', () => {
    const declared = ROUTES.map(({ operation }) => operation)
    expect(Object.keys(OPERATIONS).sort()).toEqual([...declared].sort())
  })

  // Runs after all other files (.config/vitest.config.ts), and only in a run of all tests.
  it.runIf(inject('wholeRun')).each(ROUTES)(
    'produce every declared status of $operation',
    ({ operation, statuses }) => {
      const produced = recordedExchanges()
      const missing = statuses.filter((status) => !produced.has(`${operation} ${status}`))
      expect(missing, `no test brought ${operation} to answer these statuses`).toEqual([])
    },
  )
})
