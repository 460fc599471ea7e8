import { afterEach, expect, it, vi } from 'vitest'
import { createToolmock, type Toolmock } from '../../../src/index.ts'
import { Receiver, SECRET } from '../../service/webhooks/receiver.ts'

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

it('sends the events of accounts meanwhile', async () => {
  const receiver = new Receiver()
  const url = await receiver.listen()
  try {
    await using mock = await createToolmock()
    await fetch(`${mock.url}/_mock/webhooks/app`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ url, secret: SECRET }),
    })
    vi.useFakeTimers({ toFake: ['setImmediate', 'setTimeout'] })
    await fetch(`${mock.url}/_mock/links`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ connector: 'mail', identifier: 'ada@example.com' }),
    })
    await receiver.answered(1)
    expect(receiver.answers[0]).toBe(200)
    vi.useRealTimers()
  } finally {
    await receiver.close()
  }
})

it.each([
  ['journal.wait', (mock: Toolmock) => mock.journal.wait({ operation: 'execute_tool' }, { timeoutMs: 50 })],
  ['links.wait', (mock: Toolmock) => mock.links.wait({ timeoutMs: 50 })],
])('%s ends after its real time', async (_name, wait) => {
  await using mock = await createToolmock()
  vi.useFakeTimers()
  await expect(wait(mock)).rejects.toThrow()
  vi.useRealTimers()
})
