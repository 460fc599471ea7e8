import fc from 'fast-check'
import { expect, it } from 'vitest'
import { foldCase } from '../../../src/model/domain/fold-case.ts'

const LETTERS = Array.from({ length: 0x20000 }, (_, code) => String.fromCodePoint(code)).filter((sign) =>
  /\p{L}/u.test(sign),
)
const words = fc.array(fc.constantFrom(...LETTERS, 'Σ', 'ς', 'σ', 'ß', 'İ'), { minLength: 1, maxLength: 12 })

it('contains each of its parts, in either case', () => {
  fc.assert(
    fc.property(words, fc.nat(11), fc.integer({ min: 1, max: 12 }), (word, from, length) => {
      const part = word.slice(from % word.length, (from % word.length) + length).join('')
      const text = foldCase(word.join(''))
      for (const written of [part, part.toUpperCase()]) expect(text).toContain(foldCase(written))
    }),
  )
})

it.each([
  ['ΝΙΚΟΣΑΚΗΣ', 'ΝΙΚΟΣ'],
  ['νίκος', 'ΝΊΚΟΣ'],
  ['Straße', 'STRASSE'],
])('%s contains %s', (text, part) => expect(foldCase(text)).toContain(foldCase(part)))
