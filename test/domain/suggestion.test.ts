import { describe, expect, it } from 'vitest'
import { nearest } from '../../src/domain/suggestion.ts'

const FLAGS = ['port', 'host', 'base-url', 'in-memory', 'seed', 'tls', 'help', 'log-level']

describe('nearest', () => {
  it.each([
    ['prot', 'port'],
    ['hots', 'host'],
    ['PORT', 'port'],
    ['baseurl', 'base-url'],
    ['in-memry', 'in-memory'],
    ['log-levle', 'log-level'],
    ['sed', 'seed'],
  ])('takes %s for %s', (word, meant) => {
    expect(nearest(word, FLAGS)).toBe(meant)
  })

  it.each(['', 'x', 'verbose', 'xyzzy', 'constructor', '__proto__'])('takes %j for nothing', (word) => {
    expect(nearest(word, FLAGS)).toBeUndefined()
  })

  it('prefers the nearer of two words', () => {
    expect(nearest('seeds', ['speed', 'seed'])).toBe('seed')
  })
})
