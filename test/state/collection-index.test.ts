import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type CollectionItem,
  compareKeys,
  type Condition,
  itemId,
  testOfConditions,
  OPERATORS,
  plainText,
  sortKey,
} from '../../src/model/domain/collection.ts'
import type { JsonObject, JsonValue } from '../../src/model/domain/json.ts'
import {
  CollectionIndex,
  type ItemQuery,
  ItemSet,
  itemPosition,
  type SortField,
} from '../../src/state/model/collection-index.ts'

const PLACE = { connector: 'a', collection: 'c', account_id: '' }
const value: fc.Arbitrary<JsonValue> = fc.constantFrom(
  1,
  2,
  10,
  '2',
  '10',
  'x',
  '',
  null,
  true,
  '2026-01-01',
  '2026-01-01T02:00:00+02:00',
  ['x', 1],
)
interface Change {
  key: number
  a: JsonValue
  b: JsonValue
  gone: boolean
}
const change: fc.Arbitrary<Change> = fc.record({
  key: fc.integer({ min: 0, max: 9 }),
  a: value,
  b: value,
  gone: fc.boolean(),
})
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

it('items in an order are the same in an updated order and in a rebuilt one', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const index = new CollectionIndex()
      const rows = new Map<number, CollectionItem>()
      const pages = (items: ItemSet): string[][] =>
        SORTS.flatMap((sort) =>
          CONDITIONS.map((conditions) =>
            items.find({ conditions, words: [], wordFields: [], sort, skip: 0, limit: 100 }).items.map(({ id }) => id),
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

/** One value of the list is within the bound, and the list's JSON is not. */
const LIST_IN_BOUNDS: [CollectionItem['item'][], ItemQuery[], Change] = [
  [{ a: ['x', 1], b: 1, c: '' }],
  [
    {
      conditions: [{ path: 'a', operator: 'gte', wanted: 'plan b' }],
      words: [],
      wordFields: [],
      sort: [{ path: 'a', descending: true }],
      skip: 0,
      limit: 1,
    },
  ],
  { key: 9, a: null, b: null, gone: false },
]

const text = fc.constantFrom('Lunch at noon', 'noon', 'LUNCH\tplan', 'plan b', '', '[list]', 'a.b')
const item: fc.Arbitrary<JsonObject> = fc.record({ a: value, b: fc.oneof(value, text), c: text })
const condition: fc.Arbitrary<Condition> = fc.record({
  path: fc.constantFrom('a', 'b', 'c'),
  operator: fc.constantFrom(...OPERATORS),
  wanted: fc.oneof(value, text),
})
const query: fc.Arbitrary<ItemQuery> = fc.record({
  conditions: fc.array(condition, { maxLength: 3 }),
  words: fc.array(fc.constantFrom('lunch', 'noon', 'plan', 'n', 'b', 'missing'), { maxLength: 2 }),
  wordFields: fc.constantFrom([], ['c'], ['b', 'c']),
  sort: fc.constantFrom<SortField[]>(...SORTS, [{ path: 'b', descending: true }], [{ path: 'b', descending: false }]),
  skip: fc.constantFrom(0, 0, 2),
  limit: fc.constantFrom(1, 3, 100),
})

it('a query finds the same items as a scan, in the same order, page by page, also after changes', () => {
  fc.assert(
    fc.property(
      fc.array(item, { maxLength: 20 }),
      fc.array(query, { maxLength: 6 }),
      change,
      (items, queries, last) => {
        const rows = items.map((each, at) => ({
          ...PLACE,
          id: itemId(PLACE, String(at)),
          sequence: at + 1,
          item: each,
        }))
        const set = new ItemSet()
        for (const row of rows) set.update(undefined, row)
        const check = (): void => {
          for (const asked of queries) {
            const expected = expectedRows(rows, asked)
            const { limit, skip, sort } = asked
            let page = set.find(asked)
            expect(page.total).toBe(expected.length)
            for (let from = skip; ; from += limit) {
              const wanted = expected.slice(from, from + limit)
              expect(page.items.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id))
              expect(page.hasMore).toBe(from + limit < expected.length)
              const end = page.items.at(-1)
              if (!page.hasMore || !end) break
              page = set.find({ ...asked, skip: 0, after: itemPosition(end, sort) })
            }
          }
        }
        check()
        const before = rows[last.key]
        const after = before && !last.gone ? { ...before, item: { a: last.a, b: last.b, c: 'new plan' } } : undefined
        if (before) set.update(before, after)
        if (before) rows.splice(last.key, 1, ...(after ? [after] : []))
        check()
      },
    ),
    { numRuns: 300, examples: [LIST_IN_BOUNDS] },
  )
})

it('a query finds the same among so many items that only those with the text or within the bound are sorted', () => {
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 3, maxLength: 20 }),
      fc.array(query, { maxLength: 6 }),
      (items, queries) => {
        const rows = Array.from({ length: 3000 }, (_, at) => {
          // Every item once, then the first two repeatedly.
          const each = items[at] ?? items[at % 2] ?? {}
          return { ...PLACE, id: itemId(PLACE, String(at)), sequence: at + 1, item: each }
        })
        const set = new ItemSet()
        for (const row of rows) set.update(undefined, row)
        for (const asked of queries) {
          const expected = expectedRows(rows, asked)
          const page = set.find(asked)
          const wanted = expected.slice(asked.skip, asked.skip + asked.limit)
          expect(page.items.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id))
          expect([page.total, page.hasMore]).toEqual([expected.length, asked.skip + asked.limit < expected.length])
        }
      },
    ),
    { numRuns: 60 },
  )
})

it('a query sorts the few items within a bound on another field than the sorted one', () => {
  const set = new ItemSet()
  for (let at = 0; at < 3000; at++) {
    const each = { a: (at * 11) % 3000, b: (at * 7) % 3000 }
    set.update(undefined, { ...PLACE, id: itemId(PLACE, String(at)), sequence: at + 1, item: each })
  }
  const find = (sort: SortField[]): JsonValue[] => {
    const conditions: Condition[] = [{ path: 'b', operator: 'lte', wanted: '2' }]
    return set
      .find({ conditions, words: [], wordFields: [], sort, skip: 0, limit: 10 })
      .items.map(({ item: { a, b } }) => `a ${plainText(a)} b ${plainText(b)}`)
  }
  expect(find([])).toEqual(['a 0 b 0', 'a 2146 b 2', 'a 2573 b 1'])
  expect(find([{ path: 'a', descending: true }])).toEqual(['a 2573 b 1', 'a 2146 b 2', 'a 0 b 0'])
})

it('a query still finds every item that contains a text after many changes', () => {
  const set = new ItemSet()
  const rowAt = (sequence: number, c: string): CollectionItem => ({
    ...PLACE,
    id: itemId(PLACE, String(sequence)),
    sequence,
    item: { c },
  })
  const find = (word: string): number[] =>
    set
      .find({ conditions: [], words: [word], wordFields: ['c'], sort: [], skip: 0, limit: 10 })
      .items.map(({ sequence }) => sequence)
  let row: CollectionItem | undefined
  for (let at = 0; at <= 12_000; at++) {
    const before = row
    row = rowAt(1, `same word${String(at)}`)
    set.update(before, row)
    if (at % 500 === 0) expect(find(`word${String(at)}`)).toEqual([1])
  }
  expect([find('same'), find('word11999'), find('word12000')]).toEqual([[1], [], [1]])
})

function expectedRows(
  rows: readonly CollectionItem[],
  { conditions, words, wordFields, sort }: ItemQuery,
): CollectionItem[] {
  const isMet = testOfConditions(conditions)
  const textOf = (row: CollectionItem): string =>
    Object.entries(row.item)
      .filter(([name]) => wordFields.length === 0 || wordFields.includes(name))
      .map(([, each]) => plainText(each).toLowerCase())
      .join('\n')
  return rows
    .filter((row) => isMet(row.item) && words.every((word) => textOf(row).includes(word)))
    .sort((a, b) => {
      for (const { path, descending } of sort) {
        const order = compareKeys(sortKey(a.item[path]), sortKey(b.item[path]))
        if (order !== 0) return descending ? -order : order
      }
      return a.sequence - b.sequence
    })
}
