import fc from 'fast-check'
import { expect, it } from 'vitest'
import { instant } from '../../src/model/domain/instant.ts'
import { accountDue } from '../../src/state/model/deadlines.ts'
import { Model } from '../../src/state/model/model.ts'
import { account, START } from '../support/registry.ts'

const at = (hour: number): string => instant(START + hour * 3_600_000)
const step = fc.oneof(
  fc.record({ put: fc.integer({ min: 1, max: 6 }), expires: fc.integer({ min: 0, max: 9 }), active: fc.boolean() }),
  fc.record({ remove: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ take: fc.integer({ min: 0, max: 9 }), fails: fc.boolean() }),
)

it('is found as by a scan of all accounts, after any changes, and again when its transition was undone', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const model = new Model(() => undefined)
      const { accounts } = model.tables
      /** The due accounts by a scan of all accounts. */
      const naive = (now: string): string[] =>
        [...accounts.values()].flatMap((each) => ((accountDue(each) ?? '9') <= now ? [each.id] : [])).sort()
      const apply = (now: string, fails: boolean): string[] => {
        const found: string[] = []
        model.transact(() => {
          for (let due = model.due.first(now); due; due = model.due.first(now)) {
            found.push(due.id)
            accounts.put({ ...accounts.get(due.id)!, status: 'EXPIRED' })
          }
          if (fails) throw new Error('undone')
        })
        return found.sort()
      }
      for (const each of steps) {
        if ('take' in each) {
          const now = at(each.take)
          const expected = naive(now)
          if (each.fails) expect(() => apply(now, true)).toThrow('undone')
          else expect(apply(now, false)).toEqual(expected)
        } else if ('remove' in each) model.transact(() => accounts.remove(`ca_${each.remove}`))
        else {
          const status = each.active ? 'ACTIVE' : 'EXPIRED'
          model.transact(() => accounts.put(account(each.put, { status, token_expires_at: at(each.expires) })))
        }
      }
      const rest = naive(at(9))
      expect(apply(at(9), false)).toEqual(rest)
    }),
    { numRuns: 200 },
  )
})

it('is due again when the transaction that expired it failed', () => {
  const model = new Model(() => undefined)
  const { accounts } = model.tables
  const row = account(1, { token_expires_at: at(0) })
  model.transact(() => accounts.put(row))
  expect(() =>
    model.transact(() => {
      accounts.put({ ...row, status: 'EXPIRED' })
      expect(model.due.first(at(1))).toBeUndefined()
      throw new Error('undone')
    }),
  ).toThrow('undone')
  expect(model.due.first(at(1))).toMatchObject({ id: 'ca_1' })
})
