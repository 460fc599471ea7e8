import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SequenceRows } from '../../src/state/model/sequence-rows.ts'

it('SequenceRows holds what a map would hold, after any history', () => {
  const sequence = fc.oneof(fc.integer({ min: -3, max: 40 }), fc.integer({ min: 1000, max: 1050 }), fc.maxSafeInteger())
  const step = fc.record({ sequence, row: fc.option(fc.string({ maxLength: 2 }), { nil: undefined }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [rows, naive] = [new SequenceRows<string>(), new Map<number, string>()]
      for (const each of steps) {
        if (each.row === undefined) {
          rows.delete(each.sequence)
          naive.delete(each.sequence)
        } else {
          rows.set(each.sequence, each.row)
          naive.set(each.sequence, each.row)
        }
        for (const { sequence: at } of steps) expect(rows.get(at)).toBe(naive.get(at))
        expect([...rows.values()].sort()).toEqual([...naive.values()].sort())
      }
    }),
    { numRuns: 200 },
  )
})
