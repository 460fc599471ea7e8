import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import { connect as connectSocket, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { SILENT } from '../../../src/servers/http/log.ts'
import { ConnectedAccounts } from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { clientOf, entriesOf, it, type RpcMock, withRpc } from './fixture.ts'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
const SETTINGS = Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0)
const PATH = '/acme.tools.v1.ConnectedAccounts/ListAccounts'

/** Asserts that other clients are still served, over HTTP/1.1 and HTTP/2. */
async function servesOthers(mock: RpcMock): Promise<void> {
  const answer = await fetch(`${mock.url}/api/v1/connections`, { headers: mock.headers })
  expect(answer.status).toBe(200)
  const { totalSize } = await clientOf(ConnectedAccounts, mock).listAccounts({}, { headers: mock.headers })
  expect(totalSize).toBe(0n)
}

function socketTo({ url }: RpcMock): Socket {
  return connectSocket(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
}

/** Makes a call with any bytes as its body; returns its HTTP and gRPC status, or the error of its stream. */
async function callWith(mock: RpcMock, body: Uint8Array, headers: Record<string, string> = {}): Promise<unknown[]> {
  const session = connect(mock.url).on('error', () => undefined)
  const stream = session.request({
    ':method': 'POST',
    ':path': PATH,
    'content-type': 'application/grpc',
    ...mock.headers,
    ...headers,
  })
  let outcome: unknown[] = ['closed']
  stream.on('response', (answered) => (outcome = [answered[':status'], answered['grpc-status']]))
  stream.on('trailers', (trailers) => (outcome = [outcome[0], trailers['grpc-status']]))
  stream.on('error', () => undefined)
  stream.end(body)
  await once(stream.resume(), 'close').catch(() => undefined)
  session.destroy()
  return outcome
}

describe('invalid input', () => {
  it('as frames of HTTP/2 closes only their connection', async ({ startMock }) => {
    const mock = await startMock({ limits: { keepAliveTimeout: 200, headersTimeout: 200, requestTimeout: 200 } })
    const frames = fc.uint8Array({ minLength: 0, maxLength: 200 })
    const frame = fc
      .record({
        type: fc.nat(12),
        flags: fc.nat(255),
        stream: fc.nat(5),
        length: fc.option(fc.nat(0xffffff)),
        payload: frames,
      })
      .map(({ type, flags, stream, length, payload }) => {
        const head = Buffer.alloc(9)
        head.writeUIntBE(length ?? payload.length, 0, 3)
        head.writeUInt8(type, 3)
        head.writeUInt8(flags, 4)
        head.writeUInt32BE(stream, 5)
        return Buffer.concat([head, payload])
      })
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 5 }), fc.boolean(), async (sent, hasSettings) => {
        const socket = socketTo(mock)
        socket.end(Buffer.concat([PREFACE, ...(hasSettings ? [SETTINGS] : []), ...sent]))
        await once(socket.resume(), 'close')
      }),
      { numRuns: 60 },
    )
    await servesOthers(mock)
  })

  it('as messages of gRPC gets a status', async ({ mock }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(3),
        fc.option(fc.nat(0xffffffff)),
        fc.uint8Array({ maxLength: 60 }),
        async (flags, length, message) => {
          const head = Buffer.alloc(5)
          head.writeUInt8(flags)
          head.writeUInt32BE(length ?? message.length, 1)
          const [status, code] = await callWith(mock, Buffer.concat([head, message]))
          expect([status, typeof code]).toEqual([200, 'string'])
        },
      ),
      { numRuns: 40 },
    )
    await servesOthers(mock)
  })

  it.for([
    ['a compressed bomb', 'gzip', gzipSync(Buffer.alloc(50_000_000)), '8'],
    ['octets that are not compressed as they say', 'gzip', Buffer.from('no gzip'), /^(2|3|13)$/],
    ['an unknown encoding', 'snappy', Buffer.from('anything'), '12'],
  ])('%s gets a status', async ([_what, encoding, octets, code], { mock }) => {
    const head = Buffer.of(1, 0, 0, 0, 0)
    head.writeUInt32BE(octets.length, 1)
    const answered = await callWith(mock, Buffer.concat([head, octets]), { 'grpc-encoding': encoding })
    expect(answered).toEqual([200, typeof code === 'string' ? code : expect.stringMatching(code)])
    await servesOthers(mock)
  })

  it.for([
    ['an unreadable deadline', { 'grpc-timeout': 'soon' }],
    ['an unreadable token', { authorization: 'Bearer \u00ff' }],
  ])('%s gets a status', async ([_what, headers], { mock }) => {
    const [status, code] = await callWith(mock, Buffer.alloc(5), headers)
    expect([status, typeof code]).toEqual([200, 'string'])
    expect(code).not.toBe('0')
  })

  it('a message beyond the limit has its status while its client still sends', async ({ startMock }) => {
    const mock = await startMock({ bodyLimit: 1000 })
    const session = connect(mock.url)
    const stream = session.request({
      ':method': 'POST',
      ':path': PATH,
      'content-type': 'application/grpc',
      ...mock.headers,
    })
    const status = new Promise((resolve, reject) => {
      for (const event of ['response', 'trailers'] as const)
        stream.on(event, (fields) => fields['grpc-status'] !== undefined && resolve(fields['grpc-status']))
      stream.on('error', reject).on('close', () => reject(new Error('the stream closed without a status')))
    })
    stream.write(Buffer.concat([Buffer.of(0, 0, 0, 0x20, 0), Buffer.alloc(2000)]))
    stream.resume()
    expect(await status).toBe('8')
    session.destroy()
    await servesOthers(mock)
  })

  it('a call whose body never comes has begun, so the limit of a whole request resets its stream', async ({
    startMock,
  }) => {
    const mock = await startMock({ limits: { headersTimeout: 100, requestTimeout: 600 } })
    const session = connect(mock.url)
    const headers = { ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc', ...mock.headers }
    const stream = session.request(headers)
    let answered: unknown
    stream.on('response', (head) => (answered = head[':status']))
    stream.on('error', () => undefined)
    await once(stream.resume(), 'close').catch(() => undefined)
    expect(answered).toBeUndefined()
    session.destroy()
    await servesOthers(mock)
  })

  it('headers beyond the limit cost the stream or the connection', async ({ mock }) => {
    const session = connect(mock.url).on('error', () => undefined)
    const stream = session.request({ ':path': '/_mock/ready', 'x-large': 'a'.repeat(60_000) })
    stream.on('error', () => undefined)
    let status: number | undefined
    stream.on('response', (headers) => (status = headers[':status']))
    await once(stream.resume(), 'close').catch(() => undefined)
    expect(status).not.toBe(200)
    session.destroy()
    await servesOthers(mock)
  })
})

describe('very many streams', () => {
  it('that are open at once cause no warning of Node.js', async () => {
    const warnings: string[] = []
    const note = (warning: Error): void => void warnings.push(warning.message)
    process.on('warning', note)
    await withRpc({}, async (mock) => {
      const client = clientOf(ConnectedAccounts, mock)
      const calls = Array.from({ length: 50 }, () => client.listAccounts({}, { headers: mock.headers }))
      expect((await Promise.all(calls)).map(({ totalSize }) => totalSize)).toEqual(calls.map(() => 0n))
    })
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  it('ten thousand on one connection are answered, with a limited number at the same time', async ({ mock }) => {
    // Ten thousand calls that wait take more of the client's memory than Node.js from version 22 on allows.
    const session = connect(mock.url, { maxSessionMemory: 100 })
    await once(session, 'remoteSettings')
    expect(session.remoteSettings.maxConcurrentStreams).toBe(250)
    let answered = 0
    await Promise.all(
      Array.from({ length: 10_000 }, async () => {
        const stream = session.request({
          ':method': 'POST',
          ':path': PATH,
          'content-type': 'application/grpc',
          ...mock.headers,
        })
        stream.end(Buffer.alloc(5))
        const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
        if (headers[':status'] === 200) answered += 1
        await once(stream.resume(), 'close')
      }),
    )
    expect(answered).toBe(10_000)
    session.destroy()
    await servesOthers(mock)
  }, 600_000)

  it('resets of all of them, at once or midway, close at most their connection', async ({ mock }) => {
    const session = connect(mock.url).on('error', () => undefined)
    const open = (): boolean => !session.destroyed && !session.closed
    for (let round = 0; round < 20 && open(); round++) {
      for (let count = 0; count < 500 && open(); count++) {
        const stream = session.request({
          ':method': 'POST',
          ':path': PATH,
          'content-type': 'application/grpc',
          ...mock.headers,
        })
        stream.on('error', () => undefined)
        if (count % 2 === 0) stream.write(Buffer.of(0, 0, 0))
        stream.close(constants.NGHTTP2_CANCEL)
      }
      await new Promise(setImmediate)
    }
    await servesOthers(mock)
    session.destroy()
  })
})

it('a client that leaves: right after its call causes no error in the log', async () => {
  const failures: unknown[] = []
  await withRpc({ log: { ...SILENT, error: (...failure) => void failures.push(failure) } }, async (mock) => {
    const lines = [
      'POST /acme.tools.v1.Tools/ListTools HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Connect-Protocol-Version: 1',
      `Authorization: ${mock.headers.authorization}`,
      'Content-Length: 17',
    ]
    const call = async (): Promise<void> => {
      const socket = socketTo(mock)
      socket.write(`${lines.join('\r\n')}\r\n\r\n{"pageSize":1000}`, () => socket.resetAndDestroy())
      await once(socket, 'close')
    }
    for (let turn = 0; turn < 20; turn++) await Promise.all(Array.from({ length: 15 }, call))
    await servesOthers(mock)
  })
  expect(failures).toEqual([])
})

it.each(['application/grpc-web+json', 'application/json'])(
  'a client that leaves: while a large answer of %s is sent to it, which it does not read, ends only its connection',
  async (type) => {
    const failures: unknown[] = []
    const note = (...failure: unknown[]): void => void failures.push(failure)
    process.on('unhandledRejection', note)
    await withRpc({ log: { ...SILENT, error: note } }, async (mock) => {
      const call = { method: 'GET', path: '/' }
      for (const connector of ['one', 'two', 'three']) {
        const input_schema = { type: 'object', description: 'x'.repeat(8_000_000) }
        const tools = [{ name: `${connector}_tool`, description: 'Large.', input_schema, call }]
        const put = await fetch(`${mock.url}/_mock/connectors/${connector}`, {
          method: 'PUT',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ connector, authorization_type: 'API_KEY', tools }),
        })
        expect(put.status).toBe(200)
      }
      const message = '{"pageSize":1000}'
      const body = type.includes('grpc') ? Buffer.from(`\0\0\0\0\x11${message}`) : Buffer.from(message)
      const socket = socketTo(mock).pause()
      const lines = [
        'POST /acme.tools.v1.Tools/ListTools HTTP/1.1',
        'Host: localhost',
        `Content-Type: ${type}`,
        'Connect-Protocol-Version: 1',
        `Authorization: ${mock.headers.authorization}`,
        `Content-Length: ${body.length}`,
      ]
      socket.write(`${lines.join('\r\n')}\r\n\r\n`)
      socket.write(body)
      while (!entriesOf(mock).some(({ operation }) => operation === 'list_tools')) await servesOthers(mock)
      await servesOthers(mock)
      socket.resetAndDestroy()
      for (let turn = 0; turn < 5; turn++) await servesOthers(mock)
    })
    process.off('unhandledRejection', note)
    expect(failures).toEqual([])
  },
)
