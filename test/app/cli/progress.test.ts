import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { processContext } from '../../../src/app/cli/program.ts'
import { withProgress } from '../../../src/app/cli/progress.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] }))
afterEach(() => void vi.useRealTimers())

function work() {
  let resolve!: (value: string) => void
  let reject!: (error: Error) => void
  const promise = new Promise<string>((resolved, rejected) => ([resolve, reject] = [resolved, rejected]))
  return { promise, resolve, reject }
}

it('says nothing of work that is done at once', async () => {
  const lines: string[] = []
  const say = (line: string) => void lines.push(line)
  expect(await withProgress({ progress: say, err: say }, 'Resetting', () => Promise.resolve(1))).toBe(1)
  expect(lines).toEqual([])
})

it('overwrites one line on a terminal, and clears it at the end, also of work that fails', async () => {
  const [lines, { promise, reject }] = [[] as string[], work()]
  const running = withProgress(
    { progress: (line) => void lines.push(line), err: () => undefined },
    'Resetting',
    (say) => {
      say('100 accounts')
      return promise
    },
  )
  vi.advanceTimersByTime(1000)
  expect(lines.at(-1)).toBe('Resetting: 100 accounts … 1 s')
  expect(lines.length).toBe(5)
  reject(new Error('refused'))
  await expect(running).rejects.toThrow('refused')
  expect(lines.at(-1)).toBe('')
  expect(vi.getTimerCount()).toBe(0)
})

it.each([
  [0, 'Starting … 1 s'],
  [10, 'Starting '],
])('has a whole line on a terminal without a size, and else one that does not wrap (%d columns)', (columns, shown) => {
  const written: unknown[] = []
  const { isTTY } = process.stderr
  Object.assign(process.stderr, { isTTY: true, columns, hasColors: () => false })
  vi.spyOn(process.stderr, 'write').mockImplementation((line) => written.push(line) > 0)
  processContext().progress?.('Starting … 1 s')
  vi.restoreAllMocks()
  Object.assign(process.stderr, { isTTY, columns: undefined })
  expect(written).toEqual([`\r\u001b[K${shown}`])
})

it('prints a line every five seconds where there is no terminal', async () => {
  const [lines, { promise, resolve }] = [[] as string[], work()]
  const running = withProgress({ err: (line) => void lines.push(line) }, 'Starting', () => promise)
  vi.advanceTimersByTime(11_000)
  resolve('done')
  expect(await running).toBe('done')
  expect(lines).toEqual(['Starting … 5 s', 'Starting … 10 s'])
})

it('says what work is at that gives no turn to a timer', async () => {
  const lines: string[] = []
  await withProgress({ err: (line) => void lines.push(line) }, 'Making', (say) => {
    for (let done = 0; done < 3; done++) {
      vi.setSystemTime(Date.now() + 4000)
      say(`${done} of 3`)
    }
    return Promise.resolve()
  })
  expect(lines).toEqual(['Making: 1 of 3 … 8 s'])
})
