import { describe, expect, it } from 'vitest'
import { SHORT, type Target, withServer } from './server.ts'

const LIST = '/api/v1/connections'
const PATIENT = { ...SHORT, keepAliveTimeout: 600_000, headersTimeout: 600_000, requestTimeout: 600_000 }

/** Delays the answers of a third party, so that its tool calls are still under way. */
async function slowThirdParty({ control }: Target, ms: number): Promise<void> {
  const rules = [{ name: 'slow', at: 'third_party', on: { connector: 'encyclopedia' }, do: [{ latency: ms }] }]
  await control('PUT', '/scenarios/slow', { name: 'slow', rules })
  await control('POST', '/scenarios/slow/start')
}

describe('a server that closes', { timeout: 60_000 }, () => {
  it('answers the requests under way, on many connections, and then closes the connections', () =>
    withServer({ limits: { ...PATIENT, closeTimeout: 10_000 } }, async (target) => {
      const { open, get, post, app } = target
      await slowThirdParty(target, 60_000)
      const created = await open()
      created.send(post('/api/v1/connected_accounts', { connector: 'encyclopedia', identifier: 'ada' }))
      await created.first(1)
      const run = {
        connector: 'encyclopedia',
        identifier: 'ada',
        tool_name: 'encyclopedia_search',
        tool_input: { words: 'mock' },
      }
      const clients = await Promise.all(Array.from({ length: 100 }, () => open()))
      for (const client of clients) client.send(post('/api/v1/execute_tool', run))
      const idle = await open()
      idle.send(get(LIST))
      await idle.first(1)
      const [environment] = app.services.registry.environments()
      const slow = environment && app.services.scenarios.of(environment)
      await expect
        .poll(() => slow?.list().find(({ name }) => name === 'slow')?.rules[0]?.hits, { timeout: 30_000 })
        .toBe(100)
      await app.close()
      const answers = await Promise.all(clients.map((client) => client.all()))

      expect(answers.map(([answer]) => answer?.status)).toEqual(clients.map(() => 200))
      expect(idle.ended).toBe(true)
    }))

  it('is not delayed by clients that send more requests, half a request or none, or that do not read', () =>
    withServer({ limits: PATIENT }, async ({ open, get, head, control, app }) => {
      await control('POST', '/seed', { generate: [{ accounts: 2000, connector: 'mail' }] })
      await open()
      const half = await open()
      half.send(`POST /api/v1/connected_accounts HTTP/1.1\r\n${head}Content-Length: 9\r\n\r\n`)
      const unread = await open()
      unread.socket.pause()
      for (let each = 0; each < 5; each++) unread.send(get('/_mock/state'))
      const eager = await open()
      eager.socket.on('data', () => eager.send(get(LIST)))
      eager.send(get(LIST))
      await eager.first(20)
      await expect.poll(() => unread.socket.bytesRead).toBeGreaterThan(0)
      // The time-out of the test ends a longer wait.
      await app.close()

      expect(eager.answers.every(({ status }) => status === 200)).toBe(true)
    }))

  it('accepts no connection after that', () =>
    withServer({}, async ({ open, app }) => {
      await app.close()
      await expect(open()).rejects.toThrow('ECONNREFUSED')
    }))
})
