import { expect, it } from 'vitest'
import { type ClockState, EnvironmentClock } from '../../src/state/model/time-and-ids.ts'

it('follows real time until it is set, then runs on from there', () => {
  let real = 1000
  const clock = new EnvironmentClock(() => real)
  expect(clock.now()).toBe(1000)
  clock.set(50_000)
  real += 10
  expect(clock.now()).toBe(50_010)
  clock.advance(-10)
  expect(clock.now()).toBe(50_000)
})

it('keeps its time when frozen, moves when it is set, and runs on from there', () => {
  let real = 1000
  const clock = new EnvironmentClock(() => real)
  clock.freeze()
  real += 500
  expect([clock.now(), clock.frozen]).toEqual([1000, true])
  clock.advance(90_000)
  clock.set(clock.now() + 1)
  expect([clock.now(), clock.frozen]).toEqual([91_001, true])
  clock.run()
  real += 7
  expect([clock.now(), clock.frozen]).toEqual([91_008, false])
})

it('is the same after its state was stored and read', () => {
  const clock = new EnvironmentClock(() => 1000)
  clock.freeze(2000)
  expect(clock.state).toEqual({ offset_ms: 0, frozen_at: '1970-01-01T00:00:02.000Z' })
  expect(new EnvironmentClock(() => 5, clock.state).now()).toBe(2000)
  clock.run()
  expect(new EnvironmentClock(() => 1001, clock.state).now()).toBe(2001)
})

it('asks for each change, and moves when it is told to', () => {
  const changes: ClockState[] = []
  const clock = new EnvironmentClock(
    () => 1000,
    undefined,
    (to) => changes.push(to),
  )
  clock.set(3000)
  expect(clock.now()).toBe(1000)
  clock.restore(changes[0]!)
  clock.freeze()
  expect(changes).toEqual([
    { offset_ms: 2000, frozen_at: null },
    { offset_ms: 0, frozen_at: '1970-01-01T00:00:03.000Z' },
  ])
})

it.each([Number.NaN, Infinity, -1, Date.UTC(10_000, 0, 1)])('refuses to go to %s', (to) => {
  const clock = new EnvironmentClock(() => 1000)
  expect(() => clock.set(to)).toThrow(RangeError)
  expect(clock.now()).toBe(1000)
})
