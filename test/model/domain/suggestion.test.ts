import { expect, it } from 'vitest'
import { didYouMean, nearest, nearMiss } from '../../../src/model/domain/suggestion.ts'

const FLAGS = ['port', 'host', 'base-url', 'in-memory', 'seed', 'tls', 'help', 'log-level']

it.each([
  ['prot', 'port'],
  ['hots', 'host'],
  ['PORT', 'port'],
  ['baseurl', 'base-url'],
  ['in-memry', 'in-memory'],
  ['log-levle', 'log-level'],
  ['sed', 'seed'],
])('nearest matches %s with %s', (word, meant) => {
  expect(nearest(word, FLAGS)).toBe(meant)
})

it.each(['', 'x', 'verbose', 'xyzzy', 'constructor', '__proto__'])('nearest has no match for %j', (word) => {
  expect(nearest(word, FLAGS)).toBeUndefined()
})

it('nearest prefers the nearer of two words', () => {
  expect(nearest('seeds', ['speed', 'seed'])).toBe('seed')
})

it('a suggestion is added to a message where there is one', () => {
  expect(didYouMean('prot', FLAGS)).toBe(' (did you mean port?)')
  expect(didYouMean('verbose', FLAGS)).toBe('')
})

it.each([
  // Words of up to three letters may have one edit, longer ones a third of their letters.
  ['ab', 'abc', true],
  ['a', 'b', false],
  ['ab', 'cd', false],
  ['abcdef', 'abcdxy', true],
  ['abcdef', 'abcxyz', false],
  ['abcd', 'abdc', true],
  ['abcd', 'badc', false],
  ['abcd', 'abdx', false],
  ['abcd', 'abxc', false],
  ['xport', 'port', true],
  ['abcdef', 'badcef', true],
  ['abcdef', 'abcdefgh', true],
  ['abcdef', 'abcdefghi', false],
  ['abxc', 'axbc', true],
  ['abcd', 'bcxd', false],
])('a suggestion: of %s is %s: %s', (word, candidate, isMeant) => {
  expect(nearest(word, [candidate])).toBe(isMeant ? candidate : undefined)
})

it.each([
  ['Connector', 'connector', true],
  ['organizationId', 'organization_id', true],
  ['user-id', 'user_id', true],
  ['conector', 'connector', true],
  ['conectr', 'connector', true],
  ['onectr', 'connector', false],
  // One edit below six letters, two from six letters on.
  ['stat', 'state', true],
  ['abcde', 'abxye', false],
  ['abcdef', 'abxyef', true],
  ['abcdef', 'axxxef', false],
  // No letter is the same.
  ['a', 'b', false],
  ['a', 'ab', false],
  ['_', 'a', false],
])('a near miss (G6): %s of %s: %s', (name, known, isMeant) => {
  expect(nearMiss(name, [known])).toBe(isMeant ? known : undefined)
})

it('a near miss (G6) is of the nearest name, and of the first of two', () => {
  expect(nearMiss('identifer', ['identyfier', 'identifier'])).toBe('identifier')
  expect(nearMiss('abcdef', ['abcdex', 'abcdey'])).toBe('abcdex')
})
