import { afterEach, beforeEach, expect, it, type MockInstance, vi } from 'vitest'
import { StopRequest } from '../../../src/app/cli/stop.ts'

let stop: StopRequest
let exit: MockInstance<typeof process.exit>

beforeEach(() => {
  vi.useFakeTimers()
  exit = vi.spyOn(process, 'exit').mockImplementation((() => undefined) as never)
  stop = new StopRequest()
})
afterEach(() => {
  stop[Symbol.dispose]()
  exit.mockRestore()
  vi.useRealTimers()
})

it('asks the command to stop at the first signal, and leaves the process to it', async () => {
  const { asked } = stop
  process.emit('SIGINT', 'SIGINT')
  await asked
  await stop.asked
  expect(stop.signal.aborted).toBe(true)
  expect(exit).not.toHaveBeenCalled()
})

it.each([
  ['SIGINT', 'SIGINT', 'is the same Ctrl-C, which npx passes on, within half a second', 500, []],
  ['SIGINT', 'SIGINT', 'ends the process after it', 501, [[130]]],
  ['SIGTERM', 'SIGTERM', 'is the same stop, which timeout sends twice, within half a second', 500, []],
  ['SIGTERM', 'SIGTERM', 'ends the process after it', 501, [[143]]],
  ['SIGINT', 'SIGTERM', 'ends the process', 0, [[143]]],
  ['SIGTERM', 'SIGINT', 'ends the process', 0, [[130]]],
] as const)('after %s, %s %s', (first, second, _what, after, calls) => {
  process.emit(first, first)
  vi.advanceTimersByTime(after)
  process.emit(second, second)
  expect(exit.mock.calls).toEqual(calls)
})

it('a first signal after another request to stop is no second one', () => {
  stop.ask()
  process.emit('SIGTERM', 'SIGTERM')
  expect(exit).not.toHaveBeenCalled()
  vi.advanceTimersByTime(501)
  process.emit('SIGTERM', 'SIGTERM')
  expect(exit.mock.calls).toEqual([[143]])
})
