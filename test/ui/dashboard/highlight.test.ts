import fc from 'fast-check'
import { expect, it } from 'vitest'
import { coloured } from '../../../src/ui/dashboard/highlight.ts'

/** `CLASS text` of each part with a colour. */
const colours = (text: string): string[] =>
  coloured(text).flatMap((part) => (part.class === '' ? [] : [`${part.class.replace('code-', '')} ${part.text}`]))

it.each([
  ['name: slow # at first', ['key name', 'quiet :', 'quiet # at first']],
  ['- at: third_party', ['quiet -', 'key at', 'quiet :']],
  [`say: 'it''s: 5'`, ['key say', 'quiet :', `string 'it''s: 5'`]],
  ["text: it's a#b, http://x: y", ['key text', 'quiet :', 'quiet ,', 'key http://x', 'quiet :']],
  ['status: 429', ['key status', 'quiet :', 'word 429']],
  ['first: 30s', ['key first', 'quiet :']],
  ['on: !tag *name', ['key on', 'quiet :', 'word !tag', 'word *name']],
  [
    String.raw`{"a":[true,-5.2,"x\"y"]}`,
    [
      'quiet {',
      'key "a"',
      'quiet :',
      'quiet [',
      'word true',
      'quiet ,',
      'word -5.2',
      'quiet ,',
      String.raw`string "x\"y"`,
      'quiet ]',
      'quiet }',
    ],
  ],
  ['retry-after: "1', ['key retry-after', 'quiet :']],
])('colours the tokens of %s', (text, expected) => {
  expect(colours(text)).toEqual(expected)
})

it('keeps every letter of the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...Array.from(`ab1 \n"'\\#:-,[]{}&*!|.`)) }), (text) => {
      expect(
        coloured(text)
          .map((part) => part.text)
          .join(''),
      ).toBe(text)
    }),
  )
})

it.each(['"', "'", '#', 'a:', '- ', '&', 'a ', '{'])(
  'colours a long text of %j in time',
  (piece) => {
    expect(coloured(piece.repeat(50_000)).length).toBeGreaterThan(0)
  },
  4000,
)
