import { type RequestListener } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { Tool } from '../../../src/model/domain/connector.ts'
import type { JsonObject } from '../../../src/model/domain/json.ts'
import type { ReceivedCall } from '../../../src/service/third-party/listener.ts'
import { Fixture, accountOf, connectorOf, responder, tool } from './fixture.ts'
import { withServer } from '../../support/server.ts'

/** Runs a tool against a third party that echoes the request. */
async function echo(call: Partial<Tool['call']>, input: JsonObject = {}) {
  const body = {
    path: '{{request.path}}',
    query: '{{request.query}}',
    headers: '{{request.headers}}',
    body: '{{request.body}}',
  }
  await using fixture = await Fixture.start(connectorOf('NO_AUTH', { responders: [responder({}, { body })] }))
  const answer = await fixture.call(fixture.place({}), input, tool(call))
  if (answer.kind !== 'result') return answer
  return answer.data as { path: string; query: JsonObject; headers: JsonObject; body: JsonObject }
}

/** Runs a tool against a server of the test. */
async function against(handler: RequestListener, call: Partial<Tool['call']> = {}, result: JsonObject | null = null) {
  return withServer(handler, async (origin) => {
    await using fixture = await Fixture.start(connectorOf('NO_AUTH', { base_url: `${origin}/base/` }))
    return await fixture.call(fixture.place({}), {}, tool(call, result))
  })
}

const answering = (status: number, body: string, headers: Record<string, string> = {}): RequestListener => {
  return (_request, response) =>
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body)
}

it('the request of a tool renders path, query, headers and body from input and account', async () => {
  const sent = await echo(
    {
      method: 'POST',
      path: '/v1/{{input.id}}/x',
      query: { q: '{{input.q}}', n: '{{input.n}}', list: '{{input.list}}', none: '{{input.none}}', empty: '' },
      headers: { 'X-Who': '{{account.identifier}}', 'X-None': '{{input.none}}' },
      body: { n: '{{input.n}}', none: '{{input.none}}', text: 'n={{input.n}}' },
    },
    { id: 'a b', q: 'x&y=ü', n: 3, list: ['a', 'b'] },
  )
  expect(sent).toMatchObject({
    path: '/v1/a b/x',
    query: { q: 'x&y=ü', n: '3', list: ['a', 'b'] },
    headers: { 'x-who': 'ada@example.com', 'content-type': 'application/json' },
    body: { n: 3, none: null, text: 'n=3' },
  })
  expect(sent).not.toHaveProperty('query.none')
  expect(sent).not.toHaveProperty('query.empty')
  expect(sent).not.toHaveProperty('headers.x-none')
})

it.each(['../x', 'a/b', 'a?b=c', '#frag', '%2e%2e', 'ü€ ', '\ud800', '..%2f', '...'])(
  'the request of a tool keeps %j inside its part of the path',
  async (id) => {
    expect(await echo({ path: '/v1/{{input.id}}/end' }, { id })).toMatchObject({
      path: `/v1/${id.toWellFormed()}/end`,
      query: {},
    })
  },
)

it('the request of a tool reads a query from the path, too', async () => {
  expect(await echo({ path: '/v1?a={{input.a}}', query: { b: '2' } }, { a: '1&c=3' })).toMatchObject({
    query: { a: '1&c=3', b: '2' },
  })
})

it.each(['a\r\nX-Evil: 1', 'a\u0000b', 'ü€\ud800'])('the request of a tool sends %j as one header', async (value) => {
  const sent = await echo({ headers: { 'X-Value': '{{input.value}}' } }, { value })
  expect(sent).toHaveProperty('headers.x-value')
  expect(sent).not.toHaveProperty('headers.x-evil')
})

it('the request of a tool fails, and does not crash, when a header of the connector cannot be sent', async () => {
  expect(await echo({ headers: { 'not a header': 'x' } })).toMatchObject({ kind: 'failed', status: null })
})

describe('the answer of a third party', () => {
  it.each<[string, number, string, Record<string, string>, object]>([
    ['an object is the result', 200, '{"id":1}', {}, { kind: 'result', data: { id: 1 } }],
    ['a text is wrapped', 200, 'hello', { 'Content-Type': 'text/plain' }, { kind: 'result', data: { value: 'hello' } }],
    ['no content is an empty result', 204, '', {}, { kind: 'result', data: {} }],
    ['503 with a page', 503, '<html>', { 'Content-Type': 'text/html' }, { kind: 'failed', status: 503 }],
  ])('%s', async (...[, status, body, headers, expected]) => {
    const answer = await against(answering(status, body, headers))
    expect(answer).toMatchObject(expected)
  })

  it('is waited for as long as a timer can run, where the timeout of the tool is longer', async () => {
    await using fixture = await Fixture.start(
      connectorOf('NO_AUTH', { latency: [[0, 20]], tools: [tool({ timeout: 2 ** 31 })] }),
      { wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) },
    )
    expect(await fixture.call(fixture.place({}))).toEqual({ kind: 'result', data: { ok: true } })
  })

  it('becomes the result by the template of the tool', async () => {
    const result = {
      id: '{{response.body.items.[0].id}}',
      status: '{{response.status}}',
      type: '{{response.headers.content-type}}',
    }
    expect(await against(answering(201, '{"items":[{"id":7}]}'), {}, result)).toEqual({
      kind: 'result',
      data: { id: 7, status: 201, type: 'application/json' },
    })
  })

  it('is requested below the base_url of the connector', async () => {
    const seen: (string | undefined)[] = []
    await against((request, response) => {
      seen.push(request.url, ...Object.keys(request.headers).filter((name) => name.startsWith('x-')))
      response.end('{}')
    })
    expect(seen).toEqual(['/base/v1/things'])
  })

  it('larger than 5 MiB has failed', async () => {
    expect(await against(answering(200, `"${'x'.repeat(6_000_000)}"`))).toMatchObject({ kind: 'failed', status: null })
  })

  it('that comes too late is still given for the account of the call', async () => {
    const accounts: (string | undefined)[] = []
    const intercept = ({ account }: ReceivedCall): undefined => {
      accounts.push(account?.id)
    }
    await using fixture = await Fixture.start(connectorOf('NO_AUTH'), { intercept })
    const account = fixture.place({})
    await fixture.call(account)
    const late = fixture.call(account, {}, tool({ timeout: 10 }))
    await new Promise(setImmediate)
    // The event loop is busy until the call has timed out: only then does the third party read it.
    const end = performance.now() + 40
    while (performance.now() < end);
    expect(await late).toMatchObject({ kind: 'timed_out' })
    await expect.poll(() => accounts).toEqual(['ca_1', 'ca_1'])
  })
})

it('the client: calls only servers on loopback, unless others are allowed', async () => {
  for (const base_url of [
    'http://example.com',
    'http://127.0.0.1.example.com',
    'http://10.0.0.1',
    'file:///etc',
    'nonsense',
  ]) {
    await using fixture = await Fixture.start(connectorOf('NO_AUTH', { base_url }))
    expect(await fixture.call(fixture.place({}))).toMatchObject({
      kind: 'failed',
      status: null,
    })
  }
})

it('the client records every call, without the values of its query', async () => {
  await using fixture = await Fixture.start(connectorOf('OAUTH'))
  const account = await fixture.consented()
  await fixture.call(account, {}, tool({ query: { secret: 's' } }))
  const common = { environment: 'default', connector: 'app', account_id: 'ca_1', status: 200 }
  expect(fixture.trace.upstream).toMatchObject([
    { ...common, kind: 'token', method: 'POST', url: `${fixture.origin}/default/app/oauth/token` },
    { ...common, kind: 'api', method: 'GET', url: `${fixture.origin}/default/app/api/v1/things` },
  ])
})

it('the client reports that the token endpoint is unavailable when it does not answer', async () => {
  const reset = {
    intercept: () => (response: { destroy(): unknown }) => Promise.resolve(void response.destroy()),
  }
  await using fixture = await Fixture.start(connectorOf('OAUTH_M2M'), reset)
  const answer = await fixture.obtain(accountOf(fixture.connector))
  expect(answer).toMatchObject({ granted: false, status: 503, error: 'temporarily_unavailable' })
})

it('the client obtains no token for types that need a user', async () => {
  await using fixture = await Fixture.start(connectorOf('OAUTH'))
  expect(await fixture.obtain(accountOf(fixture.connector))).toMatchObject({
    granted: false,
    status: 400,
  })
})

it('the client keeps the pending credentials when live credentials are replaced', async () => {
  await using fixture = await Fixture.start(connectorOf('OAUTH'))
  const consented = await fixture.consented('eve@example.com')
  const oauth_token = { access_token: 'live', refresh_token: '', scopes: [], domain: '' }
  const account = fixture.place({ oauth_token }, { pending: { credentials: consented.credentials } })
  expect(await fixture.call(account)).toMatchObject({ kind: 'result' })
  expect(await fixture.call({ ...account, credentials: consented.credentials })).toMatchObject({ kind: 'result' })
})
