import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { EventLoopTurn } from '../../src/http/event-loop-turn.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** Begins requests that take so many milliseconds each, all in one turn. Returns which ones have begun. */
function begin(turn: EventLoopTurn, durations: readonly number[]): number[] {
  const begun: number[] = []
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  for (const [at, duration] of durations.entries()) {
    const listener = (): void => {
      begun.push(at)
      vi.advanceTimersByTime(duration)
    }
    turn.begin(listener, request, response)
  }
  return begun
}

it('begins the requests of a turn at once while they take little time', () => {
  expect(begin(new EventLoopTurn(), [3, 3, 3, 3])).toEqual([0, 1, 2, 3])
})

it('leaves the others of a long turn to later ones, one for each, in their order', async () => {
  const turn = new EventLoopTurn()
  const begun = begin(turn, [11, 0, 0, 0])
  expect(begun).toEqual([0])
  const later = begin(turn, [0])
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
  const turn = new EventLoopTurn()
  begin(turn, [11])
  await nextTurn()
  expect(begin(turn, [0, 0])).toEqual([0, 1])
})

it('sends answers at the end of their turn, in their order', async () => {
  const turn = new EventLoopTurn()
  const sent: string[] = []
  turn.sendAtEnd(() => {
    sent.push('first')
    turn.sendAtEnd(() => sent.push('in the next turn'))
  })
  turn.sendAtEnd(() => sent.push('second'))
  expect(sent).toEqual([])
  await nextTurn()
  expect(sent).toEqual(['first', 'second'])
  await nextTurn()
  expect(sent).toEqual(['first', 'second', 'in the next turn'])
})

it('sends the answers of a long turn before the next request begins', async () => {
  const turn = new EventLoopTurn()
  const events: string[] = []
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const requests: [name: string, duration: number][] = [
    ['first', 11],
    ['second', 0],
  ]
  for (const [name, duration] of requests) {
    const listener = (): void => {
      events.push(`begin ${name}`)
      vi.advanceTimersByTime(duration)
      turn.sendAtEnd(() => events.push(`answer ${name}`))
    }
    turn.begin(listener, response.req, response)
  }
  await nextTurn()
  await nextTurn()
  expect(events).toEqual(['begin first', 'answer first', 'begin second', 'answer second'])
})
