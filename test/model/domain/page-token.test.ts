import { expect, it } from 'vitest'
import { decodePageToken, encodePageToken } from '../../../src/model/domain/page-token.ts'

const BINDING = [
  ['environment', 'default'],
  ['connector', ['mail', 'calendar']],
] as const
/** A token whose decoded text is changed. */
const changed = (change: (text: string) => string): string =>
  base64url(change(Buffer.from(encodePageToken({ after: 12 }, BINDING), 'base64url').toString()))
const base64url = (text: string): string => Buffer.from(text).toString('base64url')

it.each([{ after: 0 }, { after: 12 }, { before: 3 }])('leads back to %j', (position) => {
  expect(decodePageToken(encodePageToken(position, BINDING), BINDING)).toEqual(position)
})

it.each([
  ['other filters', () => encodePageToken({ after: 12 }, [['connector', 'mail']])],
  ['another place', () => changed((text) => text.replace('a12', 'a13'))],
  ['the other side', () => changed((text) => text.replace('a12', 'b12'))],
])('of %s is refused', (_kind, tokenOf) => {
  expect(() => decodePageToken(tokenOf(), BINDING)).toThrow(
    expect.objectContaining({
      errorCode: 'INVALID_PAGE_TOKEN',
      message:
        'page_token must be next_page_token or prev_page_token of an answer to the same filters; found one of other filters, or a changed one',
      context: { violations: [expect.objectContaining({ field: 'page_token', constraint: 'page_token' })] },
    }),
  )
})

it.each([
  ['nothing', () => ''],
  ['a text', () => base64url('page 2')],
  ['more in front', () => changed((text) => `x${text}`)],
  ['more at its end', () => changed((text) => `${text}x`)],
  ['padding', () => `${encodePageToken({ after: 12 }, BINDING)}=`],
  ['another side', () => changed((text) => text.replace('a12', 'c12'))],
  ['no place', () => changed((text) => text.replace('a12', 'a'))],
  ['a place of 16 digits', () => changed((text) => text.replace('a12', `a${'1'.repeat(16)}`))],
])('with %s is refused', (_kind, tokenOf) => {
  expect(() => decodePageToken(tokenOf(), BINDING)).toThrow('which is no page token')
})
