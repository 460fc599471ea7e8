import { expect, it } from 'vitest'
import { withParameters } from '../../../src/model/domain/redirect-url.ts'

const added = new Map([
  ['auth_request_id', 'abc-_'],
  ['state', 'a b&c=d'],
])
const tail = 'auth_request_id=abc-_&state=a%20b%26c%3Dd'

it.each([
  ['http://app.example', `http://app.example?${tail}`],
  ['http://app.example/', `http://app.example/?${tail}`],
  ['http://app.example/?', `http://app.example/?${tail}`],
  ['http://app.example/p#frag?not=query', `http://app.example/p?${tail}#frag?not=query`],
  ['http://app.example/p?x=%zz&&y=a+b&z#f', `http://app.example/p?x=%zz&&y=a+b&z&${tail}#f`],
  ['HTTP://App.Example:80/a/../b?é=ü', `HTTP://App.Example:80/a/../b?é=ü&${tail}`],
  ['http://app.example/?state=old&sta%74e=old&a=1', `http://app.example/?a=1&${tail}`],
])('adds to %s and keeps all other bytes', (url, expected) => {
  expect(withParameters(url, added)).toBe(expected)
})

it('returns the same URL when no parameter is added', () => {
  expect(withParameters('http://app.example/?a=1#f', new Map())).toBe('http://app.example/?a=1#f')
})

it('encodes any text, also lone surrogates', () => {
  expect(withParameters('http://a.example/', new Map([['state', '日\ud800\n"']]))).toBe(
    'http://a.example/?state=%E6%97%A5%EF%BF%BD%0A%22',
  )
})
