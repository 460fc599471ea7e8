import { expect, it } from 'vitest'
import { callableHost } from '../../../src/model/domain/loopback.ts'

it.each([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '127.0.0.1'],
  ['::1', '[::1]'],
  ['127.0.0.1', '127.0.0.1'],
  ['mock.internal', 'mock.internal'],
])('a server that listens on %s is called at %s', (host, called) => {
  expect(callableHost(host)).toBe(called)
})
