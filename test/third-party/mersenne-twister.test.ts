import { generateMersenne53Randomizer } from '@faker-js/faker'
import { describe, expect, it } from 'vitest'
import { MersenneTwister } from '../../src/third-party/fake-data.ts'

describe('the random number generator of generated data', () => {
  it.each([0, 1, 42, 2 ** 31, 2 ** 32 - 1])('gives the numbers of the library for the seed %d', (seed) => {
    const [own, library] = [new MersenneTwister(), generateMersenne53Randomizer()]
    own.seed(7)
    own.next()
    for (const each of [own, library]) each.seed(seed)
    const numbers = (of: { next(): number }) => Array.from({ length: 1500 }, () => of.next())
    expect(numbers(own)).toEqual(numbers(library))
  })
})
