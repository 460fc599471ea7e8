import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { Response, Test } from 'supertest'
import { describe, expect } from 'vitest'
import { gzipSync } from 'node:zlib'
import { ada, appSeed, credentialsOf } from '../../service/operations/app-seed.ts'
import { withServer } from '../../support/server.ts'
import { type TestOptions, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { TWELVE_CONNECTORS } from '../../support/twelve-connectors.ts'
import { itWith } from '../../support/mock-fixture.ts'
import { startScenario } from '../../support/scenario.ts'

type Method = Parameters<TestToolmock['http']>[0]
type Headers = Record<string, string>

interface Proxied extends TestToolmock {
  /** A request through the proxy with a bearer token, for Ada's account at the connector `app` unless headers are given. */
  readonly proxy: (method: Method, path: string, headers?: Headers) => Test
}

const ADA = { connection_name: 'app', identifier: 'ada' }

function withProxy(options: TestOptions, work: (mock: Proxied) => Promise<void>): Promise<void> {
  return withToolmock(options, async (mock) => {
    const Authorization = `Bearer ${await mock.signIn()}`
    const proxy: Proxied['proxy'] = (method, path, headers = ADA) =>
      mock.http(method, `/proxy${path}`).set({ Authorization, ...headers })
    await work({ ...mock, proxy })
  })
}

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** Runs `work` with a third party at the connector `app` and the requests that it received. */
function withThirdParty(
  answer: { status?: number; headers?: Record<string, string | string[]>; body?: Buffer },
  work: (mock: Proxied, arrived: readonly Received[]) => Promise<void>,
): Promise<void> {
  const arrived: Received[] = []
  const listener = async (request: IncomingMessage): Promise<Received> => {
    const { method, url, headers } = request
    return { method, url, headers, body: Buffer.concat((await request.toArray()) as Buffer[]) }
  }
  return withServer(
    (request, response) => {
      void listener(request).then((received) => {
        arrived.push(received)
        const { status = 200, headers = {}, body = Buffer.of() } = answer
        response.writeHead(status, headers).end(body)
      })
    },
    (base_url) => withProxy({ seed: appSeed([], { ...KEY, base_url }, ACCOUNT) }, (mock) => work(mock, arrived)),
  )
}

const KEY = {
  authorization_type: 'API_KEY',
  credentials: { fields: [{ name: 'api_key' }], send: { headers: { 'X-Api-Key': '{{credentials.api_key}}' } } },
}
const ACCOUNT = { authorization_details: { static_auth: { details: { api_key: 'key_of_ada' } } } }
const OAUTH = { authorization_type: 'OAUTH', people: ['ada'], oauth: { refresh_token: 'rotate' } }
const TOKENS = {
  authorization_details: { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1', scopes: ['a'] } },
}

/** Sends a GET for Ada with the path unchanged, which supertest would resolve first; returns the status. */
async function sendAsItIs({ port }: { port: number }, path: string, token: string): Promise<number | undefined> {
  const headers = { Authorization: `Bearer ${token}`, ...ADA }
  const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode
}

const errorCode = ({ body }: Response): string => (body as { details: { error_code: string }[] }).details[0]!.error_code

const it = itWith(withProxy, {})

describe('/proxy/{path}', () => {
  it.each(['get', 'post', 'put', 'patch', 'delete', 'options', 'head'] as const)(
    'forwards %s to the third party, with path, query and body unchanged',
    (method) =>
      withThirdParty({ status: 207 }, async ({ proxy }, arrived) => {
        const sent = proxy(method, '/a%2Fb/%C3%A9?q=a+b%20c&empty&x=%zz')
        const answer = await (method === 'post' ? sent.type('text/csv').send('a;b\n1;2') : sent)

        expect(answer.status).toBe(207)
        expect(arrived).toHaveLength(1)
        expect(arrived[0]).toMatchObject({ method: method.toUpperCase(), url: '/a%2Fb/%C3%A9?q=a+b%20c&empty&x=%zz' })
        expect(arrived[0]?.body.toString()).toBe(method === 'post' ? 'a;b\n1;2' : '')
        expect(arrived[0]?.headers['content-type']).toBe(method === 'post' ? 'text/csv' : undefined)
      }),
  )

  it('sends the credential of the account in place of the bearer token, without the headers for the service', () =>
    withThirdParty({}, async ({ proxy }, arrived) => {
      await proxy('get', '/', {
        ...ADA,
        'X-Api-Key': 'of the caller',
        'X-Own': 'yes',
        'x-toolmock-account': 'ca_other',
        'x-mock-call': '1',
      })

      expect(arrived[0]?.headers).toMatchObject({ 'x-api-key': 'key_of_ada', 'x-own': 'yes' })
      for (const name of ['authorization', 'connection_name', 'identifier', 'x-toolmock-account', 'x-mock-call'])
        expect(arrived[0]?.headers).not.toHaveProperty([name])
    }))

  it('keeps what names the account for itself', () =>
    withThirdParty({}, async ({ proxy, environment }, arrived) => {
      const { id = '' } = [...environment.model.tables.accounts.values()].at(-1) ?? {}
      const named = { ...ADA, connected_account_id: id, organization_id: '', user_id: '' }
      expect((await proxy('get', '/', named)).status).toBe(200)

      for (const name of [...Object.keys(ADA), 'connected_account_id', 'organization_id', 'user_id'])
        expect(arrived[0]?.headers).not.toHaveProperty([name])
      const { base_url } = environment.connector('app') ?? {}
      expect(arrived[0]?.headers.host).toBe(new URL(base_url ?? '').host)
    }))

  /** Headers of one connection (RFC 9110 7.6.1), and one that `Connection` names. */
  const OF_ONE_CONNECTION = {
    'Keep-Alive': 'timeout=71',
    'Proxy-Authenticate': 'Basic realm="hop"',
    'Proxy-Authorization': 'Basic aG9w',
    'Proxy-Connection': 'hop',
    TE: 'trailers',
    Trailer: 'X-Hop',
    'Transfer-Encoding': 'chunked',
    Upgrade: 'hop',
    'X-Hop': 'hop',
    Connection: 'keep-alive, X-Hop',
  }

  it('drops the headers of one connection from the request and from the answer', () =>
    withThirdParty(
      { headers: { ...OF_ONE_CONNECTION, 'X-Own': 'yes' }, body: Buffer.from('done') },
      async ({ app, signIn }, arrived) => {
        const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
        const headers = { ...OF_ONE_CONNECTION, ...ADA, 'X-Own': 'yes', Authorization: `Bearer ${await signIn()}` }
        const sent = request(`${url}/proxy/`, { method: 'POST', headers, agent: false }).end('body')
        const [answer] = (await once(sent, 'response')) as [IncomingMessage]
        const body = Buffer.concat((await answer.toArray()) as Buffer[]).toString()

        expect([answer.statusCode, body, arrived[0]?.body.toString()]).toEqual([200, 'done', 'body'])
        for (const there of [arrived[0]?.headers, answer.headers]) {
          expect(there).toMatchObject({ 'x-own': 'yes', 'content-length': '4' })
          const values = Object.entries(OF_ONE_CONNECTION).map(([name, value]) => [name.toLowerCase(), value] as const)
          expect(values.filter(([name, value]) => there?.[name] === value)).toEqual([])
        }
      },
    ))

  it('answers as the third party did: status, headers and bytes', () => {
    const body = Buffer.from([0, 255, 128, 10])
    const headers = { 'Content-Type': 'image/x-own', 'X-Own': 'yes', 'Set-Cookie': ['a=1', 'b=2'] }
    return withThirdParty({ status: 418, headers, body }, async ({ proxy }) => {
      const answer = await proxy('get', '/').responseType('blob')

      expect(answer.status).toBe(418)
      expect(answer.headers).toMatchObject({ 'content-type': 'image/x-own', 'x-own': 'yes', 'content-length': '4' })
      expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2'])
      expect(answer.headers['x-request-id']).toMatch(/^req_/)
      expect(answer.body).toEqual(body)
    })
  })

  it('does not unpack what is compressed, in either direction', () => {
    const packed = gzipSync('{"a":1}')
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }
    return withThirdParty({ headers, body: packed }, async ({ http, proxy }, arrived) => {
      const answer = await proxy('post', '/')
        .set(headers)
        .serialize((value: unknown) => value as string)
        .send(packed)

      expect(arrived[0]?.headers['content-encoding']).toBe('gzip')
      expect(arrived[0]?.body).toEqual(packed)
      expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': String(packed.length) })
      expect(answer.body).toEqual({ a: 1 })
      const { body } = await http('get', '/_mock/requests?operation=proxy_request')
      expect(body).toMatchObject({ requests: [{ response: { body: { a: 1 } } }] })
    })
  })

  it.each<[string, Headers]>([
    ['connected_account_id', { connected_account_id: 'ca_ada' }],
    ['connection_name and identifier', ADA],
    ['a scope too', { ...ADA, organization_id: 'org' }],
  ])('uses the account that is named by %s', (_name, headers) =>
    withServer(
      (_request, response) => response.end('here'),
      (base_url) => {
        const account = { ...ACCOUNT, id: 'ca_ada', organization_id: 'org' }
        return withProxy({ seed: appSeed([], { ...KEY, base_url }, account) }, async ({ proxy }) => {
          expect((await proxy('get', '/x', headers)).status).toBe(200)
        })
      },
    ),
  )

  it.each(['organization_id', 'user_id'])('distinguishes accounts of one identifier by %s', (scope) => {
    const accounts = ['one', 'two'].map((name) => {
      return { id: `ca_${name}`, connector: 'encyclopedia', identifier: 'ada', [scope]: name }
    })
    return withProxy({ seed: { accounts } }, async (mock) => {
      const named = { connection_name: 'encyclopedia', identifier: 'ada', [scope]: 'two' }
      expect((await mock.proxy('get', '/search?q=a', named)).status).toBe(200)
      const { tables } = mock.environment.model
      expect(tables.accounts.get('ca_one')).not.toHaveProperty('last_used_at')
      expect(tables.accounts.get('ca_two')).toHaveProperty('last_used_at')
    })
  })

  it('reads an identifier with non-ASCII characters as UTF-8', async ({ startMock }) => {
    const mock = await startMock({
      seed: { accounts: [{ connector: 'encyclopedia', identifier: 'Zoë', status: 'ACTIVE' }] },
    })
    const identifier = Buffer.from('Zoë').toString('latin1')
    const answer = await mock.proxy('get', '/search?q=a', { connection_name: 'encyclopedia', identifier })
    expect(answer.status).toBe(200)
  })

  it.for<[string, Headers, number, string, string]>([
    ['no header', {}, 400, 'MISSING_LOCATOR', 'connection_name'],
    ['no identifier', { connection_name: 'app' }, 400, 'MISSING_LOCATOR', 'identifier'],
    ['an empty identifier', { connection_name: 'app', identifier: '' }, 400, 'MISSING_LOCATOR', 'identifier'],
    ['an unknown account', { connection_name: 'app', identifier: 'bob' }, 404, 'ACCOUNT_NOT_FOUND', 'bob'],
    ['a blank identifier', { connection_name: 'app', identifier: '\u00a0' }, 400, 'VALIDATION_FAILED', 'identifier'],
    ['too long an identifier', { ...ADA, identifier: 'a'.repeat(1001) }, 400, 'VALIDATION_FAILED', 'identifier'],
    ['the longest identifier', { ...ADA, identifier: 'a'.repeat(1000) }, 404, 'ACCOUNT_NOT_FOUND', 'aaa'],
    ['an unknown connection', { connection_name: 'nil', identifier: 'ada' }, 404, 'ACCOUNT_NOT_FOUND', 'nil'],
    ['an unknown id', { connected_account_id: 'ca_no' }, 404, 'ACCOUNT_NOT_FOUND', 'ca_no'],
    [
      'an id and another connection',
      { connected_account_id: 'ca_ada', connection_name: 'mail' },
      400,
      'CONTRADICTING_LOCATOR',
      'connection_name',
    ],
  ])('refuses %s', async ([_name, headers, status, code, word], { startMock }) => {
    const { proxy } = await startMock({ seed: appSeed([], KEY, { ...ACCOUNT, id: 'ca_ada' }) })
    const answer = await proxy('get', '/x', headers)

    expect(answer.status).toBe(status)
    expect(errorCode(answer)).toBe(code)
    expect(JSON.stringify(answer.body)).toContain(word)
  })

  it.each(['/..', '/a/../b', '/a/./b', '/%2e%2e/b', '/a/%2E./b', '/a/..%2fb', '/a%5c..', '/a\\..'])(
    'refuses the path %s, which would leave the API of the third party',
    (path) =>
      withThirdParty({}, async ({ app, signIn }, arrived) => {
        const answer = await sendAsItIs(
          await app.listen({ host: '127.0.0.1', port: 0 }),
          `/proxy${path}`,
          await signIn(),
        )

        expect(answer).toBe(400)
        expect(arrived).toEqual([])
      }),
  )

  it('requires a bearer token', async ({ startMock }) => {
    const { http } = await startMock({ seed: appSeed([], KEY, ACCOUNT) })
    const answer = await http('get', '/proxy/x').set(ADA)

    expect(answer.status).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer')
    expect(errorCode(answer)).toBe('UNAUTHENTICATED')
  })

  it('passes on bodies of up to 32 MiB, whatever the limit of the bodies of the API is', async ({ startMock }) => {
    const { proxy } = await startMock({ seed: appSeed([{ name: 'do', answers: {} }], KEY, ACCOUNT), bodyLimit: 1024 })
    const send = async (size: number) => (await proxy('post', '/do').type('text').send('a'.repeat(size))).status
    expect(await send(32 * 1024 * 1024)).toBe(200)
    expect(await send(32 * 1024 * 1024 + 1)).toBe(413)
  })

  it.for([
    [1024 * 1024, 200],
    [1024 * 1024 + 1, 401],
  ])(
    'answers a body of %i bytes, whose token the third party refuses, with %i, and renews the token',
    async ([size, status], { startMock }) => {
      const mock = await startMock({ seed: appSeed([{ name: 'do', answers: {} }], OAUTH, TOKENS) })
      const { grants } = mock.environment.model.tables
      mock.environment.model.transact(() => {
        for (const grant of [...grants.values()]) grants.put({ ...grant, expires_at: '2025-01-01T00:00:00.000Z' })
      })
      const send = async () => (await mock.proxy('post', '/do').type('text').send('a'.repeat(size))).status
      expect(await send()).toBe(status)
      expect(await ada(mock)).toMatchObject({ status: 'ACTIVE' })
      expect(await send()).toBe(200)
    },
  )

  it('is a 404 that names the flag with --documented-only', async ({ startMock }) => {
    const { proxy } = await startMock({ documentedOnly: true })
    for (const path of ['', '/', '/v1/messages']) {
      const answer = await proxy('patch', path)
      expect(answer.status).toBe(404)
      expect((answer.body as { message: string }).message).toContain('--documented-only')
    }
  })

  it('does not serve other paths with the same prefix', async ({ mock: { http } }) => {
    expect(errorCode(await http('get', '/proxyfoo'))).toBe('PATH_NOT_FOUND')
  })
})

const READS: Record<string, string> = {
  mail: '/v1/messages',
  weather: '/v2/current?city=Rome',
  helpdesk: '/api/tickets',
  code_hosting: '/repositories',
  payments: '/charges?limit=2',
  inventory: '/items/A-1',
  ledger: '/accounts/1000/balance',
  tracker: '/rest/issues?text=a+b',
  workspace: '/calendars/primary/events?day=2026-01-01',
  warehouse: '/schemas/public/tables?x=%20',
  clinic: '/fhir/Patient/p1',
  encyclopedia: '/search?q=a',
}

describe('the proxy at a bundled third party', () => {
  it.for(TWELVE_CONNECTORS)('is authenticated as the account at %s', async (connector, { startMock }) => {
    const { proxy } = await startMock({ seed: { accounts: [{ connector, identifier: 'ada', status: 'ACTIVE' }] } })
    const headers = { connection_name: connector, identifier: 'ada' }
    const answer = await proxy('get', READS[connector]!, headers)
    const posted = await proxy('post', '/nowhere?a=b', headers).send({ some: 'body' })

    expect([answer.status, answer.text]).toEqual([200, expect.stringMatching(/^[[{]/)])
    expect([posted.status, posted.body]).toMatchObject([404, { error: 'no_responder', path: '/nowhere' }])
  })

  it('sets last_used_at of the account, and no other field', async ({ startMock }) => {
    const mock = await startMock({ seed: appSeed([{ name: 'do', answers: {} }], KEY, ACCOUNT) })
    mock.time.advance('60s')
    await mock.proxy('post', '/do')

    expect(await ada(mock)).toMatchObject({
      last_used_at: '2026-01-01T00:01:00.000Z',
      updated_at: '2026-01-01T00:00:00.000Z',
    })
  })
})

describe('the proxy and the state of the account (G44 to G46)', () => {
  it.for(['EXPIRED', 'PENDING_AUTH', 'DISCONNECTED'])(
    'is a 400 with code 9 for an account that is %s',
    async (status, { startMock }) => {
      const { proxy } = await startMock({ seed: appSeed([], KEY, { ...ACCOUNT, status }) })
      const answer = await proxy('get', '/x')

      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ code: 9, details: [{ error_code: 'ACCOUNT_NOT_ACTIVE' }] })
    },
  )

  it('is a 400 where the connection is disabled', async ({ startMock }) => {
    const { environment, proxy } = await startMock({ seed: appSeed([], KEY, ACCOUNT) })
    const { connections } = environment.model.tables
    environment.model.transact(() => {
      for (const each of [...connections.values()]) connections.put({ ...each, enabled: false })
    })
    expect(errorCode(await proxy('get', '/x'))).toBe('CONNECTION_DISABLED')
  })

  it('renews a token that has expired before the call', async ({ startMock }) => {
    const mock = await startMock({ seed: appSeed([{ name: 'do', answers: { body: { ok: true } } }], OAUTH, TOKENS) })
    mock.time.advance('61m')
    const answer = await mock.proxy('post', '/do')

    expect([answer.status, answer.body]).toEqual([200, { ok: true }])
    expect(credentialsOf(mock).oauth_token?.access_token).not.toBe('at_1')
    expect(await ada(mock)).toMatchObject({ status: 'ACTIVE' })
  })

  it('renews the token after a 401 and sends the same request once more', async ({ startMock }) => {
    const mock = await startMock({ seed: appSeed([{ name: 'do', answers: { body: { ok: true } } }], OAUTH, TOKENS) })
    const { grants } = mock.environment.model.tables
    mock.environment.model.transact(() => {
      for (const grant of [...grants.values()]) grants.put({ ...grant, expires_at: '2025-01-01T00:00:00.000Z' })
    })
    const answer = await mock.proxy('post', '/do').send({ x: 1 })
    const { body } = await mock.http('get', '/_mock/requests?operation=proxy_request')

    expect([answer.status, answer.body]).toEqual([200, { ok: true }])
    expect(await ada(mock)).toMatchObject({ status: 'ACTIVE' })
    expect((body as { requests: object[] }).requests).toMatchObject([
      {
        upstream: [
          { kind: 'api', status: 401 },
          { kind: 'token', status: 200 },
          { kind: 'api', status: 200 },
        ],
        refreshes: [{ outcome: 'renewed' }],
      },
    ])
  })

  it('passes a second 401 on without its challenge, and the account becomes EXPIRED', () =>
    withServer(
      (_request, response) => response.writeHead(401, { 'WWW-Authenticate': 'Bearer error="invalid_token"' }).end('no'),
      (base_url) =>
        withProxy({ seed: appSeed([], { ...OAUTH, base_url }, TOKENS) }, async (mock) => {
          const answer = await mock.proxy('get', '/x')

          expect([answer.status, answer.text]).toEqual([401, 'no'])
          expect(answer.headers).not.toHaveProperty('www-authenticate')
          expect(await ada(mock)).toMatchObject({ status: 'EXPIRED' })
        }),
    ))

  it.each([403, 404, 429, 500, 503])('passes a %i on as it is, and the account stays ACTIVE', (status) =>
    withThirdParty({ status, headers: { 'Retry-After': '7' } }, async (mock) => {
      const answer = await mock.proxy('get', '/x')

      expect(answer.status).toBe(status)
      expect(answer.headers['retry-after']).toBe('7')
      expect(await ada(mock)).toMatchObject({ status: 'ACTIVE' })
    }),
  )

  it('is a 500 TOOL_ERROR where the third party breaks the connection', () =>
    withServer(
      (request) => request.socket.destroy(),
      (base_url) =>
        withProxy({ seed: appSeed([], { ...KEY, base_url }, ACCOUNT) }, async ({ proxy }) => {
          const answer = await proxy('get', '/x')

          expect(answer.status).toBe(500)
          expect(answer.body).toMatchObject({
            details: [{ error_code: 'TOOL_ERROR', tool_error_info: { tool_error_code: 'unusable_answer' } }],
          })
        }),
    ))

  it('calls only servers on loopback', async ({ startMock }) => {
    const { environment, proxy } = await startMock({ seed: appSeed([], KEY, ACCOUNT) })
    const { connectors } = environment.model.tables
    environment.model.transact(() => {
      connectors.put({ ...connectors.get('app')!, base_url: 'http://third-party.example' })
    })
    const answer = await proxy('get', '/x')

    expect(answer.status).toBe(500)
    expect((answer.body as { message: string }).message).toContain('not on loopback')
  })
})

describe('the proxy in the journal and in scenarios', () => {
  const SEED = { seed: appSeed([{ name: 'do', answers: { body: { ok: true } } }], KEY, ACCOUNT) }

  it('is recorded as proxy_request, with the account and the call', async ({ startMock }) => {
    const { app, http, proxy, environment } = await startMock(SEED)
    const answer = await proxy('post', '/do?a=b').send({ x: 1 })
    const { body } = await http('get', '/_mock/requests?operation=proxy_request')
    const [account] = environment.model.accountIndex.where({ connector: 'app', identifier: 'ada' })

    expect((body as { requests: object[] }).requests).toMatchObject([
      {
        id: answer.headers['x-request-id'],
        operation: 'proxy_request',
        method: 'POST',
        path: '/proxy/do',
        query: { a: 'b' },
        status: 200,
        account: account?.id,
        upstream: [{ kind: 'api', method: 'POST', status: 200 }],
        request: { body: { x: 1 } },
        response: { body: { ok: true } },
      },
    ])
    expect([...app.services.records.copyOf('default').findings.list()]).toEqual([])
  })

  it('is explained by the answer of the third party', async ({ startMock }) => {
    const { http, proxy } = await startMock(SEED)
    const answer = await proxy('get', '/nowhere')
    const { body } = await http('get', `/_mock/requests/${String(answer.headers['x-request-id'])}/explain`)

    expect(body).toMatchObject({
      text: expect.stringMatching(/\nThe third party app answered 404 to GET http\S+\/nowhere\./),
    })
  })

  it.for<[string, object]>([
    ['its operation', { operation: 'proxy_request' }],
    ['connector and account', { connector: 'app', account: { identifier: 'ada' } }],
    ['body and query', { operation: 'proxy_request', body: { 'x.y': 1 }, query: { a: 'b*' } }],
    ['headers', { headers: { 'x-own': 'yes' } }],
  ])('matches rules at service by %s', async ([_name, on], { startMock }) => {
    const { app, proxy } = await startMock(SEED)
    await startScenario({ app }, { on, do: [{ respond: { status: 503, headers: { 'Retry-After': '9' } } }] })
    const answer = await proxy('post', '/do?a=bc', { ...ADA, 'x-own': 'yes' }).send({ x: { y: 1 } })

    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '9'])
  })

  it('matches rules at third_party, whose answers are passed on', async ({ startMock }) => {
    const { app, proxy } = await startMock(SEED)
    const respond = { status: 402, body: 'pay' }
    await startScenario({ app }, { at: 'third_party', on: { path: '/do' }, do: [{ respond }] })
    const answer = await proxy('post', '/do')

    expect([answer.status, answer.text]).toEqual([402, 'pay'])
  })
})
