import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { TurnLimit } from '../../src/http/turn-limit.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** Begins requests that take so many milliseconds each, all in one turn. Returns which ones have begun. */
function begin(limit: TurnLimit, durations: readonly number[]): number[] {
  const begun: number[] = []
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  for (const [at, duration] of durations.entries()) {
    const listener = (): void => {
      begun.push(at)
      vi.advanceTimersByTime(duration)
    }
    limit.begin(listener, request, response)
  }
  return begun
}

it('begins the requests of a turn at once while they take little time', () => {
  expect(begin(new TurnLimit(), [3, 3, 3, 3])).toEqual([0, 1, 2, 3])
})

it('leaves the others of a long turn to later ones, one for each, in their order', async () => {
  const limit = new TurnLimit()
  const begun = begin(limit, [11, 0, 0, 0])
  expect(begun).toEqual([0])
  const later = begin(limit, [0])
  for (const expected of [
    [0, 1],
    [0, 1, 2],
    [0, 1, 2, 3],
  ]) {
    expect(later).toEqual([])
    await nextTurn()
    expect(begun).toEqual(expected)
  }
  await nextTurn()
  expect(later).toEqual([0])
})

it('begins requests at once again after a long turn', async () => {
  const limit = new TurnLimit()
  begin(limit, [11])
  await nextTurn()
  expect(begin(limit, [0, 0])).toEqual([0, 1])
})
