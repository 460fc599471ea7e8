import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { SILENT } from '../../src/servers/http/log.ts'
import { type Target, withServer } from './server.ts'

/** The answers are larger than the operating system buffers for a client that does not read. */
const REQUESTS = 200
const NOTE = 'x'.repeat(300_000)

/** An account whose details are a large answer. */
async function largeAccount({ url, head }: Target): Promise<string> {
  const authorization = /Authorization: (.*)\r\n/.exec(head)?.[1] ?? ''
  const body = { connector: 'mail', identifier: 'large@example.com', connected_account: { api_config: { note: NOTE } } }
  const answer = await fetch(`${url}/api/v1/connected_accounts`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: authorization },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(201)
  return ((await answer.json()) as { connected_account: { id: string } }).connected_account.id
}

async function unreadConnection(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket.pause()
}

describe('requests that a client sends ahead', () => {
  it(`are processed only while their answers are read, and all ${REQUESTS} are answered in order in the end`, async () => {
    let processed = 0
    const observeEntry = (): void => {
      processed++
    }
    await withServer({ observeEntry }, async (target) => {
      const id = await largeAccount(target)
      processed = 0
      const socket = await unreadConnection(target.port)
      const requests = Array.from({ length: REQUESTS }, (_, at) =>
        target.get(`/api/v1/connected_accounts/details?id=${id}`, `X-Request-Id: ahead-${at}\r\n`),
      )
      socket.write(requests.join(''))
      let before = -1
      // Until no more of them are processed, while requests of other clients are.
      while (processed !== before || processed === 0) {
        before = processed
        for (let each = 0; each < 20; each++) await target.control('GET', '/health')
      }
      expect(processed).toBeLessThan(REQUESTS / 2)

      const ids: string[] = []
      let rest = ''
      socket.setEncoding('latin1')
      socket.on('data', (text: string) => {
        const lines = (rest + text).split('\r\n')
        rest = (lines.pop() ?? '').slice(-300)
        for (const line of lines) if (/^x-request-id: /i.test(line)) ids.push(line.slice('x-request-id: '.length))
      })
      socket.resume()
      while (ids.length < REQUESTS) await once(socket, 'data')
      expect(ids).toEqual(requests.map((_, at) => `ahead-${at}`))
      socket.destroy()
    })
  }, 30_000)

  it('keep their bodies, and the connection stays open', async () => {
    await withServer({}, async ({ open, get, post }) => {
      const client = await open()
      const create = (identifier: string) => post('/api/v1/connected_accounts', { connector: 'mail', identifier })
      client.send(get('/api/v1/connected_accounts') + create('a@x.org') + create('b@x.org') + create('a@x.org'))
      expect((await client.first(4)).map(({ status }) => status)).toEqual([200, 201, 201, 409])
      client.send(create('c@x.org'))
      expect((await client.first(5))[4]?.status).toBe(201)
    })
  })
})

it('answers that the client does not read: close an event stream with the reason in the log', async () => {
  const warned: string[] = []
  const log = { ...SILENT, warn: (message: string) => void warned.push(message) }
  await withServer({ log }, async (target) => {
    const socket = await unreadConnection(target.port)
    socket.write(target.get('/_mock/events'))
    const reader = await target.open()
    const refused = target.post('/api/v1/connected_accounts', { connector: 'mail', note: 'x'.repeat(15_000) })
    for (let each = 10; warned.length === 0; each += 10) {
      reader.send(refused.repeat(10))
      await reader.first(each)
      if (each === 5000) expect.fail('the stream is still open')
    }
    expect(warned).toEqual(['an event stream was closed: its client leaves too much unread'])
  })
}, 30_000)
