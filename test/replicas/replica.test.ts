import { once } from 'node:events'
import { createServer, IncomingMessage, request as send, ServerResponse } from 'node:http'
import { createServer as createHttp2Server, connect } from 'node:http2'
import { type AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AppServices } from '../../src/control/app-services.ts'
import { holdAnswer } from '../../src/http/held-answers.ts'
import { SILENT } from '../../src/http/log.ts'
import { Database, type Leader } from '../../src/replicas/database.ts'
import { Forwarder, NOT_ACTIVE } from '../../src/replicas/forwarder.ts'
import { Http2Forwarder } from '../../src/replicas/http2-forwarder.ts'
import { Replica, type Term } from '../../src/replicas/replica.ts'
import { monotonicTime } from '../../src/state/model/time-and-ids.ts'
import { freePort } from '../support/free-port.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { addAccount, openTestRegistry } from '../support/registry.ts'

const NEVER = new Promise<never>(() => undefined)
const SELF = { id: 'one', url: 'http://127.0.0.1:1', version: '1', settings: {} }
const FREE: Leader = { epoch: 0, id: null, url: null, expires_at: null, left_ms: 0, schema_version: 1 }

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A replica whose database answers what a test says. */
function replicaOf(database: Partial<Database>, leaseMs: number, term: Partial<Term> = {}): Replica<Term> {
  const there = { place: 'postgres://db', close: () => Promise.resolve(), release: () => Promise.resolve() }
  const replica = new Replica<Term>({
    database: Object.assign(Object.create(Database.prototype) as Database, there, database),
    secret: 'secret',
    leaseMs,
    self: SELF,
    admission: {},
    shutdown: undefined,
    log: SILENT,
    startTerm: () =>
      Promise.resolve({
        listener: () => undefined,
        services: {} as AppServices,
        notices: [],
        rpc: undefined,
        endWaits: () => Promise.resolve(),
        close: () => Promise.resolve(),
        ...term,
      }),
  })
  ends.push(() => replica.close())
  return replica
}

function exchange(method = 'GET', url = '/api/v1/connections'): [IncomingMessage, ServerResponse] {
  const request = Object.assign(new IncomingMessage(new Socket()), { method, url })
  return [request, new ServerResponse(request)]
}

it('a lease that ends while the database does not answer ends what its term keeps open', async () => {
  const endWaits = vi.fn(() => Promise.resolve())
  let looks = 0
  const announce = (): Promise<Leader> => (looks++ === 0 ? Promise.resolve(FREE) : NEVER)
  const asked = { announce, leader: announce, takeOver: () => Promise.resolve(1), renew: () => NEVER }
  const replica = replicaOf(asked, 1000, { endWaits })
  void replica.start()
  await vi.waitFor(() => expect(endWaits).toHaveBeenCalled(), 20_000)
  ends.splice(0)
})

it('a replica that could not take over forwards to the one that does', async () => {
  const active = createServer((_, response) => response.end('answered')).listen(0, '127.0.0.1')
  ends.push(() => active.close().closeAllConnections())
  await once(active, 'listening')
  const url = `http://127.0.0.1:${(active.address() as AddressInfo).port}`
  const first = { ...FREE, epoch: 1, id: 'two', url, left_ms: 100 }
  const takeOver = vi.fn(() => Promise.reject(new Error('the database is away')))
  let looks = 0
  const leader = (): Promise<Leader> => {
    if (takeOver.mock.calls.length > 0) return Promise.resolve({ ...first, epoch: 2, left_ms: 60_000 })
    return Promise.resolve({ ...first, left_ms: looks++ === 0 ? 100 : 0 })
  }
  const replica = replicaOf({ announce: leader, leader, takeOver }, 120_000)
  await replica.start()
  await vi.waitFor(() => expect(takeOver).toHaveBeenCalled(), 20_000)
  const standby = createServer(replica.listener).listen(0, '127.0.0.1')
  ends.push(() => standby.close().closeAllConnections())
  await once(standby, 'listening')
  const answer = await fetch(`http://127.0.0.1:${(standby.address() as AddressInfo).port}/`)
  expect(await answer.text()).toBe('answered')
})

it('at most 1,000 requests wait for an active replica', async () => {
  const other = { ...FREE, epoch: 1, id: 'one', url: SELF.url, left_ms: 60_000 }
  const replica = replicaOf({ announce: () => Promise.resolve(other), leader: () => Promise.resolve(other) }, 60_000)
  await replica.start()
  const waiting = Array.from({ length: 1001 }, () => exchange())
  for (const [request, response] of waiting) replica.listener(request, response)
  await vi.waitFor(() => expect(waiting.filter(([, { headersSent }]) => headersSent)).toHaveLength(1))
  expect(waiting.at(-1)?.[1].statusCode).toBe(503)
  for (const [, response] of waiting) response.destroy()
})

describe('a request that was sent to a replica that fell silent', () => {
  const target = async (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> => {
    const server = createServer(answer).listen(0, '127.0.0.1')
    ends.push(() => server.close().closeAllConnections())
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const silent = () => target(() => undefined)
  const cases = [
    ['GET', 'repeat', silent],
    ['HEAD', 'repeat', silent],
    ['POST', 'unknown', silent],
    ['DELETE', 'unknown', silent],
    ['POST', 'repeat', async () => `http://127.0.0.1:${await freePort()}`],
    ['POST', 'repeat', () => target((_, response) => response.writeHead(421, { [NOT_ACTIVE]: '1' }).end())],
  ] as const

  it.each(cases)('%s: %s', async (method, outcome, start) => {
    const forwarder = new Forwarder('secret')
    ends.push(() => forwarder.close())
    const url = await start()
    const [request, response] = exchange(method)
    const body = { start: Buffer.from(method === 'POST' ? '{}' : ''), rest: undefined }
    const arrival = { isAdmitted: false, isEncrypted: false }
    const sent = forwarder.forward({ epoch: 1, url }, { request, response, body, arrival })
    forwarder.endBefore(2)
    expect(await sent).toBe(outcome)
  })
})

it('a call of gRPC to a replica that fell silent ends once another one is active', async () => {
  const silent = createHttp2Server().listen(0, '127.0.0.1')
  const standby = createHttp2Server().listen(0, '127.0.0.1')
  await Promise.all([once(silent, 'listening'), once(standby, 'listening')])
  const forwarder = new Http2Forwarder()
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const outcome = new Promise<string | undefined>((resolve) => {
    standby.on('request', (request, response) => {
      request.stream.on('error', () => undefined)
      void forwarder.forward(url, request, response, []).then(resolve)
    })
  })
  const client = connect(`http://127.0.0.1:${(standby.address() as AddressInfo).port}`)
  client
    .request({ ':method': 'POST', ':path': '/a.B/C', 'content-type': 'application/grpc' })
    .on('error', () => undefined)
    .end()
  await once(silent, 'stream')
  forwarder.endOthers('http://127.0.0.1:2')
  expect(await outcome).toContain('may or may not have happened')
  client.destroy()
  silent.close()
  standby.close()
})

it('a stream of events says nothing once the lease is over', async () => {
  const registry = { durable: () => undefined, isOver: false }
  const server = createServer((_, response) => {
    holdAnswer(response, registry)
    response.write('first')
    registry.isOver = true
    response.write('late')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const call = send({ port: (server.address() as AddressInfo).port }).end()
  const said = await new Promise<string>((resolve) => {
    let text = ''
    call.on('response', (answer) => {
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.on('error', () => undefined).on('close', () => resolve(text))
    })
    call.on('error', () => resolve(text))
  })
  expect(said).not.toContain('late')
  server.close()
})

it('the lease can be renewed while the state file and its log are read', async () => {
  const fileSystem = new MemoryDisk()
  const lock = () => Promise.resolve({ release: () => Promise.resolve() })
  const open = () => openTestRegistry({ file: '/data/state.json', fileSystem, lock })
  const registry = await open()
  registry.create('default')
  for (let count = 1; count <= 20_000; count++) {
    addAccount(registry)
    if (count % 500 === 0) await registry.flushed()
    if (count === 10_000) await registry.checkpoint()
  }
  const began = monotonicTime()
  const turns = [began]
  const timer = setInterval(() => turns.push(monotonicTime()), 1)
  await open()
  clearInterval(timer)
  const ended = monotonicTime()
  const pauses = turns.map((at, index) => (turns[index + 1] ?? ended) - at)
  expect(Math.max(...pauses)).toBeLessThan((ended - began) / 3)
}, 60_000)
