import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { describe, expect, vi } from 'vitest'
import { type ControlMock, expectControlError, it, withControl } from './control-mock.ts'

const ada = { connector: 'mail', identifier: 'ada@example.com' }

async function linked({ token, api }: ControlMock, more: object = {}): Promise<string | number> {
  const bearer = await token('test_client', 'test_secret')
  await api(bearer, 'post', '/connected_accounts/magic_link', { ...ada, ...more })
  return bearer
}

const linkId = async ({ call }: ControlMock): Promise<string> =>
  ((await call('get', '/links')).body as { links: { id: string }[] }).links[0]?.id ?? ''

describe('every call of the control API', () => {
  it.for([
    ['get', '/nothing', 404, 'PATH_NOT_FOUND'],
    ['get', '/ui/', 404, 'PATH_NOT_FOUND'],
    ['get', '/%', 404, 'PATH_NOT_FOUND'],
    ['delete', '/clock', 405, 'METHOD_NOT_ALLOWED'],
    ['get', '/clock?environment=nowhere', 404, 'ENVIRONMENT_NOT_FOUND'],
    ['get', '/clock?environment=__proto__', 404, 'ENVIRONMENT_NOT_FOUND'],
    ['get', '/clock?enviroment=default', 400, 'INVALID_QUERY'],
    ['get', '/clock?environment=default&environment=default', 400, 'INVALID_QUERY'],
    ['get', '/requests?opertion=x', 400, 'INVALID_QUERY'],
    ['get', '/links?wait_ms=soon', 400, 'INVALID_QUERY'],
    ['post', '/accounts/ca_none/expire', 404, 'ACCOUNT_NOT_FOUND'],
    ['post', '/accounts/ca_none/explode', 404, 'EVENT_NOT_FOUND'],
    ['post', '/connections/none/start', 404, 'CONNECTION_NOT_FOUND'],
    ['get', '/requests/none', 404, 'REQUEST_NOT_FOUND'],
    ['get', '/requests/none/explain', 404, 'REQUEST_NOT_FOUND'],
    ['post', '/scenarios/none/start', 404, 'SCENARIO_NOT_FOUND'],
  ] as const)('%s %s answers %d %s in the one shape', async ([method, path, status, code], { mock: { http } }) => {
    const refused = await http(method, `/_mock${path}`)
    expectControlError(refused, status, code)
  })

  it.for([
    [
      'put',
      '/clock',
      { forzen: true },
      '`forzen` is an unknown key (did you mean frozen?); allowed: now, frozen, advance',
    ],
    ['put', '/clock', { frozen: 'yes' }, '`frozen` is "yes"; allowed: true or false'],
    ['put', '/clock', [], 'the body is an empty list; allowed: an object'],
    [
      'post',
      '/state/checkpoint',
      { hard: true },
      'the body is not empty; allowed: an empty one, as this call reads none',
    ],
    ['post', '/reset', { hard: true }, '`hard` is an unknown key; allowed: seed'],
    ['post', '/links/l/complete', {}, '`decision` is required; allowed: approve, deny'],
    ['post', '/requests/wait', { times: 0 }, '`times` is 0; allowed: at least 1'],
    [
      'post',
      '/environments',
      { clock: { frozn: 1 } },
      '`clock.frozn` is an unknown key (did you mean frozen?); allowed: now, frozen',
    ],
    ['get', '/env?format=dotenv', undefined, '`format` is "dotenv"; allowed: shell, json'],
    [
      'get',
      '/env?fromat=json',
      undefined,
      '`fromat` is an unknown parameter (did you mean format?); allowed: format, environment',
    ],
    ['get', '/links?wait_ms=1&wait_ms=2', undefined, '`wait_ms` is given more than once; allowed: once'],
    ['get', '/state/diff', undefined, '`snapshot` is required; allowed: a text'],
  ] as const)(
    '%s %s %j is refused with what is wrong and what is allowed',
    async ([method, path, body, message], { mock: { call } }) => {
      const refused = await call(method, path, body)
      const { error } = refused.body as { error: { message: string; details: object[] } }
      expect([refused.status, error.message]).toEqual([400, message])
      expect(error.details).toEqual([
        { path: expect.any(String), found: expect.any(String), allowed: expect.any(String), message },
      ])
    },
  )

  it('names every problem of a body', async ({ mock: { call } }) => {
    const refused = await call('post', '/environments', { name: 1, clock: 'tomorrow', id_seed: 1.5, seeds: {} })
    const { error } = refused.body as { error: { details: { path: string }[] } }
    expect(error.details.map(({ path }) => path).sort()).toEqual(['clock', 'id_seed', 'name', 'seeds'])
  })

  it.for(['/clock', '/ui', '/env', '/openapi'])(
    'has headers that keep a browser from rendering it as a page: GET %s',
    async (path, { mock: { http } }) => {
      const { headers } = await http('get', `/_mock${path}`)
      expect(headers['x-content-type-options']).toBe('nosniff')
    },
  )

  it('names the allowed methods for an unknown one, and ignores a body where it needs none', async ({
    mock: { http, call },
  }) => {
    expect((await http('delete', '/_mock/clock')).headers['allow']).toBe('GET, PUT, HEAD')
    expect((await call('post', '/reset', {})).status).toBe(200)
    expectControlError(await call('post', '/reset', { hard: true }), 400, 'INVALID_BODY')
  })

  it('has the variables of a shell, with the address that the caller has used', async ({ startMock }) => {
    const { call } = await startMock({ baseUrl: 'http://mock.test' })
    const client = { client_id: "it's", client_secret: 's' }
    await call('post', '/environments', { name: 'quoted', seed: { clients: [client] } })
    const { text } = await call('get', '/env?environment=quoted')
    expect(text.split('\n')).toEqual([
      expect.stringMatching(/^export TOOLMOCK_URL=http:\/\/127\.0\.0\.1:\d+$/),
      String.raw`export TOOLMOCK_CLIENT_ID='it'\''s'`,
      'export TOOLMOCK_CLIENT_SECRET=s',
      '',
    ])
  })

  it('has the same as JSON, and refuses another format', async ({ mock: { call } }) => {
    expect((await call('get', '/env?format=json')).body).toEqual({
      TOOLMOCK_URL: expect.stringMatching(/^http:/),
      TOOLMOCK_CLIENT_ID: 'test_client',
      TOOLMOCK_CLIENT_SECRET: 'test_secret',
    })
    const refused = await call('get', '/env?format=dotenv')
    expectControlError(refused, 400, 'INVALID_QUERY')
  })
})

it('links are completed without a browser, only in their own environment', async ({ mock }) => {
  await mock.call('post', '/environments', { name: 'other' })
  await linked(mock, { user_verify_url: 'http://localhost:3000/verify', state: 'xyz' })
  const id = await linkId(mock)
  expect((await mock.call('post', `/links/${id}/complete?environment=other`, { decision: 'approve' })).status).toBe(404)
  const { body } = await mock.call('post', `/links/${id}/complete`, {
    decision: 'approve',
    as: 'mallory@example.com',
  })
  const url = new URL((body as { redirect_url: string }).redirect_url)
  expect([url.origin, url.searchParams.get('state')]).toEqual(['http://localhost:3000', 'xyz'])
  expect(url.searchParams.get('auth_request_id')).toMatch(/^[\w-]{22,}$/)
  expectControlError(await mock.call('post', `/links/${id}/complete`, { decision: 'approve' }), 410, 'LINK_GONE')
  expect((await mock.call('get', '/links')).body).toEqual({ links: [] })
})

it('links can be denied, and no other decision is known', async ({ mock }) => {
  await linked(mock)
  const id = await linkId(mock)
  expectControlError(await mock.call('post', `/links/${id}/complete`, { decision: 'maybe' }), 400, 'INVALID_BODY')
  expectControlError(await mock.call('post', `/links/${id}/complete`, {}), 400, 'INVALID_BODY')
  const { body } = await mock.call('post', `/links/${id}/complete`, { decision: 'deny' })
  expect((body as { redirect_url: string }).redirect_url).toContain('error=access_denied')
  expectControlError(await mock.call('post', '/links/none/complete', { decision: 'deny' }), 404, 'LINK_NOT_FOUND')
})

it('links are waited for', async ({ mock }) => {
  const [answer] = await Promise.all([mock.call('get', '/links?wait_ms=10000'), linked(mock)])
  expect(answer.body).toMatchObject({ links: [ada] })
  expect((await mock.call('get', '/links?wait_ms=1&environment=default')).status).toBe(200)
  expect((await mock.call('get', '/links?wait_ms=600000')).status).toBe(200)
  expect((await mock.call('get', '/links?wait_ms=600001')).status).toBe(400)
})

it('the journal is listed, counted, verified, waited for, explained and cleared', async ({ mock }) => {
  const { call, api } = mock
  const bearer = await linked(mock)
  const failed = await api(bearer, 'get', '/connected_accounts/details?id=ca_none')
  const match = { operation: 'get_connected_account_details', status: 404 }
  const { requests } = (await call('get', '/requests?operation=get_connected_account_details')).body as {
    requests: { id: string }[]
  }
  const id = requests[0]?.id ?? ''
  expect(id).toBe(failed.headers['x-request-id'])
  expect((await call('get', `/requests/${id}`)).body).toMatchObject({ request: { id, status: 404 } })
  expect((await call('get', `/requests/${id}/explain`)).body).toMatchObject({
    id,
    because: expect.stringContaining('No account matches the locator'),
  })
  expect((await call('post', '/requests/count', { match })).body).toEqual({ count: 1 })
  expect((await call('post', '/requests/verify', { match, times: 1 })).body).toMatchObject({ ok: true, matched: 1 })
  const missed = (await call('post', '/requests/verify', { match: { ...match, status: 200 } })).body as {
    ok: boolean
    near_misses: object[]
  }
  expect(missed.ok).toBe(false)
  expect(missed.near_misses[0]).toMatchObject({ id, differences: [{ field: 'status', wanted: 200, found: 404 }] })
  expect((await call('post', '/requests/wait', { match })).body).toMatchObject({ ok: true })
  expectControlError(
    await call('post', '/requests/wait', { match: { operation: 'verify_user' }, timeout_ms: 1 }),
    408,
    'TIMED_OUT',
  )
  const longest = [
    [{ match, timeout_ms: 600_000 }, 200],
    [{ match, timeout_ms: 600_001 }, 400],
    [{ match, timeout_ms: 0, times: 1_000_000 }, 408],
    [{ match, timeout_ms: 0, times: 1_000_001 }, 400],
  ] as const
  for (const [body, status] of longest) expect((await call('post', '/requests/wait', body)).status).toBe(status)
  expectControlError(await call('post', '/requests/count', { match: { operation: 'no_such' } }), 400, 'INVALID_QUERY')
  await call('delete', '/requests')
  expect((await call('get', '/requests')).body).toEqual({ requests: [] })
})

it('the journal says why a wait ended without what it waits for', async () => {
  const wait = { match: { operation: 'verify_user' }, timeout_ms: 60_000 }
  const ends: Promise<{ body: unknown }>[] = []
  await withControl({}, async ({ app, call }) => {
    await call('post', '/environments', { name: 'gone' })
    const { registry, journals } = app.services
    const waits = registry.environments().map((each) => vi.spyOn(journals.of(each), 'wait'))
    ends.push(call('post', '/requests/wait?environment=gone', wait), call('post', '/requests/wait', wait))
    await expect.poll(() => waits.map(({ mock }) => mock.calls.length)).toEqual([1, 1])
    await call('delete', '/environments/gone')
    await ends[0]
  })
  const messageOf = (why: string, name: string): string =>
    `0 requests match {"operation":"verify_user"}; wanted: at least 1, and ${why}; no request has reached environment ${name}`
  const messages = (await Promise.all(ends)).map(({ body }) => body)
  expect(messages).toMatchObject([
    { error: { code: 'TIMED_OUT', message: messageOf('the environment was removed', 'gone') } },
    { error: { code: 'TIMED_OUT', message: messageOf('the server stops', 'default') } },
  ])
})

it('the journal is watched as server-sent events, until the server stops', async () => {
  let stream: IncomingMessage | undefined
  let text = ''
  await withControl({}, async ({ app, call }) => {
    const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
    ;[stream] = (await once(get(`${url}/_mock/events`), 'response')) as [IncomingMessage]
    expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    stream.setEncoding('utf8').on('data', (part: string) => (text += part))
    await once(stream, 'data')
    const more = once(stream, 'data')
    await call('put', '/clock', { advance: '1s' })
    await more
  })
  if (stream && !stream.readableEnded) await once(stream, 'end')
  expect(text).toMatch(/^: toolmock events\n\nevent: entry\nid: req_\w+\ndata: \{.*"kind":"clock".*\}\n\n/)
})

it('the journal is watched until its environment is removed', async ({ mock: { app, call } }) => {
  await call('post', '/environments', { name: 'worker' })
  const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
  const watched = once(get(`${url}/_mock/events?environment=worker`), 'response')
  const [stream] = (await watched) as [IncomingMessage]
  const ended = once(stream.resume(), 'end')
  await call('delete', '/environments/worker')
  await ended
})

describe('scenarios', () => {
  it('are defined, started, stopped and cleared', async ({ mock: { call } }) => {
    const rules = [
      { name: 'down', at: 'service', on: { operation: 'list_connections' }, do: [{ respond: { status: 503 } }] },
    ]
    const scenario = { name: 'down', description: 'Nothing is listed.', rules }
    expectControlError(await call('put', '/scenarios/up', scenario), 400, 'INVALID_DOCUMENT')
    expect((await call('put', '/scenarios/down', scenario)).body).toMatchObject({ scenario: { running: false } })
    expect((await call('post', '/scenarios/down/start')).body).toMatchObject({ scenario: { running: true } })
    expect((await call('post', '/scenarios/down/stop')).body).toMatchObject({ scenario: { running: false } })
    const broken = { ...scenario, rules: [{ ...rules[0], on: { operation: 'no_such' } }] }
    expect((await call('put', '/scenarios/down', broken)).status).toBe(400)
    await call('delete', '/scenarios')
    const left = (await call('get', '/scenarios')).body as { scenarios: { name: string }[] }
    expect(left.scenarios.filter(({ name }) => name === 'down')).toEqual([])
  })

  it('lists the defined scenarios first, then the other bundled ones, each once', async ({ mock: { call } }) => {
    const list = async () => ((await call('get', '/scenarios')).body as { scenarios: { name: string }[] }).scenarios
    const all = await list()
    expect(all.length).toBeGreaterThan(10)
    expect(all.map(({ name }) => name)).toEqual(all.map(({ name }) => name).sort())
    expect(all.find(({ name }) => name === 'token-dies-mid-run')).toEqual({
      name: 'token-dies-mid-run',
      description: expect.stringMatching(/\w/),
      running: false,
      spent: false,
      started: false,
      state: null,
      rules: expect.arrayContaining([expect.objectContaining({ matched: 0, hits: 0 })]),
    })
    await call('post', '/scenarios/token-dies-mid-run/start')
    const after = await list()
    expect(after[0]).toMatchObject({ name: 'token-dies-mid-run', running: true })
    expect(after.map(({ name }) => name).sort()).toEqual(all.map(({ name }) => name))
  })

  it('shows bundled scenarios also where their connectors are missing', async ({ mock: { call } }) => {
    await call('post', '/environments', { name: 'bare', seed: { connectors: [] } })
    const { body } = await call('get', '/scenarios?environment=bare')
    expect((body as { scenarios: object[] }).scenarios.length).toBeGreaterThan(10)
  })
})
