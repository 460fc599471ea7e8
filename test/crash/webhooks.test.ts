import { expect, it } from 'vitest'
import { ToolmockProcess } from '../app/cli/toolmock-process.ts'
import { Receiver, SECRET } from '../service/webhooks/receiver.ts'
import { signIn } from './client.ts'

/** `npm run test:crash` has 10,000 events at least; the short form in `npm run test:rest` some hundred. */
const EVENTS = process.env['CRASH_ROUNDS'] === undefined ? 300 : 10_000
const WRITERS = 8

const toolmock = ToolmockProcess.forThisFile()

/** Creates and deletes accounts until the connection breaks. Of each answered change an event has to come. */
async function write(url: string, name: string, expected: Set<string>): Promise<void> {
  try {
    const caller = await signIn(url)
    for (let each = 0; ; each++) {
      const identifier = `${name}-${each}@example.com`
      const created = await caller.send('POST', '/connected_accounts', { connector: 'mail', identifier })
      expect(created.status).toBe(201)
      expected.add(`connected_account.created ${identifier}`)
      const deleted = await caller.send('POST', '/connected_accounts:delete', { connector: 'mail', identifier })
      expect(deleted.status).toBe(200)
      expected.add(`connected_account.deleted ${identifier}`)
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
}

it(
  `sends the event of every answered change at least once, in the order of its account, for ${EVENTS} events`,
  async () => {
    const receiver = new Receiver()
    // Now and then the application is away.
    let asked = 0
    receiver.answer = () => (++asked % 50 === 0 ? 503 : 200)
    const url = await receiver.listen()
    const args = ['--state', toolmock.path('events/state.json')]
    const expected = new Set<string>()
    let rounds = 0
    for (; expected.size < EVENTS; rounds++) {
      const server = await toolmock.start(args)
      const body = JSON.stringify({ url, secret: SECRET })
      const headers = { 'Content-Type': 'application/json' }
      await fetch(`${server.url}/_mock/webhooks/app`, { method: 'PUT', body, headers })
      const writers = Array.from({ length: WRITERS }, (_, at) => write(server.url, `r${rounds}-w${at}`, expected))
      // Each round kills after another number of answers, while other requests are under way.
      const answered = expected.size + EVENTS / 5 + ((rounds * 37) % 40)
      await expect.poll(() => expected.size, { interval: 5, timeout: 60_000 }).toBeGreaterThan(answered)
      await server.stop('SIGKILL')
      await Promise.all(writers)
    }
    receiver.answer = () => 200
    const server = await toolmock.start(args)
    const waiting = async (): Promise<number> => {
      const answer = await fetch(`${server.url}/_mock/webhooks`)
      return ((await answer.json()) as { webhooks: { waiting: number }[] }).webhooks[0]?.waiting ?? 0
    }
    // All that wait for their next attempt are due then.
    const headers = { 'Content-Type': 'application/json' }
    await fetch(`${server.url}/_mock/clock`, { method: 'PUT', body: '{"advance":"1h"}', headers })
    await expect.poll(waiting, { timeout: 60_000 + EVENTS * 10 }).toBe(0)
    await server.stop()
    await receiver.close()
    const sent = receiver.events.map(({ type, data }) => `${type} ${String(data['identifier'])}`)
    const first = new Map(sent.toReversed().map((event, at) => [event, sent.length - at]))
    expect([...expected].filter((event) => !first.has(event))).toEqual([])
    const early = [...expected].filter((event) => {
      const before = first.get(event.replace('.deleted', '.created')) ?? Infinity
      return before > (first.get(event) ?? 0)
    })
    expect(early).toEqual([])
    const again = sent.length - first.size
    console.log(`kill -9: ${rounds} rounds, ${expected.size} events, none missing, ${again} sent again`)
  },
  60_000 + EVENTS * 60,
)
