import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Vocabulary, wireWord } from '../../../src/model/domain/vocabulary.ts'

it('is one to one for any mapping, so that no two words collide', () => {
  const word = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
  fc.assert(
    fc.property(fc.dictionary(word, word), word, (words, any) => {
      const vocabulary = new Vocabulary(words)
      expect(vocabulary.document(vocabulary.wire(any))).toBe(any)
      expect(vocabulary.wire(vocabulary.document(any))).toBe(any)
    }),
  )
})

it('lets error codes share a word, because only answers have them (G48)', () => {
  const vocabulary = new Vocabulary({ TOOL_NOT_FOUND: 'GONE', ACCOUNT_NOT_FOUND: 'GONE', TIMED_OUT: 'INTERNAL' })
  const codes = ['TOOL_NOT_FOUND', 'ACCOUNT_NOT_FOUND', 'PROVIDER_NOT_FOUND', 'TIMED_OUT', 'INTERNAL']
  expect(codes.map((code) => vocabulary.wire(code))).toEqual([
    'GONE',
    'GONE',
    'PROVIDER_NOT_FOUND',
    'INTERNAL',
    'INTERNAL',
  ])
  expect(vocabulary.document('GONE')).toBe('TOOL_NOT_FOUND')
  expect(vocabulary.document('INTERNAL')).toBe('INTERNAL')
  expect(vocabulary.prose('ACCOUNT_NOT_FOUND')).toBe('GONE')
})

it.each([
  ['a chain', { a: 'b', b: 'c' }, { a: 'b', b: 'c', c: 'a' }],
  ['a swap', { a: 'b', b: 'a' }, { a: 'b', b: 'a' }],
  ['a word for itself', { a: 'a' }, { a: 'a', b: 'b' }],
  ['harmless names', { constructor: 'maker' }, { constructor: 'maker', toString: 'toString' }],
])('maps %s', (_kind, words, expected) => {
  const vocabulary = new Vocabulary(words)
  for (const [word, wire] of Object.entries(expected)) expect(vocabulary.wire(word)).toBe(wire)
})

it.each([
  ['send status or id', 'send phase or id'],
  ['body.status[0].x: found nothing', 'body.phase[0].x: found nothing'],
  ['found the string "status"', 'found the string "phase"'],
  ['found the string "phase"', 'found the string "status"'],
  ['phase is no word of the document', 'phase is no word of the document'],
  ['the text "of a status" stays', 'the text "of a status" stays'],
  ['status@example.com and /api/status stay', 'status@example.com and /api/status stay'],
  ['the statuses stay', 'the statuses stay'],
])('turns the text %j into %j', (text, expected) => {
  expect(new Vocabulary({ status: 'phase' }).prose(text)).toBe(expected)
})

it('changes the words that it names, and no others', () => {
  const vocabulary = new Vocabulary({ status: 'phase', connector: 'connector' })
  expect(['status', 'phase', 'connector', 'toString'].map((word) => vocabulary.has(word))).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect([wireWord({ status: 'phase' }, 'status'), wireWord({}, 'constructor')]).toEqual(['phase', 'constructor'])
})

it('keeps the given words of a text', () => {
  const vocabulary = new Vocabulary({ status: 'phase' })
  const kept = new Set(['status'])
  expect(vocabulary.prose('status of "status" at status[0]', kept)).toBe('status of "status" at phase[0]')
  expect(vocabulary.prose('body.status and status', new Set(), (path) => `<${path}>`)).toBe('<body.status> and phase')
  expect(vocabulary.prose('"a status" and "status"')).toBe('"a status" and "phase"')
})
