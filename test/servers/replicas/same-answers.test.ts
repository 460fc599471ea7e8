import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createApp } from '../../../src/app/app.ts'
import type { AppOptions } from '../../../src/app/options.ts'
import { describeWith } from '../../support/machine.ts'
import { TestPostgres } from '../../support/postgres.ts'

/** A busy machine that keeps this process from running for a second must not end it. */
const LEASE = 6000
const HOUR = 3_600_000
let postgres: TestPostgres

interface Started {
  readonly url: string
  readonly log: string[]
  /** The exit codes that it asked for. */
  readonly stopped: () => number[]
  close(): Promise<void>
}

async function replica(schema: string, options: Partial<AppOptions> = {}): Promise<Started> {
  const log: string[] = []
  const note = (message: string): number => log.push(message)
  const shutdown = vi.fn()
  const app = await createApp({
    state: postgres.url,
    stateSchema: schema,
    lease: LEASE,
    log: { info: note, warn: note, error: note, debug: note },
    shutdown,
    ...options,
  })
  const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url, log, stopped: () => shutdown.mock.calls.flat() as number[], close: () => app.close() }
}

/** Two replicas: the active one, and one that stands by. */
async function withTwo(
  work: (active: Started, standby: Started, schema: string) => Promise<void>,
  [first = {}, second = {}]: readonly Partial<AppOptions>[] = [],
): Promise<void> {
  const schema = postgres.schema()
  const active = await replica(schema, first)
  const standby = await replica(schema, second)
  try {
    await expect.poll(async () => (await fetch(`${standby.url}/_mock/ready`)).status).toBe(200)
    await work(active, standby, schema)
  } finally {
    await Promise.all([active.close(), standby.close()])
  }
}

const INTERIM = /^HTTP\/1.1 100 Continue\r\n\r\n/

/** The answer to a text, without what differs with time and place. */
async function answerTo(url: string, text: string): Promise<string> {
  const { port, host } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.setTimeout(30_000, () => socket.destroy(new Error(`there is no whole answer to ${text}`)))
  socket.write(text.replaceAll('HOST', host))
  let answer = ''
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1')
    const [head = '', body] = answer.replace(INTERIM, '').split('\r\n\r\n')
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Infinity)
    if (body !== undefined && (text.startsWith('HEAD') || body.length >= length)) socket.destroy()
  })
  await once(socket, 'close')
  return answer
    .replaceAll(host, 'HOST')
    .replaceAll(/^(date|keep-alive|transfer-encoding|connection|content-length):.*\r\n/gim, '')
    .replaceAll(/req_\w+/g, 'req')
    .toLowerCase()
    .replace(
      /^(http.*100 .*\r\n\r\n)?([^]*?)\r\n\r\n/,
      (_, interim: string | undefined, head: string) => (interim ?? '') + head.split('\r\n').sort().join('\n') + '\n\n',
    )
}

async function tokenAt(url: string): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'test_secret' }
  const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  return ((await answer.json()) as { access_token: string }).access_token
}

describeWith('postgresql', 'two replicas', () => {
  beforeAll(async () => {
    postgres = await TestPostgres.start()
  })
  afterAll(async () => {
    await postgres.stop()
  })

  it('give the same answer to every request, however it is malformed', async () => {
    await withTwo(async (active, standby) => {
      const bearer = `Authorization: Bearer ${await tokenAt(active.url)}\r\n`
      const path = '/api/v1/connections'
      const requests = [
        'OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n',
        'GET * HTTP/1.1\r\nHost: HOST\r\n\r\n',
        `GET ${path} HTTP/1.1\r\n${bearer}\r\n`,
        `GET ${path} HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n${bearer}\r\n`,
        `GET ${path} HTTP/1.1\r\nHost: HOST\r\nConnection: close, authorization\r\n${bearer}\r\n`,
        `GET ${path} HTTP/1.1\r\nHost: HOST\r\nExpect: foo\r\n${bearer}\r\n`,
        `GET /_mock/env HTTP/1.0\r\n\r\n`,
        `GET ${path} HTTP/1.0\r\n${bearer}\r\n`,
        `GET ${path} HTTP/1.0\r\nHost: HOST\r\nHost: other\r\n${bearer}\r\n`,
        `GET ${path} HTTP/1.1\r\nHost:\r\n${bearer}\r\n`,
        `GET http://HOST${path} HTTP/1.1\r\nHost: other\r\n${bearer}\r\n`,
        `HEAD ${path} HTTP/1.1\r\nHost: HOST\r\n${bearer}\r\n`,
        `GET /%zz HTTP/1.1\r\nHost: HOST\r\n${bearer}\r\n`,
        `GET ${path}?%zz HTTP/1.1\r\nHost: HOST\r\n${bearer}\r\n`,
        `GET ${path} HTTP/1.1\r\nHost: HOST\r\n${bearer}${bearer}\r\n`,
        `TRACE ${path} HTTP/1.1\r\nHost: HOST\r\n${bearer}\r\n`,
        `GET ${path} HTTP/1.1\r\nHost: HOST\r\nUpgrade: x\r\nConnection: upgrade\r\n${bearer}\r\n`,
        `POST ${path} HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\n${bearer}\r\nhello`,
        `POST /oauth/token HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\nContent-Encoding: nope\r\n\r\n{}`,
        `POST /oauth/token HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{}`,
        `POST /api/v1/connected_accounts HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`,
        `POST /oauth/token HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n3\r\na=b\r\n0\r\n\r\n`,
        `POST /oauth/token HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
        `GET ${path} HTTP/1.1\r\nHost: HOST\r\nX-Latin: \u00e9\r\nTE: trailers\r\n${bearer}\r\n`,
        `GET ${path} HTTP/2.7\r\nHost: HOST\r\n\r\n`,
        'nonsense\r\n\r\n',
      ]
      for (const text of requests)
        expect([text, await answerTo(standby.url, text)]).toEqual([text, await answerTo(active.url, text)])
      expect((await fetch(`${standby.url}/_mock/ready`)).status).toBe(200)
    })
  }, 60_000)

  it('send a request once where its third party answers 421 with the header of a replica', async () => {
    let payments = 0
    const bank = createServer((request, response) => {
      request.resume()
      payments += 1
      response.writeHead(421, { 'x-toolmock-not-active': '1' }).end('elsewhere')
    }).listen(0, '127.0.0.1')
    await once(bank, 'listening')
    const base_url = `http://127.0.0.1:${(bank.address() as AddressInfo).port}`
    await withTwo(async (active, standby) => {
      const headers = {
        Authorization: `Bearer ${await tokenAt(active.url)}`,
        connection_name: 'bank',
        identifier: 'ada',
        'content-type': 'application/json',
      }
      const seed = {
        connectors: [{ connector: 'bank', authorization_type: 'NO_AUTH', base_url }],
        accounts: [{ connector: 'bank', identifier: 'ada' }],
      }
      const body = JSON.stringify(seed)
      expect((await fetch(`${active.url}/_mock/seed`, { method: 'POST', headers, body })).status).toBe(200)
      for (const url of [standby.url, active.url]) {
        const lines = Object.entries({ Host: 'HOST', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
        const answer = await answerTo(url, `POST /proxy/pay HTTP/1.1\r\n${lines.join('')}Content-Length: 2\r\n\r\n{}`)
        expect(answer).toMatch(/^http\/1.1 421 .*elsewhere$/s)
        expect(answer).not.toContain('not-active')
      }
      expect(payments).toBe(2)
    })
    bank.close()
  }, 60_000)

  it('warn of clocks that differ by more than a lease, and the clock of an environment never goes back', async () => {
    const now = async ({ url }: Started): Promise<number> => {
      const { now } = (await (await fetch(`${url}/_mock/clock`)).json()) as { now: string }
      return Date.parse(now)
    }
    await withTwo(
      async (active, standby) => {
        const warning = expect.stringMatching(
          /^the clock of this machine is 3600 s behind the clock of the replica/,
        ) as string
        expect(active.log).not.toContainEqual(warning)
        await expect.poll(() => standby.log).toContainEqual(warning)
        standby.log.length = 0
        const before = await now(standby)
        await active.close()
        await expect.poll(() => standby.log).toContain('this replica is active')
        const after = await now(standby)
        expect(after).toBeGreaterThanOrEqual(before)
        expect(after - before).toBeLessThan(60_000)
        expect(standby.log).toContainEqual(warning)
      },
      [{ time: () => Date.now() + HOUR }],
    )
  }, 60_000)

  it('stop and say so when their schema is dropped', async () => {
    await withTwo(async (active, standby, schema) => {
      await postgres.query(`drop schema ${schema} cascade`)
      const gone = expect.stringContaining(
        'its tables were dropped, and with them the state; this replica stops',
      ) as string
      for (const each of [active, standby]) {
        await expect.poll(each.stopped).toEqual([1])
        expect(each.log.filter((line) => line.includes('its tables were dropped'))).toEqual([gone])
      }
    })
  }, 60_000)
})
