import { expect, it } from 'vitest'
import {
  type Collection,
  collectionNamed,
  compareKeys,
  type Conditions,
  conditionsOf,
  itemId,
  itemKey,
  testOfConditions,
  placeId,
  plainText,
  sortKey,
} from '../../../src/model/domain/collection.ts'
import type { JsonObject, JsonValue } from '../../../src/model/domain/json.ts'

it('a collection of a connector is found by its own name', () => {
  const messages = { key: 'id' } as Collection
  expect(collectionNamed({ collections: { messages } }, 'messages')).toBe(messages)
  expect(collectionNamed({ collections: { messages } }, 'constructor')).toBeUndefined()
  expect(collectionNamed({}, 'messages')).toBeUndefined()
})

it('an item has an id that is unique across connectors, collections and accounts', () => {
  const place = { connector: 'mail', collection: 'messages', account_id: 'a/b' }
  expect(placeId(place)).toBe('mail/messages/a%2Fb')
  expect(itemId(place, 'c/d')).toBe('mail/messages/a%2Fb/c/d')
})

it.each([
  [{ id: 'm1' }, 'm1'],
  [{ id: 0 }, '0'],
  [{ id: '' }, undefined],
  [{ id: true }, undefined],
  [{}, undefined],
])('an item: %j has the key %j', (item, key) => {
  expect(itemKey({ key: 'id' }, item)).toBe(key)
})

it('the conditions of a document are one for each path and operator', () => {
  expect(conditionsOf({ state: 'open', size: { gt: 1, lt: 9 } })).toEqual([
    { path: 'state', operator: 'eq', wanted: 'open', isEmpty: false },
    { path: 'size', operator: 'gt', wanted: 1, isEmpty: false },
    { path: 'size', operator: 'lt', wanted: 9, isEmpty: false },
  ])
})

it.each<[JsonValue, boolean]>([
  ['', true],
  [null, true],
  [[], true],
  [['', null], true],
  [['', 'a'], false],
  [false, false],
  [0, false],
])('the conditions of a document: with %j are empty: %s', (wanted, expected) => {
  expect(conditionsOf({ state: { eq: wanted } })[0]?.isEmpty).toBe(expected)
})

const meets = (conditions: Conditions, item: JsonObject): boolean => testOfConditions(conditionsOf(conditions))(item)

it.each<[JsonValue, JsonValue | undefined, boolean]>([
  [7, 7, true],
  // Query parameters are texts.
  ['7', 7, true],
  ['true', true, true],
  ['7', 8, false],
  ['a', 'A', false],
  ['', undefined, true],
  [{ eq: { b: 1 } }, { b: 1 }, true],
  [['a', 'b'], 'b', true],
  [['a', 'b'], 'c', false],
  ['b', ['a', 'b'], true],
  ['c', ['a', 'b'], false],
  [{ not: 'a' }, 'b', true],
  [{ not: 'a' }, 'a', false],
  [{ not: 'a' }, undefined, true],
  [{ not: ['a', 'b'] }, 'b', false],
  [{ exists: true }, 0, true],
  [{ exists: true }, false, true],
  [{ exists: true }, '', false],
  [{ exists: 'true' }, 1, true],
  [{ exists: false }, undefined, true],
  [{ exists: false }, null, true],
  [{ exists: 'false' }, 1, false],
  [{ gt: 1 }, 2, true],
  [{ gt: 1 }, 1, false],
  [{ gte: 1 }, 1, true],
  [{ gte: 1 }, 0, false],
  [{ lt: 1 }, 0, true],
  [{ lt: 1 }, 1, false],
  [{ lte: 1 }, 1, true],
  [{ lte: 1 }, 2, false],
  [{ gt: 9 }, '10', true],
  [{ gt: '9' }, 10, true],
  [{ gt: '9' }, '10', false],
  // A text that is not a number is neither greater nor less than a number.
  [{ gt: 1 }, 'soon', false],
  [{ lt: 1 }, 'soon', false],
  [{ lt: 1 }, undefined, false],
  [{ lt: 1 }, '', false],
  [{ lt: 'b' }, 'a', true],
  [{ gt: '2026-01-01T00:00:00+02:00' }, '2025-12-31T23:00:00Z', true],
  [{ contains: 'LLO' }, 'hello', true],
  [{ contains: 'x' }, 'hello', false],
  [{ contains: '' }, undefined, true],
  [{ contains: 'b' }, ['abc'], true],
  [{ starts_with: 'HE' }, 'hello', true],
  [{ starts_with: 'llo' }, 'hello', false],
])('an item under conditions: %j against %j: %s', (condition, found, expected) => {
  expect(meets({ at: condition }, found === undefined ? {} : { at: found })).toBe(expected)
})

it('an item under conditions has to meet each condition, at any path', () => {
  const item = { from: { name: 'ada' }, size: 2 }
  expect(meets({ 'from.name': 'ada', size: 2 }, item)).toBe(true)
  expect(meets({ 'from.name': 'ada', size: 3 }, item)).toBe(false)
})

it.each<[JsonValue | undefined, string]>([
  [undefined, ''],
  [null, ''],
  [false, 'false'],
  [{ a: 1 }, '{"a":1}'],
  [[1], '[1]'],
])('the text of a value: %j is %j', (value, text) => {
  expect(plainText(value)).toBe(text)
})

it.each<[JsonValue | undefined, number | string | null]>([
  [undefined, null],
  ['', null],
  [7, 7],
  [true, 'true'],
  ['2026-01-01', '2026-01-01T00:00:00.000Z'],
  ['2026-01-01T01:00:00+01:00', '2026-01-01T00:00:00.000Z'],
  ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  // These have the length of a UTC timestamp, but an offset.
  ['2026-01-01T01:00:00.+01:0', '2026-01-01T01:00:00.+01:0'],
  ['2026-01-01T01:00+01:00', '2026-01-01T00:00:00.000Z'],
  ['2026-99-99', '2026-99-99'],
  ['2026-01-01 and more', '2026-01-01 and more'],
  ['on 2026-01-01', 'on 2026-01-01'],
  ['20260-01-01T00:00Z', '20260-01-01T00:00Z'],
])('the order of values: %j is sorted by %j', (value, key) => {
  expect(sortKey(value)).toBe(key)
})

it('the order of values puts numbers before texts, and missing values last', () => {
  const sorted = [null, 'b', 2, 'a', null, 10, 'b'].sort(compareKeys)
  expect(sorted).toEqual([2, 10, 'a', 'b', 'b', null, null])
  expect([compareKeys(1, 1), compareKeys(null, null), compareKeys(1, 'a'), compareKeys('a', 1)]).toEqual([0, 0, -1, 1])
  expect([compareKeys(null, 1), compareKeys(1, null), compareKeys(1, 2), compareKeys(2, 1)]).toEqual([1, -1, -1, 1])
})
