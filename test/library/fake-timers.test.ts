import { afterEach, expect, it, vi } from 'vitest'
import { createToolmock } from '../../src/index.ts'

afterEach(() => void vi.useRealTimers())

it('answers several requests while the test that started it fakes all timers', async () => {
  await using mock = await createToolmock()
  vi.useFakeTimers()
  for (let request = 0; request < 3; request++) {
    const { status } = await fetch(`${mock.url}/_mock/ready`)
    expect(status).toBe(200)
  }
  vi.useRealTimers()
})
