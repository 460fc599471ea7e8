import { once } from 'node:events'
import { createServer, IncomingMessage, request as send, ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AppServices } from '../../../src/servers/control/app-services.ts'
import { type Log, SILENT } from '../../../src/servers/http/log.ts'
import { StreamWriter } from '../../../src/servers/http/stream-writer.ts'
import { Database, type Leader } from '../../../src/servers/replicas/database.ts'
import { NOT_ACTIVE } from '../../../src/model/domain/request-headers.ts'
import { Forwarder } from '../../../src/servers/replicas/forwarder.ts'
import { Lease } from '../../../src/servers/replicas/lease.ts'
import { Replica, type Term, type TermParts } from '../../../src/servers/replicas/replica.ts'
import { systemTime } from '../../../src/state/model/time-and-ids.ts'
import { freePort } from '../../support/free-port.ts'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { openTestRegistry } from '../../support/registry.ts'

const NEVER = new Promise<never>(() => undefined)
const SELF = { id: 'one', url: 'http://127.0.0.1:1', version: '1', settings: {} }
const FREE: Leader = { epoch: 0, id: null, url: null, expires_at: null, left_ms: 0, clock: null, schema_version: 1 }

const TERM: Term = {
  listener: () => undefined,
  services: {} as AppServices,
  client: { id: '', secret: '' },
  notices: [],
  rpc: undefined,
  endWaits: () => Promise.resolve(),
  close: () => Promise.resolve(),
}

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A replica whose database answers what a test says. */
function replicaOf(
  database: Partial<Database>,
  leaseMs: number,
  term: Partial<Term> = {},
  startTerm: (parts: TermParts) => Promise<Term> = () => Promise.resolve({ ...TERM, ...term }),
  log: Log = SILENT,
): Replica {
  const there = { place: 'postgres://db', close: () => Promise.resolve(), release: () => Promise.resolve() }
  const replica = new Replica({
    database: Object.assign(Object.create(Database.prototype) as Database, there, database),
    secret: 'secret',
    leaseMs,
    self: SELF,
    admission: {},
    shutdown: undefined,
    log,
    time: systemTime,
    startTerm,
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
  const asked = {
    announce,
    leader: announce,
    takeOver: () => Promise.resolve({ epoch: 1, ahead: 0 }),
    renew: () => NEVER,
  }
  const replica = replicaOf(asked, 1000, { endWaits })
  void replica.start()
  await expect.poll(() => endWaits).toHaveBeenCalled()
  ends.splice(0)
})

const databaseOf = (answers: Partial<Database>): Database =>
  Object.assign(Object.create(Database.prototype) as Database, { release: () => Promise.resolve(), ...answers })

it.each([
  // 0 + 1000 - 750, and 240 + 1000 - 750.
  ['it was asked for', 0, 250],
  ['its renewal was asked for', 1, 490],
])('a lease ends by the time before %s', async (_title, granted, end) => {
  let [now, renewals] = [0, 0]
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const after = <T>(ms: number, answer: T): Promise<T> => ((now += ms), Promise.resolve(answer))
  const renew = () => (renewals++ < granted ? after(200, true) : NEVER)
  const database = databaseOf({ takeOver: () => after(240, { epoch: 1, ahead: 0 }), renew })
  const lease = await Lease.take(database, SELF, 1000)
  await expect.poll(() => renewals).toBe(granted + 1)
  now = end - 1
  expect(lease?.isHeld).toBe(true)
  now = end
  expect(lease?.isHeld).toBe(false)
})

it('a lease is not renewed after it is over', async () => {
  const renew = vi.fn(() => Promise.resolve(true))
  const lease = await Lease.take(
    databaseOf({ takeOver: () => Promise.resolve({ epoch: 1, ahead: 0 }), renew }),
    SELF,
    1000,
  )
  await lease?.release()
  await new Promise((turn) => setImmediate(turn))
  expect(renew).not.toHaveBeenCalled()
})

it.each([
  ['secret admitted encrypted', { isAdmitted: true, isEncrypted: true }],
  ['secret', { isAdmitted: false, isEncrypted: false }],
  ['another admitted encrypted', undefined],
  ['admitted encrypted', undefined],
])('a request that says it was forwarded with "%s" is one from %j', (forwarded, arrival) => {
  const headers = { 'x-toolmock-forwarded': forwarded }
  expect(new Forwarder('secret').arrivalOf({ headers, rawHeaders: [] })).toEqual(arrival)
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
  await expect.poll(() => takeOver).toHaveBeenCalled()
  const standby = createServer(replica.listener).listen(0, '127.0.0.1')
  ends.push(() => standby.close().closeAllConnections())
  await once(standby, 'listening')
  const answer = await fetch(`http://127.0.0.1:${(standby.address() as AddressInfo).port}/`)
  expect(await answer.text()).toBe('answered')
})

it('a replica does not become active on tables that a newer version has changed', async () => {
  const takeOver = vi.fn(() => Promise.resolve({ epoch: 1, ahead: 0 }))
  let looks = 0
  const leader = (): Promise<Leader> => {
    looks += 1
    return Promise.resolve({ ...FREE, schema_version: looks > 3 ? 1 : 99 })
  }
  const replica = replicaOf({ announce: leader, leader, takeOver, renew: () => NEVER }, 2000)
  await replica.start()
  expect(takeOver).not.toHaveBeenCalled()
  await expect.poll(() => takeOver).toHaveBeenCalled()
  expect(looks).toBeGreaterThan(3)
})

it('at most 1,000 requests wait for an active replica', async () => {
  const other = { ...FREE, epoch: 1, id: 'one', url: SELF.url, left_ms: 60_000 }
  const replica = replicaOf({ announce: () => Promise.resolve(other), leader: () => Promise.resolve(other) }, 60_000)
  await replica.start()
  const waiting = Array.from({ length: 1001 }, () => exchange())
  for (const [request, response] of waiting) replica.listener(request, response)
  await expect.poll(() => waiting.filter(([, { headersSent }]) => headersSent)).toHaveLength(1)
  expect(waiting.at(-1)?.[1].statusCode).toBe(503)
  for (const [, response] of waiting) response.destroy()
})

it('bodies of 64 MiB are kept to be sent again, and a request whose body would go beyond it answers 503', async () => {
  const KEPT = 64
  const sent: ServerResponse[] = []
  const active = createServer((request, response) => {
    request.resume().on('end', () => sent.push(response))
  }).listen(0, '127.0.0.1')
  ends.push(() => active.close().closeAllConnections())
  await once(active, 'listening')
  const url = `http://127.0.0.1:${(active.address() as AddressInfo).port}`
  let other = { ...FREE, epoch: 1, id: 'two', url, expires_at: 'once', left_ms: 60_000 }
  const leader = (): Promise<Leader> => Promise.resolve(other)
  const replica = replicaOf({ announce: leader, leader }, 60_000)
  await replica.start()
  const standby = createServer(replica.listener).listen(0, '127.0.0.1')
  ends.push(() => standby.close().closeAllConnections())
  await once(standby, 'listening')
  const { port } = standby.address() as AddressInfo
  const answers: IncomingMessage[] = []
  const post = (bytes: number): void => {
    const call = send({ port, method: 'POST', path: '/api/v1/connected_accounts', agent: false })
    call.on('response', (answer) => answers.push(answer)).on('error', () => undefined)
    call.end(Buffer.alloc(bytes, 'x'))
  }
  for (let count = 0; count < KEPT; count++) post(1024 * 1024)
  await expect.poll(() => sent).toHaveLength(KEPT)
  expect(answers).toEqual([])

  // Sent on: one byte more is refused, a request without a body is not.
  post(1)
  await expect.poll(() => answers.map(({ statusCode }) => statusCode)).toEqual([503])
  expect(JSON.stringify(await answers[0]?.toArray().then(String))).toContain('STORAGE_UNAVAILABLE')
  post(0)
  await expect.poll(() => sent).toHaveLength(KEPT + 1)
  sent.pop()?.end()
  await expect.poll(() => answers).toHaveLength(2)

  // The active replica leaves: the same bodies wait for the next one, and no other comes in beside them.
  for (const response of sent.splice(0)) response.writeHead(421, { [NOT_ACTIVE]: 'secret' }).end()
  post(1)
  other = { ...other, epoch: 2, expires_at: 'twice' }
  await expect.poll(() => sent).toHaveLength(KEPT)
  await expect.poll(() => answers.map(({ statusCode }) => statusCode)).toEqual([503, 200, 503])

  // One that is answered makes room.
  sent.pop()?.end()
  await expect.poll(() => answers).toHaveLength(4)
  post(1024 * 1024)
  await expect.poll(() => sent).toHaveLength(KEPT)
  for (const response of sent) response.destroy()
}, 60_000)

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
  ['POST', 'repeat', () => target((_, response) => response.writeHead(421, { [NOT_ACTIVE]: 'secret' }).end())],
  ['POST', 'answered', () => target((_, response) => response.writeHead(421, { [NOT_ACTIVE]: '1' }).end())],
] as const

it.each(cases)('a request that was sent to a replica that fell silent: %s: %s', async (method, outcome, start) => {
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

describe('a call of gRPC to a replica that stands by', () => {
  const standbyOf = async (serve: (request: IncomingMessage, response: ServerResponse) => void) => {
    const active = createServer(serve).listen(0, '127.0.0.1')
    ends.push(() => active.close().closeAllConnections())
    await once(active, 'listening')
    const url = `http://127.0.0.1:${(active.address() as AddressInfo).port}`
    const present = { ...FREE, epoch: 1, id: 'two', url, expires_at: 'once', left_ms: 60_000 }
    const leader = (): Promise<Leader> => Promise.resolve({ ...present })
    const replica = replicaOf({ announce: leader, leader }, 2000)
    await replica.start()
    const standby = createServer(replica.listener).listen(0, '127.0.0.1')
    ends.push(() => standby.close().closeAllConnections())
    await once(standby, 'listening')
    const { port } = standby.address() as AddressInfo
    const headers = { 'content-type': 'application/grpc' }
    const call = send({ port, method: 'POST', path: '/a.B/C', agent: false, headers })
    call.on('error', () => undefined)
    return { active, call, present }
  }

  it('gets UNAVAILABLE once another one is active, where the active one fell silent', async () => {
    const { active, call, present } = await standbyOf(() => undefined)
    call.end(Buffer.alloc(5))
    await once(active, 'request')
    present.epoch = 2
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    expect([answer.statusCode, answer.headers['grpc-status']]).toEqual([200, '14'])
    expect(decodeURIComponent(String(answer.headers['grpc-message']))).toContain('may or may not have happened')
  })

  it('gets its answer, with the status behind it, before it has sent everything', async () => {
    const { call } = await standbyOf((_, response) => {
      response.writeHead(200, { 'content-type': 'application/grpc' })
      response.addTrailers({ 'grpc-status': '12' })
      response.end(Buffer.alloc(5))
    })
    call.write(Buffer.alloc(5))
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    await once(answer.resume(), 'end')
    expect(answer.trailers).toEqual({ 'grpc-status': '12' })
    call.destroy()
  })
})

it('a stream of events says nothing once the lease is over', async () => {
  const registry = { isOver: false }
  const server = createServer((_, response) => {
    const writer = new StreamWriter(response, registry)
    writer.write('first')
    registry.isOver = true
    writer.write('late')
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

it('a state is not served when the lease has ended while it was read', async () => {
  const lease = {
    isHeld: true,
    assertHeld: () => {
      throw new Error('the lease is over')
    },
  }
  const lock = () => Promise.resolve({ release: () => Promise.resolve() })
  const opened = openTestRegistry({ file: '/data/state.json', fileSystem: new MemoryDisk(), lock, lease })
  await expect(opened).rejects.toThrow('the lease is over')
})

it.each([
  [100, undefined],
  [1100, '--lease 3300 or more'],
])('a replica whose start takes %i ms of a lease of three seconds warns of %s', async (ms, advice) => {
  const warnings: string[] = []
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const startTerm = (): Promise<Term> => ((now += ms), Promise.resolve(TERM))
  const asked = { announce: () => Promise.resolve(FREE), leader: () => Promise.resolve(FREE) }
  const log = { ...SILENT, warn: (line: string) => void warnings.push(line) }
  const replica = replicaOf(
    { ...asked, takeOver: () => Promise.resolve({ epoch: 1, ahead: 0 }) },
    3000,
    {},
    startTerm,
    log,
  )
  await replica.start()
  if (advice === undefined) expect(warnings).toEqual([])
  else
    expect(warnings.join()).toMatch(
      /^the start took \d+ ms, more than a third of the lease; give --lease 3\d{3} or more$/,
    )
})

it('a replica that is asked to leave while it reads the state gives its lease back at once', async () => {
  const release = vi.fn(() => Promise.resolve())
  const asked = { announce: () => Promise.resolve(FREE), leader: () => Promise.resolve(FREE), forget: () => NEVER }
  const startTerm = vi.fn(async ({ place: { lease } }: TermParts): Promise<Term> => {
    void replica.leave()
    await expect.poll(() => release).toHaveBeenCalledWith(1)
    lease?.assertHeld()
    throw new Error('the whole state was read')
  })
  const replica = replicaOf(
    { ...asked, takeOver: () => Promise.resolve({ epoch: 1, ahead: 0 }), release },
    2000,
    {},
    startTerm,
  )
  await replica.start()
  await expect(startTerm.mock.results[0]?.value).rejects.toThrow('its lease is over')
  expect(release).toHaveBeenCalledTimes(1)
})
