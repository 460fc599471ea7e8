import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { describe, expect } from 'vitest'
import { ConnectedAccounts } from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { clientOf, fired, it, type RpcMock, scenario, withRpc } from './fixture.ts'

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Sends a request over HTTP/2. */
async function ask(session: ClientHttp2Session, headers: Record<string, string>, body?: string): Promise<Answer> {
  const stream = session.request(headers, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  const [answered] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }]
  return { status: answered[':status'], headers: answered, body: await textOf(stream) }
}

async function textOf(stream: ClientHttp2Stream): Promise<string> {
  let text = ''
  for await (const piece of stream.setEncoding('utf8')) text += String(piece)
  return text
}

async function withSession(
  { url }: Pick<RpcMock, 'url'>,
  work: (session: ClientHttp2Session) => Promise<void>,
  ca?: Buffer,
): Promise<void> {
  const session = connect(url, ca ? { ca } : {})
  try {
    await work(session)
  } finally {
    session.destroy()
  }
}

describe('REST over HTTP/2 without TLS, by prior knowledge', () => {
  it('answers operations, with bodies of either side, as HTTP/1.1 does', async ({ mock }) => {
    await withSession(mock, async (session) => {
      const authorization = `Bearer ${mock.token}`
      const made = await ask(
        session,
        {
          ':method': 'POST',
          ':path': '/api/v1/connected_accounts',
          authorization,
          'content-type': 'application/json',
        },
        JSON.stringify({ connector: 'mail', identifier: 'ada@example.com' }),
      )
      expect(made.status).toBe(201)
      expect(made.headers['x-request-id']).toMatch(/^req_/)
      const id = JSON.parse(made.body).connected_account.id as string
      const path = `/api/v1/connected_accounts/details?id=${id}`
      const rest = await fetch(`${mock.url}${path}`, { headers: { authorization } })
      const read = await ask(session, { ':path': path, authorization })
      expect([read.status, read.body]).toEqual([200, await rest.text()])
      expect((await ask(session, { ':path': '/nothing' })).status).toBe(404)
      expect((await ask(session, { ':path': path })).status).toBe(401)
      expect((await ask(session, { ':path': path, ':method': 'HEAD', authorization })).body).toBe('')
    })
  })

  it('builds links on the address that the client used', async ({ mock }) => {
    await withSession(mock, async (session) => {
      const answer = await ask(
        session,
        {
          ':method': 'POST',
          ':path': '/api/v1/connected_accounts/magic_link',
          ':authority': 'mock.test:1234',
          authorization: `Bearer ${mock.token}`,
          'content-type': 'application/json',
        },
        JSON.stringify({ connector: 'mail', identifier: 'ada@example.com' }),
      )
      expect(JSON.parse(answer.body).link).toMatch(/^http:\/\/mock\.test:1234\/magic\//)
    })
  })

  it('serves the control API and its event stream beside other streams of the connection', async ({ mock }) => {
    await withSession(mock, async (session) => {
      const events = session.request({ ':path': '/_mock/events' }).setEncoding('utf8')
      await once(events, 'response')
      const entry = new Promise<string>((resolve) => {
        let text = ''
        events.on('data', (piece: string) => {
          text += piece
          if (text.includes('list_connections')) resolve(text)
        })
      })
      await ask(session, { ':path': '/api/v1/connections', authorization: `Bearer ${mock.token}` })
      expect(await entry).toContain('"operation":"list_connections"')
      expect((await ask(session, { ':path': '/_mock/ready' })).status).toBe(200)
      events.close()
    })
  })

  it.for([
    ['reset_connection', {}],
    ['empty_response', {}],
    ['truncate_body', { bytes: 5 }],
  ])('resets only the stream for the fault %s', async ([fault, parameters], { mock }) => {
    await scenario(mock, { at: 'service', on: { operation: 'list_connections' }, do: [{ [fault]: parameters }] })
    await withSession(mock, async (session) => {
      const authorization = `Bearer ${mock.token}`
      const cut = ask(session, { ':path': '/api/v1/connections', authorization })
      await expect(cut).rejects.toThrow(/Stream closed with error code|aborted/)
      expect((await ask(session, { ':path': '/api/v1/tools', authorization })).status).toBe(200)
    })
  })
})

it('one port recognizes HTTP/2 and HTTP/1.1 by the first bytes, in one piece or in many', async ({ mock: { url } }) => {
  const { port } = new URL(url)
  const socket = connectSocket(Number(port), '127.0.0.1').setNoDelay(true).setEncoding('latin1')
  for (const octet of 'PROPFIND /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n') {
    socket.write(octet)
    await new Promise(setImmediate)
  }
  const [first] = (await once(socket, 'data')) as [string]
  expect(first).toMatch(/^HTTP\/1\.1 404 /)
  socket.destroy()
  const other = connectSocket(Number(port), '127.0.0.1').setNoDelay(true)
  for (const octet of Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1')) {
    other.write(Buffer.of(octet))
    await new Promise(setImmediate)
  }
  const [settings] = (await once(other, 'data')) as [Buffer]
  // The type of the first frame is SETTINGS.
  expect(settings[3]).toBe(4)
  other.destroy()
})

it('one port serves HTTP/1.1 and HTTP/2 by ALPN with TLS', async ({ startMock }) => {
  const { app, url } = await startMock({ tls: { hosts: [] } })
  const ca = readFileSync(app.authorityFile ?? '')
  await withSession(
    { url },
    async (session) => {
      expect((await ask(session, { ':path': '/_mock/ready' })).status).toBe(200)
      expect(session.alpnProtocol).toBe('h2')
    },
    ca,
  )
  const { port } = new URL(url)
  const socket = connectTls({ port: Number(port), host: '127.0.0.1', ca, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  expect(socket.alpnProtocol).toBe('http/1.1')
  socket.write('GET /_mock/ready HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')
  const [answer] = (await once(socket.setEncoding('latin1'), 'data')) as [string]
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  socket.destroy()
})

it('one port serves no HTTP/2 without descriptors', async ({ startMock }) => {
  const { url } = await startMock({ descriptors: [] })
  const session = connect(url)
  const [error] = (await once(session, 'error')) as [Error]
  expect(error.message).toMatch(/Protocol error|ECONNRESET|closed/i)
})

describe('the limits of HTTP/2', () => {
  const limits = { headersTimeout: 100, requestTimeout: 100, keepAliveTimeout: 100, closeTimeout: 100 }

  it('close a connection that sends no data, or part of the preface', async ({ startMock }) => {
    const { url } = await startMock({ limits })
    const { port } = new URL(url)
    for (const sent of ['', 'PR', 'PRI * HTTP/2.0\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0']) {
      const socket = connectSocket(Number(port), '127.0.0.1')
      socket.write(sent, 'latin1')
      await once(socket.resume(), 'close')
    }
  })

  it('close an idle connection and reset an incomplete request', async ({ startMock }) => {
    const { url } = await startMock({ limits })
    const session = connect(url)
    const call = session.request({
      ':method': 'POST',
      ':path': '/acme.tools.v1.ConnectedAccounts/ListAccounts',
      'content-type': 'application/grpc',
    })
    call.write(Buffer.of(0, 0, 0))
    await once(call.resume(), 'close')
    await once(session, 'close')
  })

  it('close a connection whose client reads nothing of its answer after the time of HTTP/1.1, and pings do not extend it', async () => {
    const stallTimeout = 2000
    await withRpc({ limits: { ...limits, keepAliveTimeout: 60_000, stallTimeout } }, async (mock) => {
      await seedAccounts(mock, 1000)
      const from = performance.now()
      const session = connect(mock.url)
      session.on('error', () => undefined)
      const call = session.request({ ':path': '/_mock/state' })
      call.on('error', () => undefined)
      await once(call, 'response')
      const pings = setInterval(() => session.ping(() => undefined), stallTimeout / 10)
      await once(session, 'close')
      clearInterval(pings)
      expect(performance.now() - from).toBeGreaterThan(stallTimeout * 0.9)
    })
  })

  it('keep a call open whose client reads slowly', async ({ startMock }) => {
    const mock = await startMock({ limits: { ...limits, keepAliveTimeout: 60_000, stallTimeout: 1000 } })
    await seedAccounts(mock, 2000)
    await withSession(mock, async (session) => {
      const call = session.request({ ':path': '/_mock/state' })
      const reading = setInterval(() => {
        call.resume()
        setImmediate(() => call.pause())
      }, 20)
      let length = 0
      call.on('data', (piece: Buffer) => (length += piece.length)).pause()
      await once(call, 'end')
      clearInterval(reading)
      expect(length).toBeGreaterThan(500_000)
    })
  })

  it('keep a call open that waits for the mock', async ({ startMock }) => {
    const mock = await startMock({ limits: { ...limits, stallTimeout: 100 } })
    await scenario(mock, { at: 'service', on: { operation: 'list_connected_accounts' }, do: [{ latency: 400 }] })
    const answer = await clientOf(ConnectedAccounts, mock).listAccounts({}, { headers: mock.headers })
    expect(answer.connectedAccounts).toEqual([])
  })

  it('let a call under way finish when the server closes', async ({ mock }) => {
    await scenario(mock, { at: 'service', on: { operation: 'list_connected_accounts' }, do: [{ latency: 60_000 }] })
    const call = clientOf(ConnectedAccounts, mock).listAccounts({}, { headers: mock.headers })
    await fired(mock)
    const closed = mock.app.close()
    expect((await call).connectedAccounts).toEqual([])
    await closed
  })
})

async function seedAccounts({ url }: RpcMock, accounts: number): Promise<void> {
  const body = JSON.stringify({ generate: [{ accounts, connector: 'mail' }] })
  const headers = { 'Content-Type': 'application/json' }
  expect((await fetch(`${url}/_mock/seed`, { method: 'POST', headers, body })).status).toBe(200)
}
