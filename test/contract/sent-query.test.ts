import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sentQuery, type SentQuery } from '../../src/contract/query.ts'

const PARTS = [
  'a',
  'Z',
  '=',
  '&',
  '%',
  '+',
  '?',
  '#',
  '%41',
  '%2B',
  '%C3%A4',
  '%E4',
  '%zz',
  '%2',
  '%00',
  'é',
  '\ud800',
  ' ',
]

function pairs(query: SentQuery): string[][] {
  const found: string[][] = []
  query.forEach((value, name) => found.push([name, value]))
  return found
}

describe('the parameters of a query string', () => {
  it('are those of the general parser, whatever was sent', () => {
    const text = fc.oneof(
      fc.array(fc.constantFrom(...PARTS), { maxLength: 12 }).map((parts) => parts.join('')),
      fc.string(),
    )
    fc.assert(
      fc.property(text, (sent) => {
        expect(pairs(sentQuery(sent))).toEqual(pairs(new URLSearchParams(sent)))
      }),
    )
  })

  it.each([
    [
      'connector=mail&identifier=ada%40example.com',
      [
        ['connector', 'mail'],
        ['identifier', 'ada@example.com'],
      ],
    ],
    [
      'a+b=c%2Bd&&e',
      [
        ['a b', 'c+d'],
        ['e', ''],
      ],
    ],
    ['?a=1', [['a', '1']]],
    ['', []],
  ])('of %j are told in their order', (sent, expected) => {
    expect(pairs(sentQuery(sent))).toEqual(expected)
  })
})
