import { expect, it } from 'vitest'
import { ENVIRONMENT_NAME } from '../../../src/model/domain/environment-name.ts'
import { isLoopback } from '../../../src/model/domain/loopback.ts'
import { oneLine, plural, quote, shellQuote, shorten } from '../../../src/model/domain/text.ts'
import { xmlAttribute, xmlText } from '../../../src/model/domain/junit.ts'

it('text in messages counts with the plural of the noun', () => {
  expect([0, 1, 2].map((count) => plural(count, 'request'))).toEqual(['0 requests', '1 request', '2 requests'])
  expect([1, 2].map((count) => plural(count, 'entry', 'entries'))).toEqual(['1 entry', '2 entries'])
})

it('text in messages shortens beyond the limit, and never to half a character', () => {
  expect([shorten('abc', 3), shorten('abcd', 3)]).toEqual(['abc', 'abc…'])
  expect(shorten('ab😀', 3)).toBe('ab\ufffd…')
})

it('text in messages quotes on one line', () => {
  expect(quote('a "b"\nc')).toBe(String.raw`"a \"b\"\nc"`)
  expect(quote('x'.repeat(101))).toBe(`"${'x'.repeat(100)}…"`)
})

it('text in messages escapes control characters and line breaks', () => {
  expect(oneLine('a\r\n  b\u001b[31m')).toBe(String.raw`a b\u{1b}[31m`)
  expect(oneLine('x'.repeat(241))).toHaveLength(240)
  expect(oneLine('x'.repeat(240))).toBe('x'.repeat(240))
})

it.each([
  ['mail-1.2_x@a:b/c%d+e,f', 'mail-1.2_x@a:b/c%d+e,f'],
  ['', "''"],
  ['a b', "'a b'"],
  ["it's", String.raw`'it'\''s'`],
  ['a\n', "'a\n'"],
  ['$a', "'$a'"],
])('text in messages: %j is %s in a shell', (text, word) => {
  expect(shellQuote(text)).toBe(word)
})

it('text in messages escapes for XML, and omits characters that XML cannot contain', () => {
  const text = `a & <b> "c" 'd'\t\n\r é 😀`
  expect(xmlText(text)).toBe(`a &amp; &lt;b&gt; &quot;c&quot; 'd'\t\n\r é 😀`)
  expect(xmlText('\u0000\u001f\ud800\uffff')).toBe('\ufffd'.repeat(4))
  expect(xmlAttribute('<a>\t\n\rb')).toBe('&lt;a&gt;   b')
})

it.each(['a', 'CI-7.main_2', 'x'.repeat(64)])('the name of an environment may be %s', (name) => {
  expect(ENVIRONMENT_NAME.test(name)).toBe(true)
})

it.each(['', 'a b', ' a', 'a/', '/a', 'é', 'x'.repeat(65)])('the name of an environment is not %j', (name) => {
  expect(ENVIRONMENT_NAME.test(name)).toBe(false)
})

it.each([
  'localhost',
  'LOCALHOST',
  'a.localhost',
  '127.0.0.1',
  '127.8.8.8',
  '::1',
  '[::1]',
  '::ffff:127.0.0.1',
  '127.255.10.100',
])('a loopback host: %s is one', (host) => {
  expect(isLoopback(host)).toBe(true)
})

it.each([
  '127.0.0.1.example.com',
  'localhost.example.com',
  'notlocalhost',
  '10.0.0.1',
  ':[:1]',
  '[::]1',
  '127.::ffff:0.0.1',
  '1127.0.0.1',
  '128.0.0.1',
  '::2',
  'x[::1]',
  '[::1]x',
  'x::ffff:127.0.0.1',
  '',
])('a loopback host: %s is not one', (host) => {
  expect(isLoopback(host)).toBe(false)
})
