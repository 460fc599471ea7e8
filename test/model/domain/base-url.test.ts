import { expect, it } from 'vitest'
import { isBaseUrl, mayBeCalled } from '../../../src/model/domain/base-url.ts'
import { baseUrlOf } from '../../../src/model/domain/request-headers.ts'
import { isAdminToken } from '../../../src/model/domain/secret.ts'

it.each(['http://127.0.0.1:1', 'https://mock.internal/a', 'HTTP://[::1]:8080/', 'http://localhost'])(
  'a base URL: %s is accepted',
  (url) => expect(isBaseUrl(url)).toBe(true),
)

it.each([
  '',
  'mock.internal',
  'ftp://a',
  'javascript:alert(1)',
  'http://',
  'http://u:p@127.0.0.1',
  'http://u@a',
  'http://:p@a',
  'see:http://a',
  'http://a?b',
  'http://a#b',
  'http://a b',
  'http:\\\\a',
  'http://[::1',
  'http:127.0.0.1',
])('a base URL: %s is refused', (url) => expect(isBaseUrl(url)).toBe(false))

it('a base URL has a host with Latin-1 letters, also when the code that checks it is optimized', () => {
  const refused = Array.from({ length: 20_000 }, () => isBaseUrl('http://münchen.example/v')).indexOf(false)
  expect(refused).toBe(-1)
})

it('a base URL may be called on loopback, and elsewhere with --allow-outbound', () => {
  expect(mayBeCalled('http://127.0.0.1:1', false)).toBe(true)
  expect(mayBeCalled('http://example.com', false)).toBe(false)
  expect(mayBeCalled('http://example.com', true)).toBe(true)
})

// The last one is a plain socket in Bun.
it.each([
  [{}, 'http://mock:1'],
  [{ encrypted: true }, 'https://mock:1'],
  [{ encrypted: false }, 'http://mock:1'],
])('the base URL of a request where none is configured: on the socket %j is %s', (socket, url) => {
  const request = { headers: { host: 'mock:1' }, socket } as Parameters<typeof baseUrlOf>[0]
  expect(baseUrlOf(request, undefined)).toBe(url)
})

it.each(['t', 'a b', '~!', 'x'.repeat(500)])('an admin token: %s can be sent in a header', (token) =>
  expect(isAdminToken(token)).toBe(true),
)
it.each(['', ' t', 't ', 't\n', 'tä', 'a\tb', '\u0000'])('an admin token: %j cannot', (token) =>
  expect(isAdminToken(token)).toBe(false),
)
