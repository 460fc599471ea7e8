import { expect, it, vi } from 'vitest'
import { BoundedCache } from '../../../src/model/domain/bounded-cache.ts'
import { once } from '../../../src/model/domain/once.ts'

it('a bounded cache computes a value once, and empties itself when it is full', () => {
  const compute = vi.fn(({ id }: { id: string }) => id)
  const cache = new BoundedCache<{ id: string }, string>(2)
  const [a, b, c] = [{ id: 'a' }, { id: 'b' }, { id: 'c' }]
  expect([a, b, a, b].map((each) => cache.of(each, compute))).toEqual(['a', 'b', 'a', 'b'])
  expect(compute).toHaveBeenCalledTimes(2)
  cache.of(c, compute)
  cache.of(c, compute)
  expect(compute).toHaveBeenCalledTimes(3)
  cache.of(a, compute)
  expect(compute).toHaveBeenCalledTimes(4)
})

it('once loads once for concurrent callers', async () => {
  const load = vi.fn(() => Promise.resolve({}))
  const loaded = once(load)
  const [first, second] = await Promise.all([loaded(), loaded()])
  expect(second).toBe(first)
  expect(await loaded()).toBe(first)
  expect(load).toHaveBeenCalledTimes(1)
})

it('once tries again after a failure', async () => {
  const load = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new Error('no disk')).mockResolvedValue('here')
  const loaded = once(load)
  await expect(loaded()).rejects.toThrow('no disk')
  expect(await loaded()).toBe('here')
})
