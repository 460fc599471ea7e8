import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { SILENT } from '../../../src/servers/http/log.ts'
import { OPERATIONS } from '../../../src/service/operations/table.ts'
import { type ControlMock, expectControlError, it, START, withControl } from './control-mock.ts'
import { startScenario } from '../../support/scenario.ts'

const ada = { connector: 'mail', identifier: 'ada@example.com' }
const LIVE = {
  ...ada,
  token_expires_at: '2026-01-01T01:00:00.000Z',
  authorization_details: { oauth_token: { access_token: 'a', refresh_token: '' } },
}

interface ServerSentEvent {
  readonly event: string
  readonly data: Record<string, unknown>
}

/** Reads a stream until it has given as many events as wanted. */
async function withStream(
  mock: ControlMock,
  query: string,
  work: (next: () => Promise<ServerSentEvent>) => Promise<void>,
) {
  const { url } = await mock.app.listen({ host: '127.0.0.1', port: 0 })
  const [stream] = (await once(get(`${url}/_mock/timeline${query}`), 'response')) as [IncomingMessage]
  stream.setEncoding('utf8')
  const chunks = stream[Symbol.asyncIterator]()
  let rest = ''
  const next = async (): Promise<ServerSentEvent> => {
    for (let at = rest.indexOf('\n\n'); ; at = rest.indexOf('\n\n')) {
      if (at >= 0) {
        const [event = '', data = ''] = rest.slice(0, at).split('\n')
        rest = rest.slice(at + 2)
        if (event.startsWith(':')) continue
        return { event: event.slice('event: '.length), data: JSON.parse(data.slice('data: '.length)) }
      }
      const { value } = await chunks.next()
      rest += String(value)
    }
  }
  try {
    await work(next)
  } finally {
    stream.destroy()
  }
}

const connections = async (mock: ControlMock, token: string | number): Promise<void> => {
  await mock.api(token, 'get', '/connections')
}
const kinds = ({ data }: ServerSentEvent): unknown =>
  (data.entries as { operation: string | null }[]).map(({ operation }) => operation)

describe('GET /_mock/timeline', () => {
  it('sends the state, then what the journal has, then what is new', async ({ mock }) => {
    const token = await mock.token('test_client', 'test_secret')
    await withStream(mock, '?environment=default', async (next) => {
      const state = await next()
      expect(state).toMatchObject({
        event: 'state',
        data: { environments: [{ name: 'default', label: null }], clock: { now: START, frozen: true } },
      })
      const first = await next()
      expect([first.event, kinds(first), first.data.skipped]).toEqual(['entries', ['create_token'], 0])
      await connections(mock, token)
      await mock.call('delete', '/requests')
      await connections(mock, token)
      const events = [await next(), await next()]
      expect(events.map(({ event }) => event)).toContain('entries')
    })
  })

  it('sends an entry at once after a pause, and more of them twice a second, each once and in order', async ({
    mock,
  }) => {
    const token = await mock.token('test_client', 'test_secret')
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    await withStream(mock, '?environment=default', async (next) => {
      await next()
      const seen = (await next()).data.entries as { sequence: number }[]
      const sequences: number[][] = []
      for (let round = 0; round < 3; round++) {
        await connections(mock, token)
        vi.advanceTimersByTime(250)
      }
      while (sequences.flat().length < 3) {
        sequences.push(((await next()).data.entries as { sequence: number }[]).map(({ sequence }) => sequence))
      }
      const first = (seen.at(-1)?.sequence ?? 0) + 1
      expect(sequences).toEqual([[first], [first + 1, first + 2]])
    })
  })

  it('sends the newest ones only, and how many it left out', async ({ mock }) => {
    const token = await mock.token('test_client', 'test_secret')
    for (let at = 0; at < 3; at++) await connections(mock, token)
    await withStream(mock, '?environment=default&newest=2', async (next) => {
      await next()
      const { data } = await next()
      expect([(data.entries as object[]).length, data.skipped]).toEqual([2, 2])
    })
  })

  it('sends entries again, with their numbers, when a clear is undone', async ({ mock }) => {
    const token = await mock.token('test_client', 'test_secret')
    await withStream(mock, '?environment=default', async (next) => {
      await next()
      const first = await next()
      await mock.call('delete', '/requests')
      expect((await next()).event).toBe('cleared')
      await connections(mock, token)
      await next()
      expect((await mock.call('post', '/requests/restore')).body).toEqual({ restored: 1 })
      expect((await next()).event).toBe('cleared')
      const again = (await next()).data.entries as { sequence: number }[]
      expect(again.map(({ sequence }) => sequence)).toEqual([1, 2])
      expect(again[0]).toEqual((first.data.entries as object[])[0])
      expect((await mock.call('post', '/requests/restore')).body).toEqual({ restored: 0 })
    })
    expect(((await mock.call('get', '/requests')).body as { requests: object[] }).requests).toHaveLength(2)
  })

  it('sends again what a reset leaves of the entries: requests that came while it was stored', async ({ mock }) => {
    const token = await mock.token('test_client', 'test_secret')
    await connections(mock, token)
    await withStream(mock, '?environment=default', async (next) => {
      await next()
      const first = await next()
      const { journals, defaultEnvironment } = mock.app.services
      journals.of(defaultEnvironment() ?? journals).clear(1)
      expect((await next()).event).toBe('cleared')
      expect((await next()).data.entries).toEqual((first.data.entries as object[]).slice(1))
    })
  })

  it('has what a request names of an account that was not found', async ({ mock }) => {
    const token = await mock.token('test_client', 'test_secret')
    await mock.api(token, 'get', '/connected_accounts/details?connector=mail&identifier=gone%40example.com')
    const sent = { connector: 'mail', identifier: 'lost@example.com', tool_name: 'mail_send_message', tool_input: {} }
    await mock.api(token, 'post', '/execute_tool', sent)
    const { entries } = (await mock.call('get', '/requests?short=true&status=404')).body as { entries: object[] }
    expect(entries).toMatchObject([
      { account: null, connector: 'mail', identifier: 'gone@example.com' },
      { account: null, connector: 'mail', identifier: 'lost@example.com' },
    ])
  })

  it('sends that a journal was emptied, and that the clock moved', async ({ mock }) => {
    await withStream(mock, '?environment=default', async (next) => {
      await next()
      await next()
      await mock.call('delete', '/requests')
      expect(await next()).toEqual({ event: 'cleared', data: { environment: 'default' } })
      await mock.call('put', '/clock', { advance: '2h' })
      expect(await next()).toMatchObject({ event: 'state', data: { clock: { now: '2026-01-01T02:00:00.000Z' } } })
    })
  })

  it('of all environments sends the entries of each', async ({ mock }) => {
    const { body } = await mock.call('post', '/environments', { name: 'other', label: 'mail > sends' })
    await mock.token('test_client', 'test_secret')
    await mock.token(body.client_id, body.client_secret)
    await withStream(mock, '', async (next) => {
      const state = await next()
      expect(state.data).toMatchObject({ clock: null, environments: [{}, { name: 'other', label: 'mail > sends' }] })
      const { data } = await next()
      expect((data.entries as { environment: string }[]).map(({ environment }) => environment)).toEqual([
        'default',
        'other',
      ])
    })
  })

  it('marks what is remarkable', async ({ mock }) => {
    const token = await mock.token('test_client', 'test_secret')
    await mock.api(token, 'post', '/connected_accounts', { connector: 'mail' })
    await mock.api(token, 'get', '/connected_accounts?pagesize=3')
    await mock.api(token, 'get', '/connected_accounts?colour=red')
    await mock.api(token, 'get', '/conections')
    await startScenario(mock, { on: { operation: 'list_connections' }, do: [{ respond: { status: 503 } }] })
    await connections(mock, token)
    await withStream(mock, '', async (next) => {
      await next()
      const { entries } = (await next()).data as { entries: { marks: string[] }[] }
      expect(entries.map(({ marks }) => marks)).toEqual([
        [],
        ['violation'],
        ['violation'],
        ['warning'],
        ['violation', 'unserved'],
        ['injected', 'rule'],
      ])
    })
  })

  it('marks a refused request to a path that is served as nothing else', async ({ mock }) => {
    const { url } = await mock.app.listen({ host: '127.0.0.1', port: 0 })
    const asked = get(`${url}/api/v1/connections`, { headers: { expect: 'nothing' } })
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    const { body } = await mock.call('get', '/requests?short=true')
    expect(body).toMatchObject({ entries: [{ status: 417, marks: [] }] })
  })

  it('marks as violations the requests that the contract report names, and no others', async ({ mock }) => {
    const token = await mock.token('test_client', 'test_secret')
    const account = (connector: string, details: object) => {
      const connected_account = { authorization_details: details }
      return mock.api(token, 'post', '/connected_accounts', { connector, identifier: 'ada', connected_account })
    }
    const on = { method: 'GET', path: '/api/v1/things' }
    await mock.call('put', '/extensions/things', {
      extension: 'things',
      responders: [{ name: 'things', on, respond: { body: {} } }],
    })
    await mock.http('get', on.path)
    await mock.http('get', '/api/v1/connections')
    await mock.http('get', '/api/v1/connections').set('Authorization', 'Basic YQ==')
    await mock.api('unknown', 'get', '/connections')
    await mock.token('test_client', 'wrong')
    await mock.http('post', '/oauth/token').type('form').send({ grant_type: 'client_credentials' })
    await mock.http('post', '/oauth/token').type('form').send({ grant_type: 'password' })
    await account('mail', { static_auth: { details: {} } })
    await account('mail', {})
    await account('nowhere', {})
    await mock.api(token, 'get', '/connected_accounts/auth')
    await mock.api(token, 'get', '/connected_accounts/auth?connector=mail&identifier=bob')
    await mock.api(token, 'post', '/connected_accounts/magic_link', { id: 'ca_unknown' })
    await mock.api(token, 'post', '/execute_tool', { tool_name: 'mail_send_messag', tool_input: {}, ...ada })
    await mock.api(token, 'post', '/execute_tool', { tool_name: 'mail_send_message', tool_input: {}, ...ada })
    const { body: report } = await mock.call('get', '/contract?format=json')
    const { findings } = (report as { total: { findings: { kind: string; requests: string[] }[] } }).total
    const violations = findings.filter(({ kind }) => kind === 'violation')
    const { body: journal } = await mock.call('get', '/requests?short=true&limit=100')
    const { entries } = journal as { entries: { id: string; marks: string[] }[] }
    const marked = entries.filter(({ marks }) => marks.includes('violation')).map(({ id }) => id)
    expect(marked.length).toBeGreaterThan(6)
    expect(marked.length).toBeLessThan(entries.length - 3)
    expect(marked.toSorted()).toEqual([...new Set(violations.flatMap(({ requests }) => requests))].toSorted())
  })

  it('marks as a defect of the mock what the mock failed at, and no 500 that a responder answers', async () => {
    const operations = {
      ...OPERATIONS,
      list_connections: () => {
        throw new Error('broken')
      },
    }
    await withControl({ operations, log: SILENT }, async (mock) => {
      const token = await mock.token('test_client', 'test_secret')
      const on = { method: 'GET', path: '/api/v1/things' }
      await mock.call('put', '/extensions/things', {
        extension: 'things',
        responders: [{ name: 'things', on, respond: { status: 500, body: {} } }],
      })
      expect((await mock.api(token, 'get', '/things')).status).toBe(500)
      expect((await mock.api(token, 'get', '/connections')).status).toBe(500)
      const { body } = await mock.call('get', '/requests?short=true&kind=request')
      const { entries } = body as { entries: { operation: string; marks: string[] }[] }
      expect(entries.map(({ operation, marks }) => [operation, marks])).toEqual([
        ['create_token', []],
        ['things', []],
        // What it answered is none of the answers that the contract declares.
        ['list_connections', ['violation', 'defect']],
      ])
    })
  })

  it.for([
    ['?environment=nowhere', 404, 'ENVIRONMENT_NOT_FOUND'],
    ['?newest=10001', 400, 'INVALID_QUERY'],
    ['?newst=1', 400, 'INVALID_QUERY'],
  ])('%s is refused', async ([query, status, code], { mock: { http } }) => {
    const answer = await http('get', `/_mock/timeline${query}`)
    expectControlError(answer, status, code)
  })
})

describe('GET /_mock/environments', () => {
  it('lists each with its label, clients, accounts and requests', async ({ mock: { call, token } }) => {
    await call('post', '/environments', { name: 'other', label: 'mail > sends', seed: { accounts: [ada] } })
    await token('test_client', 'test_secret')
    const { environments } = (await call('get', '/environments')).body
    expect(environments).toEqual([
      { name: 'default', label: null, client_ids: ['test_client'], accounts: 0, requests: 1 },
      { name: 'other', label: 'mail > sends', client_ids: [expect.any(String)], accounts: 1, requests: 0 },
    ])
  })
})

describe('GET /_mock/accounts', () => {
  it('finds by text and status, the newest first, and counts each status', async ({ mock: { call } }) => {
    await call('post', '/seed', { accounts: [LIVE] })
    for (const name of ['grace', 'linus'])
      await call('post', '/links', { connector: 'mail', identifier: `${name}@example.com` })
    const names = async (query: string): Promise<unknown> => {
      const { accounts, total_size } = (await call('get', `/accounts?${query}`)).body
      return [(accounts as { identifier: string }[]).map(({ identifier }) => identifier.split('@')[0]), total_size]
    }
    expect(await names('order=newest')).toEqual([['linus', 'grace', 'ada'], 3])
    expect(await names('offset=1&limit=1')).toEqual([['grace'], 3])
    expect(await names('order=-identifier')).toEqual([['linus', 'grace', 'ada'], 3])
    expect(await names('order=status')).toEqual([['ada', 'grace', 'linus'], 3])
    expect(await names('order=token_expires_at&limit=2')).toEqual([['grace', 'linus'], 3])
    expect(await names('connector=mail')).toEqual([['ada', 'grace', 'linus'], 3])
    expect(await names('connector=weather')).toEqual([[], 0])
    expect(await names('status=ACTIVE')).toEqual([['ada'], 1])
    expect(await names('query=GRACE&status=PENDING_AUTH')).toEqual([['grace'], 1])
    expect((await call('get', '/accounts')).body.statuses).toEqual({ ACTIVE: 1, PENDING_AUTH: 2 })
  })
})

const idOf = async ({ call }: ControlMock): Promise<string> => {
  await call('post', '/seed', { accounts: [LIVE] })
  return (await call('get', '/accounts')).body.accounts[0].id
}

it('one account has the events that its state allows, and the tools of its connector', async ({ mock }) => {
  const id = await idOf(mock)
  const { body } = await mock.call('get', `/accounts/${id}`)
  expect(body).toMatchObject({
    account: { id, status: 'ACTIVE' },
    renewable: false,
    events: ['expire', 'disconnect', 'expire_access_token'],
  })
  const [tool] = body.tools
  expect([tool.name, tool.input_schema.required]).toEqual(['mail_send_message', ['to', 'subject']])
  expectControlError(await mock.call('get', '/accounts/ca_none'), 404, 'ACCOUNT_NOT_FOUND')
})

it('one account runs a tool as execute_tool does, in the journal and not in the contract record', async ({ mock }) => {
  const id = await idOf(mock)
  const path = `/accounts/${id}/tools/mail_send_message`
  const { body } = await mock.call('post', path, { input: { to: 'a@example.com', subject: 'Hi' } })
  expect(body).toMatchObject({ status: 200, body: { data: { message_id: expect.any(String) } } })
  const { request } = (await mock.call('get', `/requests/${body.request}`)).body
  expect(request).toMatchObject({ kind: 'control', account: id, status: 200 })
  expect(request.upstream).toHaveLength(1)
  expect((await mock.call('get', '/contract')).body.total.requests).toBe(0)
})

it.for([
  [{}, 400, 'INVALID_TOOL_INPUT'],
  [{ to: 'a@blocked.example', subject: 'Hi' }, 500, 'TOOL_ERROR'],
])('one account answers 200 with what the tool refuses: %j', async ([input, status, error_code], { mock }) => {
  const id = await idOf(mock)
  const { body } = await mock.call('post', `/accounts/${id}/tools/mail_send_message`, { input })
  expect([body.status, body.body.details[0].error_code]).toEqual([status, error_code])
})

it('GET /_mock/clock/due lists what the clock brings about, earliest first', async ({ mock: { call, token } }) => {
  await call('post', '/seed', { accounts: [LIVE] })
  await token('test_client', 'test_secret')
  await call('post', '/links', { connector: 'mail', identifier: 'grace@example.com' })
  const { due } = (await call('get', '/clock/due')).body
  expect(due.map(({ kind, subject, effect }: Record<string, string>) => [kind, subject, effect])).toEqual([
    ['magic_link', 'grace@example.com at mail', 'its link stops working'],
    ['account', 'ada@example.com at mail', 'becomes EXPIRED'],
    ['bearer_token', 'test_client', 'its last bearer token expires'],
  ])
  await call('put', '/clock', { now: due[1].at })
  const later = (await call('get', '/clock/due?limit=1')).body
  expect(later.due.map(({ kind }: { kind: string }) => kind)).toEqual(['bearer_token'])
  expect((await call('get', '/accounts?status=EXPIRED')).body.total_size).toBe(1)
})

it('POST /_mock/links creates a link that can be completed', async ({ mock: { call } }) => {
  const { status, body } = await call('post', '/links', ada)
  expect([status, body.identifier]).toEqual([201, 'ada@example.com'])
  expect((await call('get', '/links')).body.links).toMatchObject([{ id: body.id, expiry: body.expiry }])
  expect((await call('post', `/links/${body.id}/complete`, { decision: 'approve' })).status).toBe(200)
})

it.for([
  [{ connector: 'mial', identifier: 'a' }, 400, 'INVALID_BODY'],
  [{ connector: 'mail', identifier: '' }, 400, 'INVALID_BODY'],
  [{ ...ada, user_verify_url: 'javascript:alert(1)' }, 400, 'INVALID_BODY'],
])('POST /_mock/links refuses %j', async ([body, status, code], { mock: { call } }) => {
  const answer = await call('post', '/links', body)
  expectControlError(answer, status, code)
  expect((await call('get', '/accounts')).body.total_size).toBe(0)
})

it('POST /_mock/links refuses a connector whose connection is disabled', async ({ mock: { call } }) => {
  await call('post', '/connections/mail/disable')
  const answer = await call('post', '/links', ada)
  expectControlError(answer, 409, 'LINK_NOT_USABLE')
})

describe('documents', () => {
  const TEXT =
    '# Why: to see it.\nname: down\nrules:\n  - { name: down, at: service, do: [{ respond: { status: 500 } }] }\n'

  it('GET /_mock/scenarios/{name} answers one line of JSON as YAML', async ({ mock: { http, call } }) => {
    const rule = { at: 'service', do: [{ respond: { status: 503, body: { n: 9007199254740992, text: '1' } } }] }
    const json = JSON.stringify({ name: 'down', rules: [{ name: 'down', ...rule }] })
    const text = json.replace('9007199254740992', '9007199254740993')
    await http('put', '/_mock/scenarios/down').type('application/json').send(text)
    expect((await call('get', '/scenarios/down')).body.document).toBe(`name: down
rules:
  - name: down
    at: service
    do:
      - respond:
          status: 503
          body:
            n: 9007199254740993
            text: "1"
`)
  })

  it('GET /_mock/scenarios/{name} answers the document as it was written', async ({ mock: { http, call } }) => {
    await http('put', '/_mock/scenarios/down').type('application/yaml').send(TEXT)
    expect((await call('get', '/scenarios/down')).body).toMatchObject({ scenario: { name: 'down' }, document: TEXT })
    const bundled = (await call('get', '/scenarios/rate-limited')).body
    expect(bundled.document).toContain('name: rate-limited')
    expectControlError(await call('get', '/scenarios/none'), 404, 'SCENARIO_NOT_FOUND')
  })

  it.for([
    ['name: x\nrules:\n  - { name: r, at: service, do: [{ respnd: {} }] }\n', 'scenario', [3]],
    [TEXT, 'scenario', []],
    ['connector: notes\nauthorization_type: KEY\n', 'connector', [2]],
    ['accounts:\n  - { connector: mial, identifier: a }\n', 'seed', [2]],
    ['just text', 'unknown', [1]],
    ['a: [', 'unknown', [1]],
  ])('POST /_mock/validate finds the problems of %j', async ([text, kind, lines], { mock: { http } }) => {
    const { status, body } = await http('post', '/_mock/validate').type('application/yaml').send(text)
    expect([status, body.kind]).toEqual([200, kind])
    expect(body.problems.map(({ line }: { line: number }) => line)).toEqual(lines)
  })

  it('GET /_mock/connectors lists tools, people and responders', async ({ mock: { call } }) => {
    const [mail] = (await call('get', '/connectors')).body.connectors
    expect(mail).toMatchObject({
      connector: 'mail',
      enabled: true,
      mcp_server_url: '',
      people: expect.arrayContaining(['ada@example.com']),
    })
    expect(mail.tools).toContain('mail_send_message')
    expect(mail.responders[0]).toMatchObject({ method: 'POST', answers: [422], hits: 0 })
  })

  it('GET /_mock/connectors counts the hits of each responder', async ({ mock: { call } }) => {
    await call('post', '/seed', { accounts: [LIVE] })
    const [account] = (await call('get', '/accounts')).body.accounts
    const input = { to: 'a@blocked.example', subject: 'Hi' }
    await call('post', `/accounts/${account.id}/tools/mail_send_message`, { input })
    const [mail] = (await call('get', '/connectors')).body.connectors
    expect(mail.responders.map(({ hits }: { hits: number }) => hits).slice(0, 2)).toEqual([1, 0])
  })
})

it('a timeline that stays open keeps no journal of an environment that was removed', async ({ mock }) => {
  await withStream(mock, '', async (next) => {
    const untilEnvironments = async (count: number): Promise<void> => {
      for (let event = await next(); ; event = await next())
        if (event.event === 'state' && (event.data.environments as object[]).length === count) return
    }
    const { registry, journals } = mock.app.services
    await mock.call('post', '/environments', { name: 'worker' })
    const journal = new WeakRef(journals.of(registry.environment('worker')!))
    await untilEnvironments(2)
    await mock.call('delete', '/environments/worker')
    await untilEnvironments(1)
    await nextTurn()
    setFlagsFromString('--expose-gc')
    ;(runInNewContext('gc') as () => void)()
    expect(journal.deref()).toBeUndefined()
  })
})

it('a timeline whose reader is slow gets nothing after its end', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  await withControl({}, async (mock) => {
    await withStream(mock, '', async (next) => {
      await next()
      const { eventStreams, journals } = mock.app.services
      const [response] = eventStreams.open
      // As a connection whose other end reads nothing.
      Object.assign(response!.socket!, { _write: () => undefined, _writev: () => undefined })
      const closing = mock.app.close()
      await nextTurn()
      expect(response?.writableEnded).toBe(true)
      const write = vi.spyOn(response!, 'write')
      journals.add({ kind: 'control', id: 'req_1', environment: undefined, url: 'later', status: 200 })
      vi.advanceTimersByTime(15_000)
      expect(write).not.toHaveBeenCalled()
      response?.destroy()
      await closing
    })
  })
})

it('HEAD of a stream of events is answered without reading any', async ({ mock: { app } }) => {
  const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
  const journal = app.services.journals.of(app.services.registry.environment('default')!)
  const reads = [vi.spyOn(journal, 'subscribe'), vi.spyOn(journal, 'timeline')]
  for (const path of ['events', 'timeline'])
    expect((await fetch(`${url}/_mock/${path}`, { method: 'HEAD' })).status).toBe(200)
  for (const read of reads) expect(read).not.toHaveBeenCalled()
})
