import fc from 'fast-check'
import { expect, it } from 'vitest'
import { extentOf, jsonText, parseJson } from '../../../src/model/domain/json.ts'
import { membersIn, repeatedMembers } from '../../../src/model/domain/repeated-members.ts'

it.each<[text: string, value: number | bigint]>([
  ['9007199254740993', 9007199254740993n],
  ['-9007199254740993', -9007199254740993n],
  ['9007199254740993.0', 9007199254740993n],
  ['9.007199254740993e15', 9007199254740993n],
  ['9223372036854775807', 9223372036854775807n],
  ['1e400', 10n ** 400n],
  ['-1.5E+400', -15n * 10n ** 399n],
  [`${'9'.repeat(400)}.5`, BigInt('9'.repeat(400))],
  // What a double holds stays one.
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', 9007199254740992],
  ['9007199254740994', 9007199254740994],
  ['1e300', 1e300],
  ['1e23', 1e23],
  ['1e2', 100],
  ['0e99999', 0],
  ['1e-400', 0],
  ['0.1234567890123456789', 0.12345678901234568],
  ['12345678901234567.5', 12345678901234568],
])('a number that a double cannot hold: %s is %s', (text, value) => {
  expect(parseJson(text)).toBe(value)
  expect(parseJson(`{"a": [ ${text}]}`)).toEqual({ a: [value] })
  expect(parseJson(jsonText(parseJson(text)))).toBe(value)
})

it('a number that a double cannot hold is told from texts and keys that look like one', () => {
  const text =
    '{"9007199254740993":"9007199254740993","a":"n9007199254740993","__proto__":[9007199254740993,"\\"s\\":"]}'
  expect(jsonText(parseJson(text))).toBe(text)
  expect(Object.keys(parseJson(text) as object)).toContain('__proto__')
})

it('a number that a double cannot hold has at most 1,000 digits', () => {
  expect(parseJson('1e999')).toBe(10n ** 999n)
  expect(() => parseJson('1e1000')).toThrow('a number has more than 1000 digits')
  expect(() => parseJson('[1e999999999]')).toThrow('a number has more than 1000 digits')
})

it('a number that a double cannot hold is written with indentation', () => {
  expect(jsonText({ a: 'b', c: [9007199254740993n] }, 2)).toBe('{\n  "a": "b",\n  "c": [\n    9007199254740993\n  ]\n}')
})

it('reads and writes every value as JSON.parse and JSON.stringify do', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseJson(text)).toEqual(JSON.parse(text))
      expect(jsonText(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)))
      expect(membersIn(parseJson(text))).toBeLessThanOrEqual(extentOf(text).keys)
      expect(repeatedMembers(JSON.stringify(JSON.parse(text)))).toEqual([])
    }),
  )
})

it.each([
  ['{"a":1,"a":2,"a":3}', [{ path: ['a'], first: 1, last: 3 }]],
  ['{"a":1,"\\u0061":2}', [{ path: ['a'], first: 1, last: 2 }]],
  ['{"b":[{"c" : {"x":1}, "c":null}]}', [{ path: ['b', 0, 'c'], first: { x: 1 }, last: null }]],
  ['{"__proto__":1,"__proto__":2}', [{ path: ['__proto__'], first: 1, last: 2 }]],
  ['{"a":{"a":1},"b":{"a":1}}', []],
  ['{"a":"\\"a\\":1","b":", \\"a\\":"}', []],
])('the members of %s that are repeated', (text, repeated) => {
  expect(repeatedMembers(text)).toEqual(repeated)
})
