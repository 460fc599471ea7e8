import { describe, expect, it } from 'vitest'
import type { RawClient } from './raw-client.ts'
import { expectError, SHORT, type Target, withServer } from './server.ts'

const CREATE = '/api/v1/connected_accounts'

/** Longer than any of the time limits. */
const LONG = 1200

/** Waits for that time with a long poll of another client. */
async function pass({ open, get }: Target): Promise<void> {
  const client = await open()
  client.send(get(`/_mock/links?wait_ms=${LONG}`))
  await client.first(1)
}

/** Sends a piece again and again until the server ends the connection. */
async function sendSlowly(client: RawClient, piece: string, everyMs = 20): Promise<void> {
  const timer = setInterval(() => client.send(piece), everyMs)
  await client.all()
  clearInterval(timer)
}

describe('a client that is too slow is answered with 408 and disconnected', () => {
  it('when it sends no data', () =>
    withServer({ limits: SHORT }, async ({ open }) => {
      const client = await open()
      expectError((await client.all())[0], 408, 'MALFORMED_BODY')
    }))

  it('when it sends its headers bit by bit', () =>
    withServer({ limits: SHORT }, async ({ open }) => {
      const client = await open()
      client.send('GET /api/v1/connections HTTP/1.1\r\nHost: x\r\n')
      await sendSlowly(client, 'X-A: b\r\n')
      expectError(client.answers[0], 408, 'MALFORMED_BODY')
    }))

  it.each(['Content-Length: 100000', 'Transfer-Encoding: chunked'])('when its body arrives slowly with %s', (length) =>
    withServer({ limits: SHORT }, async ({ open, head, app }) => {
      const client = await open()
      client.send(`POST ${CREATE} HTTP/1.1\r\n${head}Content-Type: application/json\r\n${length}\r\n\r\n`)
      await sendSlowly(client, length.startsWith('T') ? '1\r\n \r\n' : ' ')
      expectError(client.answers[0], 408, 'MALFORMED_BODY')
      expect(client.answers).toHaveLength(1)
      expect(app.services.registry.environment('default')?.model.tables.accounts.size).toBe(0)
    }),
  )

  it('but only once: a body that still arrives after the refusal gets no second answer', () =>
    withServer({ limits: SHORT }, async ({ open }) => {
      const client = await open()
      client.send(`POST ${CREATE} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n`)
      await sendSlowly(client, ' ')
      expect(client.answers.map(({ status }) => status)).toEqual([401])
    }))
})

describe('a connection is dropped', { timeout: 60_000 }, () => {
  it('when its client sends no other request', () =>
    withServer({ limits: SHORT }, async ({ open, get }) => {
      const client = await open()
      client.send(get('/api/v1/connections'))
      expect((await client.all()).map(({ status }) => status)).toEqual([200])
    }))

  it('when its client does not read the answers', () =>
    withServer({ limits: SHORT }, async (target) => {
      await target.control('POST', '/seed', { generate: [{ accounts: 5000, connector: 'mail' }] })
      const client = await target.open()
      client.socket.pause()
      // The answers are larger than the buffers of both sockets.
      for (let each = 0; each < 5; each++) client.send(target.get('/_mock/state'))
      await expect.poll(() => client.socket.bytesRead).toBeGreaterThan(0)
      await pass(target)
      client.socket.resume()
      expect((await client.all()).length).toBeLessThan(5)
    }))

  it('but stays open while its client reads slowly', () =>
    withServer({ limits: { ...SHORT, stallTimeout: 400 } }, async ({ open, get, control }) => {
      await control('POST', '/seed', { generate: [{ accounts: 2000, connector: 'mail' }] })
      const client = await open()
      const reading = setInterval(() => {
        client.socket.resume()
        setImmediate(() => client.socket.pause())
      }, 20)
      client.send(get('/_mock/state'))
      const [answer] = await client.first(1)
      clearInterval(reading)
      expect(answer?.status).toBe(200)
    }))
})

describe('a wait that the mock causes does not count as slowness', () => {
  it.each([
    ['latency', { latency: LONG }],
    ['slow_body', { slow_body: { over: LONG, pieces: 2 } }],
  ])('%s of a scenario', (_name, fault) =>
    withServer({ limits: SHORT }, async (target) => {
      await scenario(target, fault)
      const client = await target.open()
      client.send(target.get('/api/v1/connections'))
      const [answer] = await client.first(1)
      expect(answer?.status).toBe(200)
      expect(JSON.parse(answer?.text ?? '')).toHaveProperty('connections')
    }),
  )

  it('timeout of a scenario, which lasts until the client gives up', () =>
    withServer({ limits: SHORT }, async (target) => {
      await scenario(target, { timeout: {} })
      const client = await target.open()
      client.send(target.get('/api/v1/connections'))
      await pass(target)
      expect(client.ended).toBe(false)
    }))

  it.each([
    ['GET links', (target: Target) => target.get(`/_mock/links?wait_ms=${LONG}`), 200],
    [
      'POST requests/wait',
      (target: Target) => target.post('/_mock/requests/wait', { match: { status: 418 }, timeout_ms: LONG }),
      408,
    ],
  ])('the long poll of %s', (_name, text, status) =>
    withServer({ limits: SHORT }, async (target) => {
      const client = await target.open()
      client.send(text(target))
      expect((await client.first(1))[0]?.status).toBe(status)
    }),
  )

  it('the stream of events', () =>
    withServer({ limits: SHORT }, async (target) => {
      const client = await target.open()
      let received = ''
      client.socket.on('data', (text: string) => (received += text))
      client.send(target.get('/_mock/events'))
      await pass(target)
      await target.control('PUT', '/clock', { advance: '1s' })
      await expect.poll(() => received).toContain('the clock went from')
    }))
})

async function scenario({ control }: Target, fault: object): Promise<void> {
  const rules = [{ name: 'slow', at: 'service', on: { operation: 'list_connections' }, do: [fault] }]
  await control('PUT', '/scenarios/slow', { name: 'slow', rules })
  await control('POST', '/scenarios/slow/start')
}
