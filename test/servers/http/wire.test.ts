import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import supertest from 'supertest'
import { describe, expect } from 'vitest'
import { createApp } from '../../../src/app/app.ts'
import { ROUTES } from '../../../src/model/contract/route.ts'
import { SILENT } from '../../../src/servers/http/log.ts'
import { OPERATIONS } from '../../../src/service/operations/table.ts'
import { it, withToolmock } from '../../support/toolmock.ts'

/** A TCP connection to the mock that sends text unchanged and keeps what it receives. */
class RawClient {
  #text = ''
  #closed = false

  constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => (this.#text += chunk))
    socket.on('close', () => (this.#closed = true))
    socket.on('error', () => undefined)
  }

  write(text: string): void {
    this.socket.write(text, 'latin1')
  }

  /** The answers so far, once there are that many or the server has ended the connection. */
  async answers(count: number): Promise<string[]> {
    const complete = () => this.#text.split(/(?=HTTP\/1\.1 \d{3})/).filter((answer) => answer.includes('\r\n\r\n'))
    await expect.poll(() => this.#closed || complete().length >= count).toBe(true)
    return complete()
  }

  /** Sends text, and says that no more comes. */
  end(text: string): void {
    this.socket.end(text, 'latin1')
  }

  close(): void {
    this.socket.destroy()
  }
}

async function withSocket(work: (client: RawClient, token: string) => Promise<void>): Promise<void> {
  await withToolmock({}, async ({ app, signIn }) => {
    const token = await signIn()
    const { port } = await app.listen({ host: '127.0.0.1', port: 0 })
    const client = new RawClient(connect(port, '127.0.0.1'))
    try {
      await work(client, token)
    } finally {
      client.close()
    }
  })
}

const status = (answer: string | undefined): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer ?? '')?.[1])

describe('over a socket', () => {
  it('a body of 2 MB is answered with 413, and the connection serves the next request', () =>
    withSocket(async (client, token) => {
      const size = 2_000_000
      const head = `Host: x\r\nAuthorization: Bearer ${token}\r\n`
      client.write(`POST /api/v1/connected_accounts HTTP/1.1\r\n${head}Content-Type: application/json\r\n`)
      client.write(`Content-Length: ${size}\r\n\r\n${'x'.repeat(size)}`)
      client.write(`GET /api/v1/connections HTTP/1.1\r\n${head}\r\n`)
      const answers = await client.answers(2)

      expect(answers.map(status)).toEqual([413, 200])
      expect(answers[0]).toContain('BODY_TOO_LARGE')
    }))

  it.each(['/api/v1/connections', '/_mock/health', '/nowhere'])(
    'a client that ends its side after GET %s gets its answer',
    (path) =>
      withSocket(async (client, token) => {
        client.end(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
        expect((await client.answers(1)).map(status)).toEqual([path === '/nowhere' ? 404 : 200])
      }),
  )

  it('a body of 2 MB in chunks, without a Content-Length, is answered with 413', async ({ mock: { app, signIn } }) => {
    const headers = { Authorization: `Bearer ${await signIn()}`, 'Content-Type': 'application/json' }
    const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
    const answered = new Promise<number | undefined>((resolve, reject) => {
      const post = request(`${url}/api/v1/connected_accounts`, { method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      post.on('error', reject)
      for (let part = 0; part < 20; part++) post.write('x'.repeat(100_000))
      post.end()
    })

    expect(await answered).toBe(413)
  })

  it.each([
    [
      'two lengths',
      'POST /api/v1/connected_accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a length that is no number', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: two\r\n\r\n'],
    ['a method that is none', 'FETCH / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost x\r\n\r\n'],
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['no host', 'GET /api/v1/connections HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ])('a request with %s is a 400 with the error body, and the connection is closed', (_name, text) =>
    withSocket(async (client) => {
      client.write(text)
      const [answer = ''] = await client.answers(1)

      expect(status(answer)).toBe(400)
      expect(answer).toMatch(/^connection: close\r$/im)
      expect(answer).toMatch(/^x-request-id: req_\w+\r$/im)
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
        code: 3,
        details: [{ error_code: 'MALFORMED_BODY' }],
      })
    }),
  )

  it('TRACE is a 405 without an echo of the request', () =>
    withSocket(async (client, token) => {
      client.write(`TRACE /api/v1/connections HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
      const [answer = ''] = await client.answers(1)

      expect(status(answer)).toBe(405)
      expect(answer).not.toContain(token)
    }))

  it('accepts a request target in absolute form, as proxies send it', () =>
    withSocket(async (client, token) => {
      client.write(`GET http://x/api/v1/connections HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
      expect(status((await client.answers(1))[0])).toBe(200)
    }))
})

describe('methods that a path does not serve (G8)', () => {
  const paths = [...new Set(ROUTES.map(({ path }) => path))].map((path) => {
    const methods = ROUTES.filter((route) => route.path === path).map(({ method }) => method as string)
    return [path, methods.includes('GET') ? [...methods, 'HEAD'] : methods] as const
  })

  it.for(paths)('on %s are a 405 that names %j', async ([path, served], { startMock }) => {
    const { http } = await startMock({ mcp: true })
    for (const method of ['get', 'put', 'post', 'patch', 'delete', 'head', 'options'] as const) {
      if (served.includes(method.toUpperCase())) continue
      const answer = await http(method, path.replace('{identifier}', 'x'))

      expect(answer.status, method).toBe(405)
      expect(answer.headers['allow']?.split(', ').sort(), method).toEqual([...served].sort())
      if (method === 'head') expect(answer.text).toBeFalsy()
      else expect(answer.body).toMatchObject({ code: 12, details: [{ error_code: 'METHOD_NOT_ALLOWED' }] })
    }
  })
})

it('HEAD is GET without a body', async ({ mock: { http, signIn } }) => {
  const Authorization = `Bearer ${await signIn()}`
  for (const path of ['/api/v1/connections', '/api/v1/connected_accounts?page_size=x', '/api/v1/tools']) {
    const [head, get] = [
      await http('head', path).set({ Authorization }),
      await http('get', path).set({ Authorization }),
    ]
    expect([path, head.status, head.headers['content-length']]).toEqual([
      path,
      get.status,
      get.headers['content-length'],
    ])
    expect(head.text).toBeFalsy()
  }
  expect((await http('head', '/api/v1/connections')).status).toBe(401)
})

describe('paths that are not served (G8)', () => {
  it.for([
    '/api/v1',
    '/api/v2/connections',
    '/api/v1/connections/',
    '/api/v1/connections/x',
    '/API/v1/connections',
    '/api/v1/Connections',
    '//api/v1/connections',
    '/api/v1/connected_accountsXYZ',
    '/api/v1/connected_accounts:',
    '/api/v1/connected_accounts:deleted',
    '/api/v1/connected_accountsXdelete',
    '/api/v1/connected_accounts/:search',
    '/api/v1/connected_accounts/user',
    '/api/v1/connected_accounts%3Asearch?query=abc',
    '/api/v1/custom-providers/',
    '/api/v1/custom-providers/a/b',
    '/api/v1/custom-providers/%E0%A4%A',
    '/api/v1/custom-providers/%',
    '/api/v1/%zz',
    '/__proto__',
    '/constructor',
    '/oauth/token/',
    '/%00',
  ])('%s is a 404 with the error body', async (path, { mock: { http, signIn } }) => {
    const authorized = { Authorization: `Bearer ${await signIn()}` }
    for (const method of ['get', 'post', 'put', 'delete'] as const) {
      const answer = await http(method, path).set(authorized)

      expect(answer.status, method).toBe(404)
      expect(answer.body).toMatchObject({ code: 5, details: [{ error_code: 'PATH_NOT_FOUND' }] })
    }
  })

  it.for([
    ['POST /v1/execute_tool', 'POST /api/v1/execute_tool'],
    ['POST /execute_tool', 'POST /api/v1/execute_tool'],
    ['DELETE /v1/custom-providers/acme', 'DELETE /api/v1/custom-providers/{identifier}'],
    ['GET /api/v1/conected_accounts', 'GET /api/v1/connected_accounts'],
    ['POST /api/v1/connected_accounts/ca_x:delete', 'POST /api/v1/connected_accounts:delete'],
    ['POST /api/v1/connected_accounts/ca_x:disconnect', undefined],
    ['POST /api/v1/connected_accounts:disconnect', undefined],
    ['GET /api/v1/connected_accounts/detials', 'GET /api/v1/connected_accounts/details'],
    ['GET /nowhere', undefined],
  ])('a 404 of %s names the path that was meant: %s', async ([request, meant], { mock: { http } }) => {
    const [method = '', path = ''] = request.split(' ')
    const answer = await http(method.toLowerCase() as 'get', path)
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    expect(answer.body).toMatchObject({ message: `${request} is not served${hint}` })
  })

  it.for(['post', 'put', 'delete'] as const)(
    '%s / is a 404: only GET lists what is served',
    async (method, { mock: { http } }) => {
      expect((await http(method, '/')).status).toBe(404)
      expect((await http('get', '/')).status).toBe(200)
    },
  )
})

describe('X-Request-Id (G18)', () => {
  const PATHS = [
    '/',
    '/api/v1/connections',
    '/oauth/token',
    '/nowhere',
    '/connect/success',
    '/magic/x',
    '/_mock/health',
    '/_mock/x',
  ]

  it.for(PATHS)('is on the answer of %s, generated or taken from the request', async (path, { mock: { http } }) => {
    const made = await http('get', path)
    const taken = await http('get', path).set('X-Request-Id', 'my-id:1.2')
    const longest = await http('get', path).set('X-Request-Id', 'x'.repeat(128))

    expect(made.headers['x-request-id']).toMatch(/^req_\w+$/)
    expect(taken.headers['x-request-id']).toBe('my-id:1.2')
    expect(longest.headers['x-request-id']).toBe('x'.repeat(128))
  })

  it.for([
    ['spaces', 'a b'],
    ['markup', '<b>'],
    ['too much', 'x'.repeat(129)],
    ['nothing', ''],
  ])('is not taken from the request when it has %s', async ([_name, id], { mock: { http } }) => {
    const answer = await http('get', '/nowhere').set('X-Request-Id', id)
    expect(answer.headers['x-request-id']).toMatch(/^req_\w+$/)
  })

  it('is in the error body as well', async ({ mock: { http } }) => {
    const answer = await http('get', '/api/v1/connections').set('X-Request-Id', 'abc')
    expect(answer.body).toMatchObject({ details: [{ request_info: { request_id: 'abc' } }] })
  })
})

describe('a defect of the mock behind an operation', () => {
  it.each([
    ['at once', () => undefined],
    ['after a wait', () => Promise.resolve(undefined)],
  ])('is a 500, logged and in the journal, when an answer cannot be made %s', async (_when, handler) => {
    const errors: string[] = []
    const log = { ...SILENT, error: (message: string) => void errors.push(message) }
    const operations: unknown = { ...OPERATIONS, list_connections: handler, delete_custom_provider: handler }
    const app = await createApp({ operations: operations as typeof OPERATIONS, log })
    try {
      const client = supertest(app.listener)
      const { id: client_id, secret: client_secret } = app.client
      const form = { client_id, client_secret, grant_type: 'client_credentials' }
      const token = await client.post('/oauth/token').type('form').send(form)
      const authorization = { Authorization: `Bearer ${String(token.body.access_token)}` }
      const paths = ['/api/v1/connections', '/api/v1/custom-providers/any']
      for (const asked of [client.get(paths[0] ?? ''), client.delete(paths[1] ?? '')]) {
        const { status, body, headers } = await asked.set(authorization)
        expect({ status, code: body.details[0].error_code }).toEqual({ status: 500, code: 'INTERNAL' })
        expect(headers['x-request-id']).toBe(body.details[0].request_info.request_id)
      }
      const { body } = await client.get('/_mock/requests')
      const failed = body.requests.filter((entry: { status: number }) => entry.status === 500)
      expect(failed.map((entry: { path: string }) => entry.path)).toEqual(expect.arrayContaining(paths))
      expect(errors).toEqual(Array(2).fill('a request failed outside the request pipeline'))
    } finally {
      await app.close()
    }
  })
})
