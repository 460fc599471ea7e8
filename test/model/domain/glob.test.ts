import fc from 'fast-check'
import { expect, it } from 'vitest'
import { matchesGlob } from '../../../src/model/domain/value-match.ts'

/** The definition by recursion, which is far too slow for long texts. */
function naive(pattern: string, text: string): boolean {
  if (pattern === '') return text === ''
  if (pattern.startsWith('*')) return naive(pattern.slice(1), text) || (text !== '' && naive(pattern, text.slice(1)))
  return text !== '' && pattern[0] === text[0] && naive(pattern.slice(1), text.slice(1))
}

it.each([
  ['*@blocked.example', 'eve@blocked.example', true],
  ['*@blocked.example', 'eve@example.com', false],
  ['a*a', 'a', false],
  ['ab*ba', 'aba', false],
  ['*ab*b', 'ab', false],
  ['*', '', true],
  ['', 'x', false],
  ['a.c', 'abc', false],
  ['[a-z]+', '[a-z]+', true],
  ['a?c', 'abc', false],
])('%s against %s: %s', (pattern, text, expected) => {
  expect(matchesGlob(pattern, text)).toBe(expected)
})

it('agrees with the recursive definition', () => {
  const letters = (alphabet: string[]) => fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 10 })
  fc.assert(
    fc.property(letters(['a', 'b', '*']), letters(['a', 'b', '*']), (pattern, text) => {
      expect(matchesGlob(pattern, text)).toBe(naive(pattern, text))
    }),
    { numRuns: 2000 },
  )
})

it('matches patterns and texts for which backtracking takes exponential time', () => {
  expect(matchesGlob(`${'a*'.repeat(5_000)}b`, 'a'.repeat(100_000))).toBe(false)
})
