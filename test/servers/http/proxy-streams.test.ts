import { once } from 'node:events'
import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { describe, expect } from 'vitest'
import { ada, appSeed } from '../../service/operations/app-seed.ts'
import { withServer } from '../../support/server.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { startScenario } from '../../support/scenario.ts'

const MIB = 1024 * 1024
/** More than is kept in memory. */
const BEGINNING = Buffer.alloc(2 * MIB, 'a')
const END = Buffer.alloc(MIB, 'z')
const CONNECTOR = {
  authorization_type: 'API_KEY',
  credentials: { fields: [{ name: 'api_key' }], send: { headers: { 'X-Api-Key': '{{credentials.api_key}}' } } },
}
const ACCOUNT = { authorization_details: { static_auth: { details: { api_key: 'key_of_ada' } } } }
const JSON_TYPE = { 'Content-Type': 'application/json' }

interface Streaming extends TestToolmock {
  /** Opens a request through the proxy for Ada's account; all requests share one connection. */
  readonly open: (headers?: Record<string, string | number>, method?: string) => ClientRequest
  /** The journal's entries of the proxy. */
  readonly entries: () => Promise<Record<string, unknown>[]>
}

interface Answer {
  readonly status: number | undefined
  readonly text: string
}

/** Runs `work` with a third party that takes whatever size of body; `onRequest` is called when a request has begun. */
function withStreams(
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
  work: (mock: Streaming) => Promise<void>,
): Promise<void> {
  return withServer(onRequest, (base_url) =>
    withToolmock({ seed: appSeed([], { ...CONNECTOR, base_url }, ACCOUNT) }, async (mock) => {
      const { port } = await mock.app.listen({ host: '127.0.0.1', port: 0 })
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const account = { Authorization: `Bearer ${await mock.signIn()}`, connection_name: 'app', identifier: 'ada' }
      const open: Streaming['open'] = (headers = {}, method = 'POST') =>
        request({ host: '127.0.0.1', port, path: '/proxy/up', method, headers: { ...account, ...headers }, agent })
      const entries = async () => {
        const { body } = await mock.http('get', '/_mock/requests?operation=proxy_request')
        return (body as { requests: Record<string, unknown>[] }).requests
      }
      try {
        await work({ ...mock, open, entries })
      } finally {
        agent.destroy()
      }
    }),
  )
}

async function answerOf(sent: ClientRequest): Promise<Answer> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const text = Buffer.concat((await response.toArray()) as Buffer[]).toString()
  return { status: response.statusCode, text }
}

/** Answers with the size of the body and its first and last byte. */
async function measure(received: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat((await received.toArray()) as Buffer[])
  response.end(`${body.length} ${body.toString('latin1', 0, 1)}${body.toString('latin1', body.length - 1)}`)
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((settled) => {
    resolve = settled
  })
  return { promise, resolve }
}

/** A request whose body the third party has begun to receive, and the request that it received. */
async function begun(
  sent: ClientRequest,
  arrivals: PromiseLike<IncomingMessage>,
): Promise<{ received: IncomingMessage }> {
  sent.on('error', () => undefined)
  sent.write(BEGINNING)
  return { received: await arrivals }
}

describe('bodies of the proxy of more than 1 MiB', () => {
  it.each([
    ['POST', { 'Content-Length': BEGINNING.length + END.length }, 'content-length'],
    ['POST', {}, 'transfer-encoding'],
    ['DELETE', { 'Transfer-Encoding': 'chunked' }, 'transfer-encoding'],
  ])('of %s with %j arrive while the client still sends, with the same framing', async (method, headers, framing) => {
    const arrived = deferred<IncomingMessage>()
    const listener = (received: IncomingMessage, response: ServerResponse): void => {
      arrived.resolve(received)
      void measure(received, response)
    }
    await withStreams(listener, async ({ open }) => {
      const sent = open(headers, method)
      const { received } = await begun(sent, arrived.promise)
      expect(received.headers).toHaveProperty([framing])
      sent.end(END)
      expect(await answerOf(sent)).toEqual({ status: 200, text: `${BEGINNING.length + END.length} az` })
    })
  })

  it('go on as fast as the third party reads, and leave the connection usable', async () => {
    const slowly = async (received: IncomingMessage, response: ServerResponse): Promise<void> => {
      let size = 0
      for await (const chunk of received) {
        size += (chunk as Buffer).length
        await new Promise(setImmediate)
      }
      response.end(String(size))
    }
    await withStreams(
      (received, response) => void slowly(received, response),
      async ({ open }) => {
        const answers = [await answerOf(open().end(Buffer.alloc(32 * MIB))), await answerOf(open().end('short'))]
        expect(answers).toEqual([
          { status: 200, text: String(32 * MIB) },
          { status: 200, text: '5' },
        ])
      },
    )
  })

  it('are a 413 once they go over 32 MiB, and the third party never gets the end', async () => {
    const closed = deferred<boolean>()
    const listener = (received: IncomingMessage, response: ServerResponse): void => {
      if (received.headers['transfer-encoding'] === undefined) response.end('next')
      else received.resume().on('error', () => closed.resolve(received.complete))
    }
    await withStreams(listener, async ({ open, entries, ...mock }) => {
      const answer = await answerOf(open({ 'Transfer-Encoding': 'chunked' }).end(Buffer.alloc(32 * MIB + 1)))
      expect([answer.status, answer.text]).toEqual([413, expect.stringContaining('BODY_TOO_LARGE')])
      expect(await closed.promise).toBe(false)
      expect(await entries()).toMatchObject([{ status: 413 }])
      expect(await ada(mock)).not.toHaveProperty('last_used_at')
      expect(await answerOf(open().end('x'))).toEqual({ status: 200, text: 'next' })
    })
  })

  it('end at the third party when the client goes away', async () => {
    const arrived = deferred<IncomingMessage>()
    const listener = (received: IncomingMessage, response: ServerResponse): void => {
      if (received.headers['transfer-encoding'] === undefined) response.end('next')
      else arrived.resolve(received.resume())
    }
    await withStreams(listener, async ({ open, entries, ...mock }) => {
      const sent = open()
      const { received } = await begun(sent, arrived.promise)
      const failed = once(received, 'error')
      sent.destroy()
      await failed
      expect(received.complete).toBe(false)
      expect(await answerOf(open().end('x'))).toEqual({ status: 200, text: 'next' })
      expect(await entries()).toMatchObject([{ error_code: 'MALFORMED_BODY' }, { status: 200 }])
      expect(await ada(mock)).toMatchObject({ status: 'ACTIVE' })
    })
  })

  it('are a 500 TOOL_ERROR when the third party goes away in between, and leave the connection usable', async () => {
    const arrived = deferred<IncomingMessage>()
    const listener = (received: IncomingMessage, response: ServerResponse): void => {
      if (received.headers['transfer-encoding'] === undefined) response.end('next')
      else arrived.resolve(received)
    }
    await withStreams(listener, async ({ open }) => {
      const sent = open()
      const { received } = await begun(sent, arrived.promise)
      received.socket.destroy()
      const answer = answerOf(sent)
      sent.end(END)
      expect(await answer).toEqual({ status: 500, text: expect.stringContaining('TOOL_ERROR') })
      expect(await answerOf(open().end('x'))).toEqual({ status: 200, text: 'next' })
    })
  })

  it('are not sent to the end where the third party has answered before', () =>
    withStreams(
      (_received, response) => response.writeHead(429).end('enough'),
      async ({ open }) => {
        const sent = open()
        sent.write(BEGINNING)
        const answer = await answerOf(sent)
        sent.end(END)
        expect(answer).toEqual({ status: 429, text: 'enough' })
        expect(await answerOf(open().end('x'))).toEqual({ status: 429, text: 'enough' })
      },
    ))

  it('show their beginning to rules and to the journal; a fault at service sends none of them on', async () => {
    let calls = 0
    await withStreams(
      (_received, response) => {
        calls++
        response.end('next')
      },
      async (mock) => {
        const { open, entries } = mock
        const respond = { respond: { status: 503, headers: { 'Retry-After': '9' } } }
        await startScenario(
          mock,
          { name: 'whole', on: { operation: 'proxy_request', body: { x: 1 } }, do: [respond] },
          { name: 'any', on: { operation: 'proxy_request', headers: { 'x-own': 'yes' } }, do: [respond] },
        )
        const answer = await answerOf(open({ ...JSON_TYPE, 'X-Own': 'yes' }).end(BEGINNING))
        const json = `{"x":1,"y":"${'a'.repeat(2 * MIB)}"}`
        expect(answer.status).toBe(503)
        expect(calls).toBe(0)
        expect(await answerOf(open(JSON_TYPE).end(json))).toEqual({ status: 200, text: 'next' })
        expect(await entries()).toMatchObject([
          { status: 503, request: { truncated: expect.stringContaining('first 16384') } },
          { status: 200 },
        ])
      },
    )
  })

  it.each([
    ['reset_connection', {}],
    ['truncate_body', { bytes: 10 }],
  ])('are sent on as a whole or not at all where %s ends the answer', async (fault, params) => {
    const sizes: string[] = []
    const listener = async (received: IncomingMessage, response: ServerResponse): Promise<void> => {
      const body = Buffer.concat((await received.toArray()) as Buffer[])
      sizes.push(String(body.length))
      response.end('x'.repeat(1000))
    }
    await withStreams(
      (received, response) => void listener(received, response),
      async ({ open, ...mock }) => {
        await startScenario(mock, { on: { operation: 'proxy_request' }, when: { nth: 1 }, do: [{ [fault]: params }] })
        const lost = await answerOf(open().end(BEGINNING)).catch((error: unknown) => error)
        expect(lost).toBeInstanceOf(Error)
        const isSent = fault === 'truncate_body'
        expect(sizes).toEqual(isSent ? [String(BEGINNING.length)] : [])
        expect('last_used_at' in (await ada(mock))).toBe(isSent)
        expect(await answerOf(open().end(BEGINNING))).toEqual({ status: 200, text: 'x'.repeat(1000) })
        expect(sizes.at(-1)).toBe(String(BEGINNING.length))
      },
    )
  })

  it('are lost when the third party resets the connection in between: a 500 TOOL_ERROR, and the next one arrives', async ({
    mock: { app, api, signIn },
  }) => {
    const key = { static_auth: { details: { api_key: 'key_1' } } }
    const account = { connector: 'weather', identifier: 'ada', connected_account: { authorization_details: key } }
    await api.post('/connected_accounts', account)
    const rule = { at: 'third_party', on: { connector: 'weather' }, when: { nth: 1 }, do: [{ reset_connection: {} }] }
    await startScenario({ app }, rule)
    const { port } = await app.listen({ host: '127.0.0.1', port: 0 })
    const headers = { Authorization: `Bearer ${await signIn()}`, connection_name: 'weather', identifier: 'ada' }
    const send = () =>
      answerOf(
        request({ host: '127.0.0.1', port, path: '/proxy/nowhere', method: 'POST', headers, agent: false }).end(
          BEGINNING,
        ),
      )
    expect(await send()).toEqual({ status: 500, text: expect.stringContaining('TOOL_ERROR') })
    expect(await send()).toEqual({ status: 404, text: expect.stringContaining('no_responder') })
  })

  it('are signed as a whole where the credential signs the body', async ({ startMock }) => {
    const { http, signIn } = await startMock({
      seed: { accounts: [{ connector: 'warehouse', identifier: 'ada', status: 'ACTIVE' }] },
    })
    const headers = { connection_name: 'warehouse', identifier: 'ada', Authorization: `Bearer ${await signIn()}` }
    const answer = await http('post', '/proxy/nowhere').set(headers).type('text').send(BEGINNING.toString())
    expect([answer.status, answer.body]).toMatchObject([404, { error: 'no_responder' }])
  })
})

it('an answer of the proxy that is not read keeps no other request waiting, and is whole once it is read', async () => {
  const answer = Buffer.alloc(4 * MIB, 'b')
  await withStreams(
    (_received, response) => void response.end(answer),
    async ({ open, http, signIn, entries }) => {
      const [slow] = (await once(open({}, 'GET').end(), 'response')) as [IncomingMessage]
      slow.pause()
      const headers = { connection_name: 'app', identifier: 'ada', Authorization: `Bearer ${await signIn()}` }
      const others = await Promise.all([1, 2, 3].map(() => http('get', '/proxy/up').set(headers).buffer(true)))
      expect(others.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(await entries()).toHaveLength(4)
      const read = Buffer.concat((await slow.toArray()) as Buffer[])
      expect(read.equals(answer)).toBe(true)
    },
  )
})
