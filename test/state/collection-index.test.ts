import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CollectionItem, type Condition, itemId } from '../../src/domain/collection.ts'
import { CollectionIndex, ItemSet, type SortField } from '../../src/state/model/collection-index.ts'

const PLACE = { connector: 'a', collection: 'c', account_id: '' }
const value = fc.constantFrom(1, 2, 10, '2', '10', 'x', '', null, true, '2026-01-01', '2026-01-01T02:00:00+02:00', [
  'x',
  1,
])
const change = fc.record({ key: fc.integer({ min: 0, max: 9 }), a: value, b: value, gone: fc.boolean() })
const SORTS: SortField[][] = [
  [],
  [{ path: 'a', descending: false }],
  [
    { path: 'a', descending: true },
    { path: 'b', descending: false },
  ],
]
const CONDITIONS: Condition[][] = [
  [],
  [{ path: 'b', operator: 'eq', wanted: 'x' }],
  [
    { path: 'b', operator: 'eq', wanted: '1' },
    { path: 'a', operator: 'gte', wanted: '2026-01-01' },
  ],
  [{ path: 'a', operator: 'lt', wanted: 'y' }],
]

describe('items in an order', () => {
  it('are the same whether the order was kept through changes or is made anew', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const index = new CollectionIndex()
        const rows = new Map<number, CollectionItem>()
        const pages = (items: ItemSet): string[][] =>
          SORTS.flatMap((sort) =>
            CONDITIONS.map((conditions) =>
              items
                .find({ conditions, words: [], wordFields: [], sort, skip: 0, limit: 100 })
                .items.map(({ id }) => id),
            ),
          )
        for (const [at, { key, a, b, gone }] of changes.entries()) {
          const before = rows.get(key)
          const sequence = before?.sequence ?? at
          const after = gone ? undefined : { ...PLACE, id: itemId(PLACE, String(key)), sequence, item: { a, b } }
          index.update(before, after)
          if (after) rows.set(key, after)
          else rows.delete(key)
          pages(index.at(PLACE))
        }
        const fresh = new ItemSet()
        for (const row of rows.values()) fresh.update(undefined, row)
        expect(pages(index.at(PLACE))).toEqual(pages(fresh))
      }),
      { numRuns: 100 },
    )
  })
})
