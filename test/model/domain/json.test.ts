import { expect, it } from 'vitest'
import {
  excessOf,
  extentOf,
  fieldValues,
  isJsonObject,
  MAX_KEYS,
  MAX_VALUES,
  nestsDeeper,
  ownMember,
  withoutUndefined,
  setOwn,
} from '../../../src/model/domain/json.ts'
import { dottedPaths, equalValues, matchesValue, valueAt } from '../../../src/model/domain/value-match.ts'
import { preparePatterns } from '../../../src/model/domain/text-pattern.ts'
import { cpuTime } from '../../support/cpu-time.ts'

it('the fields of a query or a form have a list where one is sent more than once, and may have any name', () => {
  const fields = fieldValues(new URLSearchParams('a=1&b=&a=2&__proto__=3&a=4&constructor=5'))
  expect(Object.entries(fields)).toEqual([
    ['a', ['1', '2', '4']],
    ['b', ''],
    ['__proto__', '3'],
    ['constructor', '5'],
  ])
})

it.each([null, undefined, [], 'text', 7])('a JSON object is not %j', (value) => {
  expect(isJsonObject(value)).toBe(false)
})

it('a JSON object has own properties only', () => {
  expect(ownMember({ a: 1 }, 'a')).toBe(1)
  expect(ownMember({ a: 1 }, 'constructor')).toBeUndefined()
  expect(isJsonObject({})).toBe(true)
})

it('a JSON object gets an own property under any name', () => {
  const object = {}
  setOwn(object, 'a', 1)
  setOwn(object, '__proto__', { b: 2 })
  setOwn(object, '__proto__', { c: 3 })
  expect(JSON.stringify(object)).toBe('{"a":1,"__proto__":{"c":3}}')
  expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
})

it('a JSON object keeps what is null or empty when undefined values are left out', () => {
  const found = Object.entries(withoutUndefined({ a: undefined, b: null, c: '', d: 0 }))
  expect(found).toEqual([
    ['b', null],
    ['c', ''],
    ['d', 0],
  ])
})

it.each([
  [`${'['.repeat(10)}${']'.repeat(10)}`, false],
  [`${'['.repeat(11)}${']'.repeat(11)}`, true],
  [`${'{"a":'.repeat(10)}1${'}'.repeat(10)}`, false],
  [`${'{"a":'.repeat(11)}1${'}'.repeat(11)}`, true],
  [`["${'['.repeat(40)}"]`, false],
])('JSON text: %s nests deeper than 10 levels: %s', (text, expected) => {
  expect(nestsDeeper(text, 10)).toBe(expected)
})

it.each([
  ['', { depth: 0, keys: 0, values: 1 }],
  ['{}', { depth: 1, keys: 0, values: 2 }],
  ['{"a":1,"b":[2,3]}', { depth: 2, keys: 2, values: 5 }],
  ['[[],[]]', { depth: 2, keys: 0, values: 5 }],
  ['[{},{}]', { depth: 2, keys: 0, values: 5 }],
  // Brackets in a string do not count, and an escaped quotation mark does not end the string.
  [String.raw`["{[:,\"{[:,"]`, { depth: 1, keys: 0, values: 2 }],
  [String.raw`["\\",{}]`, { depth: 2, keys: 0, values: 4 }],
  ['["a",["b"]]', { depth: 2, keys: 0, values: 4 }],
])('the extent of a JSON text: of %s is %j', (text, extent) => {
  expect(extentOf(text)).toEqual(extent)
})

it('the extent of a JSON text is too large from one key or one value above the limit', () => {
  expect(excessOf({ keys: MAX_KEYS, values: MAX_VALUES })).toBeUndefined()
  expect(excessOf({ keys: MAX_KEYS + 1, values: 0 })).toEqual({
    found: 'one with more than 100000 keys',
    allowed: 'at most 100000',
  })
  expect(excessOf({ keys: 0, values: MAX_VALUES + 1 })).toEqual({
    found: 'one with more than 250000 values',
    allowed: 'at most 250000',
  })
})

const message = { to: [{ address: 'ada' }], cc: {}, read: false, 'a.b': 1 }

it.each([
  ['read', false],
  ['to.0.address', 'ada'],
  ['to.1.address', undefined],
  ['to.length', 1],
  ['to.0.address.length', undefined],
  ['constructor', undefined],
  ['cc.constructor', undefined],
  ['subject.text', undefined],
])('a dotted path: %s leads to %j', (path, found) => {
  expect(valueAt(message, path)).toBe(found)
})

it('a dotted path is undefined in a value that is not an object', () => {
  expect([valueAt(null, 'a'), valueAt(undefined, 'a'), valueAt('text', 'length')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

it('a dotted path: names each value of nested objects; lists and empty objects are values', () => {
  expect(dottedPaths({ a: { b: { equals: '*' } } })).toEqual({ 'a.b': { equals: '*' } })
  expect(dottedPaths({ a: { matches: '^b' } })).toEqual({ a: { matches: '^b' } })
  expect(dottedPaths({ a: { matches: '^b', c: 1 } })).toEqual({ 'a.matches': '^b', 'a.c': 1 })
  expect(dottedPaths({ a: { b: { c: 1 }, d: [2] }, e: {}, f: null })).toEqual({
    'a.b.c': 1,
    'a.d': [2],
    e: {},
    f: null,
  })
})

await preparePatterns('matches')

it.each([
  ['*', 7, true],
  ['*', null, true],
  ['*', undefined, false],
  ['a*', 'abc', true],
  ['a*', 'bc', false],
  ['a*', 7, false],
  ['7', 7, false],
  [7, 7, true],
  [7, '7', false],
  [null, null, true],
  [null, undefined, false],
  [[1, 2], [1, 2], true],
  [[1, 2], [1], false],
  [[1], [1, 2], false],
  [[1, 2], [2, 1], false],
  [[], {}, false],
  [{}, [], false],
  [[1], { 0: 1 }, false],
  [{ 0: 1 }, [1], false],
  [{ length: 0 }, [], false],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1, b: 2 }, { a: 1, c: 2 }, false],
  [{ a: null }, { b: null }, false],
  [{ a: { b: [1] } }, { a: { b: [2] } }, false],
  [{}, null, false],
  [null, {}, false],
  [{ equals: '*' }, 'any', false],
  [{ equals: '*' }, '*', true],
  [{ equals: { matches: 'a' } }, { matches: 'a' }, true],
  [{ matches: '^a.c$' }, 'abc', true],
  [{ matches: '^a.c$' }, 'xabc', false],
  [{ matches: 'b' }, 'abc', true],
  [{ matches: '7' }, 7, false],
  [{ matches: '' }, undefined, false],
  // What an earlier version has stored and cannot run matches nothing.
  [{ matches: '(' }, '(', false],
])('a wanted value: %j against %j: %s', (wanted, found, expected) => {
  expect(matchesValue(wanted, found)).toBe(expected)
})

it('a wanted value is looked for in time that grows with the text alone', async () => {
  const time = await cpuTime(() => {
    expect(matchesValue({ matches: '^(a+)+$' }, `${'a'.repeat(10_000)}b`)).toBe(false)
    // What is beyond the work of one check does not match.
    expect(matchesValue({ matches: `^(${'a?'.repeat(900)})+$` }, 'a'.repeat(1_000_000))).toBe(false)
    expect(matchesValue({ matches: '^a+$' }, 'a'.repeat(10))).toBe(true)
  })
  expect(time).toBeLessThan(10_000)
})

it('a wanted value matches itself at any depth', () => {
  expect(equalValues({ toString: 1 }, { valueOf: 1 })).toBe(false)
})
