import { expect, it } from 'vitest'
import { isAllowed } from './planted.ts'

it.each([
  [1, true],
  [100, false],
])('%d is allowed: %s', (value, allowed) => {
  expect(isAllowed(value)).toBe(allowed)
})
