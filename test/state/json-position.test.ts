import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findSyntaxError, textPosition } from '../../src/state/state-file/json-position.ts'

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

it('the position of a syntax error is there for a text that the engine refuses, and for no other', () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', ',', '}', ']', '{', '"', ':', '0', 'x', '\n'),
      (text, at, sign) => {
        const place = at % (text.length + 1)
        const changed = text.slice(0, place) + sign + text.slice(place + (at % 2))
        expect([changed, findSyntaxError(changed) === undefined]).toEqual([changed, isJson(changed)])
      },
    ),
    { numRuns: 2000 },
  )
})

it.each([
  ['[1,]', 1, 4, '"]"'],
  ['{"a":1,}', 1, 8, '"}"'],
  ['{"a"\n 1}', 2, 2, '"1"'],
  ['[1 2]', 1, 4, '"2"'],
  ['', 1, 1, 'the end of the file'],
  ['{"a":"\t"}', 1, 6, '"\\""'],
])('the position of a syntax error: of %j is line %d, column %d', (text, line, column, found) => {
  expect(findSyntaxError(text)).toEqual({ line, column, found })
})

it.each<[(string | number)[], number, number]>([
  [[], 1, 1],
  [['b'], 2, 8],
  [['b', 1], 2, 12],
  [['b', 1, 'a'], 2, 18],
  [['b', 1, 'missing'], 2, 12],
  [['c', 'b'], 3, 8],
])('the position of a path: %j is line %d, column %d', (path, line, column) => {
  const text = '{"a": {"b": 1},\n  "b": [0, {"a": 2}],\n  "c": {}}'
  expect(textPosition(text, path)).toEqual({ line, column })
})

it('the position of a path goes as far as the stack in a value that nests deeper', () => {
  const text = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)},"b":1}`
  expect(textPosition(text, ['b'])).toEqual({ line: 1, column: 1 })
  expect(findSyntaxError(text)).toBeUndefined()
})
