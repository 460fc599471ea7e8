import { describe, expect, it } from 'vitest'
import { RandomIds, SeededIds } from '../../src/state/model/time-and-ids.ts'

const seeded = (position = 0, name = 'default', seed = 1): SeededIds => new SeededIds(name, { seed, position })
const take = (ids: SeededIds): unknown[] => [ids.id('ca'), ids.opaque(), ids.number(), ids.id('ca')]

describe.each([
  ['random', () => new RandomIds()],
  ['seeded', () => seeded()],
])('%s ids', (_, make) => {
  it('have their forms and do not repeat', () => {
    const ids = make()
    const given = Array.from({ length: 1000 }, () => ids.id('ca'))
    for (const id of given) expect(id).toMatch(/^ca_[a-z0-9]{20}$/)
    expect(new Set(given).size).toBe(1000)
    expect(ids.opaque()).toMatch(/^[\w-]{43}$/)
    const number = ids.number()
    expect(Number.isInteger(number) && number >= 0 && number < 2 ** 32).toBe(true)
  })
})

it('seeded ids: repeat with the same seed and environment, and differ with others', () => {
  expect(take(seeded())).toEqual(take(seeded()))
  expect(take(seeded(0, 'other'))).not.toEqual(take(seeded()))
  expect(take(seeded(0, 'default', 2))).not.toEqual(take(seeded()))
})

it('seeded ids: continue from their stored position', () => {
  const ids = seeded()
  ids.id('a')
  const rest = seeded(ids.state.position)
  expect(rest.opaque()).toBe(ids.opaque())
  rest.skipTo(1)
  expect(rest.opaque()).toBe(ids.opaque())
})
