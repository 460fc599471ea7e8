import { EventEmitter, once } from 'node:events'
import type { RequestListener } from 'node:http'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject } from 'vitest'
import { withDirectory } from '../../support/registry.ts'
import { type ControlMock, expectControlError, it, START, withControl } from './control-mock.ts'
import { withServer } from '../../support/server.ts'

const ada = { connector: 'mail', identifier: 'ada@example.com' }
const grace = { connector: 'mail', identifier: 'grace@example.com' }

interface State {
  settings: object
  tables: Record<string, { id: string }[]>
}

async function stateOf({ call }: ControlMock): Promise<State> {
  return (await call('get', '/state')).body as State
}

/** The problems of a state that is refused. */
async function problemsOf({ call }: ControlMock, state: object, query = ''): Promise<readonly object[]> {
  return expectControlError(await call('put', `/state${query}`, state), 400, 'INVALID_STATE').details
}

describe('POST /_mock/state/checkpoint', () => {
  // With a state in a database there is no file to read.
  it.runIf(inject('postgres') === undefined)('writes the whole model into the state file', async () => {
    await withDirectory(async (folder) => {
      const file = join(folder, 'state.json')
      await withControl({ state: file }, async (mock) => {
        await mock.call('post', '/seed', { accounts: [ada] })
        expect((await mock.call('post', '/state/checkpoint')).body).toEqual({})
        expect(readFileSync(file, 'utf8')).toContain('"ada@example.com"')
        expect(existsSync(`${file}.wal.0`) ? readFileSync(`${file}.wal.0`, 'utf8') : '').not.toContain('ada@')
      })
    })
  })

  it('succeeds without an effect in memory', async ({ mock: { call } }) => {
    expect((await call('post', '/state/checkpoint')).status).toBe(200)
  })
})

describe('POST /_mock/reset', () => {
  it('takes the seed in its body in place of the one before, for every later reset and with the same ids', async ({
    mock,
  }) => {
    const { call, token } = mock
    await call('post', '/seed', { accounts: [ada] })
    const connector = { connector: 'rooms', authorization_type: 'NO_AUTH' }
    const account = { connector: 'rooms', identifier: 'lena@example.com' }
    const clients = [{ client_id: 'late', client_secret: 'late_secret' }]
    const seed = { connectors: [connector], accounts: [account], clients, settings: { consent: 'deny' } }
    expect((await call('post', '/reset', { seed })).body).toEqual({})
    const at = await stateOf(mock)
    expect(at.tables['accounts']).toMatchObject([account])
    expect(at.tables['connections']).toMatchObject([{ key_id: 'rooms' }])
    expect(at.settings).toMatchObject({ consent: 'deny' })
    expect([await token('test_client', 'test_secret'), await token('late', 'late_secret')]).not.toContain(401)
    await call('post', '/seed', { accounts: [{ connector: 'rooms', identifier: 'more@example.com' }] })
    await call('post', '/reset', { seed })
    expect((await stateOf(mock)).tables['connections']).toEqual(at.tables['connections'])
    await call('post', '/reset', {})
    expect((await stateOf(mock)).tables['accounts']).toMatchObject([{ id: at.tables['accounts']?.[0]?.id }])
  })

  it('changes nothing for a seed that is refused', async ({ mock }) => {
    const { call } = mock
    await call('post', '/reset', { seed: { accounts: [ada] } })
    const before = await stateOf(mock)
    const refused = await call('post', '/reset', { seed: { accounts: [{ connector: 'mial', identifier: 'a' }] } })
    expectControlError(refused, 400, 'INVALID_DOCUMENT')
    expect((await call('post', '/reset', { sede: {} })).status).toBe(400)
    const taken = { clients: [{ client_id: 'mine', client_secret: 's' }] }
    await call('post', '/environments', { name: 'other', seed: taken })
    expectControlError(await call('post', '/reset', { seed: taken }), 409, 'CLIENT_ID_TAKEN')
    expect(await stateOf(mock)).toEqual(before)
  })

  it('resets model, clock, journal and links to the seed; clients, tokens and snapshots stay', async ({ mock }) => {
    const { call, api, token } = mock
    await call('post', '/seed', { accounts: [ada], settings: { consent: 'approve' } })
    const before = await stateOf(mock)
    const bearer = await token('test_client', 'test_secret')
    await call('put', '/snapshots/kept')
    await api(bearer, 'post', '/connected_accounts', grace)
    await api(bearer, 'post', '/connected_accounts/magic_link', grace)
    await api(bearer, 'post', '/custom-providers', { display_name: 'Mine' })
    await call('post', `/accounts/${before.tables['accounts']?.[0]?.id ?? ''}/disconnect`)
    await call('put', '/clock', { advance: '1h' })
    expect((await call('post', '/reset')).status).toBe(200)
    const after = await stateOf(mock)
    const names = (state: State): unknown[] =>
      ['accounts', 'connections', 'providers', 'connectors', 'magic_links', 'clients'].map((table) =>
        state.tables[table]?.map(({ id }) => id),
      )
    expect(names(after)).toEqual(names(before))
    expect(after.tables['accounts']).toMatchObject([{ status: 'ACTIVE', token_expires_at: '2026-01-01T01:00:00.000Z' }])
    expect(after.settings).toEqual(before.settings)
    expect((await call('get', '/clock')).body).toEqual({ now: START, frozen: true })
    expect((await call('get', '/requests')).body).toEqual({ requests: [] })
    expect((await call('get', '/links')).body).toEqual({ links: [] })
    expect((await call('get', '/snapshots')).body).toMatchObject({ snapshots: [{ name: 'kept' }] })
    expect((await api(bearer, 'get', '/connected_accounts')).body).toMatchObject({ total_size: 1 })
  })

  it('removes a provider that was created before a seed was added', async ({ mock }) => {
    const bearer = await mock.token('test_client', 'test_secret')
    await mock.api(bearer, 'post', '/custom-providers', { display_name: 'Mine' })
    await mock.call('post', '/seed', { accounts: [ada], providers: [{ display_name: 'Seeded' }] })
    const provider = (state: State): unknown => state.tables['providers']?.at(-1)
    const before = provider(await stateOf(mock))
    await mock.call('post', '/reset')
    const after = await stateOf(mock)
    expect(provider(after)).toEqual(before)
    expect(JSON.stringify(after)).not.toContain('"Mine"')
  })

  it('restores seeds that were added at the same time', async ({ mock }) => {
    const seeds = [{ generate: { accounts: 1, connector: 'mail' } }, { accounts: [ada] }, { accounts: [grace] }]
    await Promise.all(seeds.map((seed) => mock.call('post', '/seed', seed)))
    expect((await stateOf(mock)).tables['accounts']).toHaveLength(3)
    await mock.call('post', '/reset')
    expect((await stateOf(mock)).tables['accounts']).toHaveLength(3)
  })

  it('gives generated accounts the same ids and identifiers again', async ({ mock }) => {
    await mock.call('post', '/seed', { generate: { accounts: 20, connector: 'mail' } })
    const people = async (): Promise<unknown> => (await stateOf(mock)).tables['accounts']?.map(({ id }) => id)
    const before = await people()
    await mock.call('post', '/reset')
    expect(await people()).toEqual(before)
  })
})

describe('snapshots', () => {
  it('list what was added, removed and changed since, and restore it', async ({ mock }) => {
    const { call, api, token } = mock
    await call('post', '/seed', { accounts: [ada, grace] })
    const [first = '', second = ''] = (await stateOf(mock)).tables['accounts']?.map(({ id }) => id) ?? []
    const bearer = await token('test_client', 'test_secret')
    await call('put', '/snapshots/before')
    await call('put', '/clock', { advance: '5m' })
    await call('post', `/accounts/${first}/expire`)
    await api(bearer, 'post', '/connected_accounts:delete', { id: second })
    const { body } = await api(bearer, 'post', '/connected_accounts', { ...ada, connector: 'weather' })
    const third = (body as { connected_account: { id: string } }).connected_account.id
    const diff = (await call('get', '/state/diff?snapshot=before')).body as Record<string, { table: string }[]>
    const accounts = (part: string): unknown => diff[part]?.filter(({ table }) => table === 'accounts')
    const weather = { id: third, connector: 'weather', identifier: 'ada@example.com', status: 'PENDING_AUTH' }
    expect(accounts('added')).toMatchObject([{ table: 'accounts', id: third, row: weather }])
    const removed = { id: second, connector: 'mail', identifier: 'grace@example.com' }
    expect(accounts('removed')).toMatchObject([{ table: 'accounts', id: second, row: removed }])
    expect(accounts('changed')).toEqual([
      {
        table: 'accounts',
        id: first,
        fields: [{ field: 'status', before: 'ACTIVE', after: 'EXPIRED' }],
      },
    ])
    await call('post', '/snapshots/before/restore')
    const none = { snapshot: 'before', added: [], removed: [], changed: [], settings: [] }
    expect((await call('get', '/state/diff?snapshot=before')).body).toEqual(none)
    expect((await call('get', '/clock')).body).toEqual({ now: START, frozen: true })
    expect((await api(bearer, 'get', '/connected_accounts')).body).toMatchObject({ total_size: 2 })
  })

  it('list each field that changed, with secrets masked', async ({ mock }) => {
    const { call, api, token } = mock
    const [key, old] = [{ details: { api_key: 'k-old-secret', room: 'r-old-secret' } }, 'at-old-secret']
    const seeded = [
      { ...ada, id: 'ca_1', authorization_details: { oauth_token: { access_token: old, scopes: ['mail.read'] } } },
      { ...grace, connector: 'weather', id: 'ca_2', authorization_details: { static_auth: key } },
    ]
    expect((await call('post', '/seed', { accounts: seeded })).status).toBe(200)
    await call('put', '/snapshots/before')
    const bearer = await token('test_client', 'test_secret')
    const details = { oauth_token: { access_token: 'at-new-secret', scopes: ['mail.send'] } }
    const api_config = { region: { name: 'eu' }, webhook_secret: 'wh-new-secret' }
    const connected_account = { api_config, authorization_details: details }
    await api(bearer, 'put', '/connected_accounts', { id: 'ca_1', connected_account })
    const renewed = { static_auth: { details: { api_key: 'k-new-secret', room: 'r-old-secret' } } }
    await api(bearer, 'put', '/connected_accounts', {
      id: 'ca_2',
      connected_account: { authorization_details: renewed },
    })
    const { body } = await call('get', '/state/diff?snapshot=before')
    expect(JSON.stringify(body)).not.toMatch(/-secret/)
    expect(JSON.stringify(body)).not.toContain(bearer)
    const masked: unknown = expect.stringMatching(/^\*{3}[0-9a-f]{4}$/)
    const { added, changed } = body as Record<string, { table: string; id: string; fields: object[] }[]>
    const row = { id: masked, client_id: 'test_client', expires_at: expect.any(String) as string }
    expect(added).toContainEqual({ table: 'bearer_tokens', id: masked, row })
    const fields = (id: string): unknown => changed?.find((row) => row.id === id)?.fields
    expect(fields('ca_1')).toEqual([
      { field: 'api_config.region', after: { name: 'eu' } },
      { field: 'api_config.webhook_secret', after: masked },
      { field: 'credentials.oauth_token.access_token', before: masked, after: masked },
      { field: 'credentials.oauth_token.scopes', before: ['mail.read'], after: ['mail.send'] },
    ])
    expect(fields('ca_2')).toEqual([
      { field: 'credentials.static_auth.details.api_key', before: masked, after: masked },
    ])
  })

  it('list the rows that were added and removed, with secrets masked', async ({ mock: { app, call, api, token } }) => {
    const bearer = await token('test_client', 'test_secret')
    await call('put', '/snapshots/before')
    const { model } = app.services.defaultEnvironment()!
    const code = { connector: 'mail', person: 'ada', scopes: [], redirect_uri: 'http://a', expires_at: START }
    model.transact(() => model.tables.authorization_codes.put({ ...code, id: 'code-secret' }))
    const created = async (connector: string, connected_account: object): Promise<void> => {
      const { status } = await api(bearer, 'post', '/connected_accounts', { ...ada, connector, connected_account })
      expect(status).toBe(201)
    }
    const oauth_token = { access_token: 'at-secret', refresh_token: 'rt-secret', scopes: ['mail.read'] }
    await created('mail', { authorization_details: { oauth_token }, api_config: { webhook_secret: 'wh-secret' } })
    await created('weather', { authorization_details: { static_auth: { details: { api_key: 'k-secret' } } } })
    await call('put', '/snapshots/after')
    const added = (await call('get', '/state/diff?snapshot=before')).body as {
      added: { table: string; row: object }[]
    }
    await call('post', '/snapshots/before/restore')
    const removed = (await call('get', '/state/diff?snapshot=after')).body as { removed: object[] }
    expect(JSON.stringify([added, removed])).not.toMatch(/-secret/)
    expect(added.added.filter(({ table }) => table === 'accounts')).toMatchObject([
      {
        row: {
          connector: 'mail',
          credentials: {
            oauth_token: { access_token: expect.stringMatching(/^\*{3}/) as string, scopes: ['mail.read'] },
          },
        },
      },
      { row: { connector: 'weather', api_config: {} } },
    ])
    expect(added.added).toContainEqual(expect.objectContaining({ table: 'authorization_codes' }))
    expect(removed.removed).toEqual(added.added)
  })

  it('are unknown until they are taken and once they are deleted', async ({ mock: { call } }) => {
    expectControlError(await call('post', '/snapshots/s/restore'), 404, 'SNAPSHOT_NOT_FOUND')
    await call('put', '/snapshots/s')
    expect((await call('delete', '/snapshots/s')).status).toBe(200)
    expectControlError(await call('delete', '/snapshots/s'), 404, 'SNAPSHOT_NOT_FOUND')
  })

  it.for([
    ['a comparison that names none', 'get', '/state/diff', 'INVALID_QUERY'],
    ['a name with a slash', 'put', '/snapshots/a%2Fb', 'INVALID_NAME'],
  ] as const)(
    'refuse %s',
    async ([_title, method, path, code], { mock: { call } }) =>
      void expectControlError(await call(method, path), 400, code),
  )
})

describe('PUT /_mock/state', () => {
  it('accepts the answer of GET without a change of the state', async ({ mock }) => {
    await mock.call('post', '/seed', { accounts: [ada] })
    const before = await stateOf(mock)
    expect((await mock.call('put', '/state', before)).status).toBe(200)
    expect(JSON.stringify(await stateOf(mock))).toBe(JSON.stringify(before))
  })

  it('refuses an invalid state with the path of every problem, and changes no data', async ({ mock }) => {
    await mock.call('post', '/seed', { accounts: [ada, grace] })
    const before = await stateOf(mock)
    const bad = structuredClone(before) as unknown as { tables: { accounts: Record<string, unknown>[] }; colour: 1 }
    bad.colour = 1
    Object.assign(bad.tables.accounts[0] ?? {}, { status: 'GONE' })
    Object.assign(bad.tables.accounts[1] ?? {}, { updated_at: '2026-13-45T00:00:00.000Z' })
    expect(await problemsOf(mock, bad)).toMatchObject([
      { path: 'tables.accounts[0].status' },
      { path: 'tables.accounts[1].updated_at' },
      { path: 'colour' },
    ])
    expect(await stateOf(mock)).toEqual(before)
  })

  it('refuses an account that has two kinds of credentials (2.2)', async ({ mock }) => {
    await mock.call('post', '/seed', { accounts: [ada] })
    const state = (await stateOf(mock)) as unknown as { tables: { accounts: { credentials: object }[] } }
    Object.assign(state.tables.accounts[0]?.credentials ?? {}, { static_auth: { details: { api_key: 'k' } } })
    expect(await problemsOf(mock, state)).toMatchObject([{ path: 'tables.accounts[0].credentials' }])
  })

  it('accepts an account whose custom provider was deleted, as GET answers it', async ({ mock }) => {
    const { call, api } = mock
    const token = await mock.token('test_client', 'test_secret')
    const provider = { display_name: 'Notes', auth_patterns: [{ type: 'API_KEY' }] }
    const created = (await api(token, 'post', '/custom-providers', provider)).body as Record<
      string,
      { identifier: string }
    >
    const connector = String(created['provider']?.identifier)
    const details = { static_auth: { details: { api_key: 'k' } } }
    const connected_account = { authorization_details: details }
    await api(token, 'post', '/connected_accounts', { connector, identifier: 'ada', connected_account })
    await api(token, 'delete', `/custom-providers/${connector}`)
    const before = await stateOf(mock)
    expect(before.tables['accounts']).toMatchObject([{ connector, status: 'DISCONNECTED' }])
    expect((await call('put', '/state', before)).status).toBe(200)
    expect(await stateOf(mock)).toEqual(before)
  })

  it('names the place of what is wrong far down a table', async ({ mock }) => {
    const state = await stateOf(mock)
    const token = (id: number) => ({ id: `${id}`, client_id: 'c', expires_at: '2099-01-01T00:00:00.000Z' })
    const bearer_tokens = Array.from({ length: 1200 }, (_, at) => (at === 1100 ? { ...token(at), id: 7 } : token(at)))
    const problems = await problemsOf(mock, { ...state, tables: { ...state.tables, bearer_tokens } })
    expect(problems).toMatchObject([{ path: 'tables.bearer_tokens[1100].id' }])
  })

  it('lists a hundred problems of a state, and counts the others', async ({ mock }) => {
    const state = await stateOf(mock)
    const wrong = { ...state, tables: { ...state.tables, bearer_tokens: Array(150).fill('none') } }
    const problems = await problemsOf(mock, wrong)
    expect(problems).toHaveLength(101)
    expect(problems.at(-1)).toMatchObject({ path: '', found: 'wrong in 50 more places' })
  })

  it('refuses a state file, and names what it accepts', async ({ mock }) => {
    const before = await stateOf(mock)
    const problems = await problemsOf(mock, { version: 2, environments: { default: before } })
    const found = 'the key of a state file'
    const allowed = 'the state of one environment, as GET /_mock/state answers it'
    expect(problems).toMatchObject([{ path: 'environments', found, allowed }])
    expect(await stateOf(mock)).toEqual(before)
  })

  it('refuses a row that is there twice', async ({ mock }) => {
    const state = await stateOf(mock)
    const rows = state.tables['connections'] ?? []
    const twice = { ...state, tables: { ...state.tables, connections: [...rows, ...rows.slice(0, 1)] } }
    expect(await problemsOf(mock, twice)).toMatchObject([{ path: `tables.connections[${rows.length}].id` }])
  })

  it('refuses a client that another environment has', async ({ mock }) => {
    await mock.call('post', '/environments', { name: 'other' })
    const problems = await problemsOf(mock, await stateOf(mock), '?environment=other')
    expect(problems).toMatchObject([{ path: 'tables.clients[0].id' }])
  })

  it('refuses a client with control characters', async ({ mock }) => {
    const state = await stateOf(mock)
    const clients = [{ id: 'a\nb', client_secret: '\u0000' }]
    const allowed = 'a text without control characters'
    expect(await problemsOf(mock, { ...state, tables: { ...state.tables, clients } })).toMatchObject([
      { path: 'tables.clients[0].id', allowed },
      { path: 'tables.clients[0].client_secret', allowed },
    ])
  })
})

describe('documents that are sent', () => {
  it('a seed as YAML is added as a whole, or refused with line and column', async ({ mock }) => {
    const send = (text: string) => mock.http('post', '/_mock/seed').set('Content-Type', 'application/yaml').send(text)
    const refused = await send(
      'accounts:\n  - { connector: mail, identifier: a }\n  - { connector: nowhere, identifier: b }\n',
    )
    const { details } = expectControlError(refused, 400, 'INVALID_DOCUMENT')
    expect(details).toMatchObject([{ line: 3, column: 18 }])
    expect((await stateOf(mock)).tables['accounts']).toEqual([])
    expect((await send('accounts:\n  - { connector: mail, identifier: a }\n')).status).toBe(200)
    expect((await stateOf(mock)).tables['accounts']).toHaveLength(1)
  })

  it('a connector serves at once, under the name of the path only', async ({ mock }) => {
    const notes = { connector: 'notes', authorization_type: 'API_KEY' }
    expectControlError(await mock.call('put', '/connectors/other', notes), 400, 'INVALID_DOCUMENT')
    expect((await mock.call('put', '/connectors/notes', notes)).status).toBe(200)
    const bearer = await mock.token('test_client', 'test_secret')
    const made = await mock.api(bearer, 'post', '/connected_accounts', { connector: 'notes', identifier: 'ada' })
    expect(made.status).toBe(201)
  })

  it.for([
    ['{', 400, 'MALFORMED_BODY'],
    ['"text"', 400, 'INVALID_BODY'],
    ['', 400, 'INVALID_BODY'],
  ])('the body %j of a clock change: %d %s', async ([text, status, code], { mock: { http } }) => {
    const refused = await http('put', '/_mock/clock').set('Content-Type', 'application/json').send(text)
    expectControlError(refused, status, code)
  })
})

it.for([
  ['a snapshot that is restored', 'post', '/snapshots/before/restore'],
  ['a state that is loaded', 'put', '/state'],
  ['a reset to another seed', 'post', '/reset'],
] as const)('a setting that was absent is absent again after %s', async ([_title, method, path], { mock }) => {
  const { settings, ...before } = await stateOf(mock)
  await mock.call('put', '/snapshots/before')
  await mock.call('post', '/seed', { settings: { virtual_mcp: true } })
  expect((await stateOf(mock)).settings).toEqual({ ...settings, virtual_mcp: true })
  const body = { '/state': { ...before, settings }, '/reset': { seed: { accounts: [] } } }
  const answer = await mock.call(method, path, path in body ? body[path as keyof typeof body] : undefined)
  expect(answer.status).toBe(200)
  expect((await stateOf(mock)).settings).toEqual(settings)
})

it.for([
  ['a reset', 'post', '/reset'],
  ['a snapshot that is restored', 'post', '/snapshots/before/restore'],
  ['a state that is loaded', 'put', '/state'],
] as const)('a call of a tool that is under way changes no account of %s', async ([_title, method, path], { mock }) => {
  const asked = new EventEmitter()
  const outside: RequestListener = (_request, response) => {
    asked.emit('asked', () => response.writeHead(401, { 'Content-Type': 'application/json' }).end('{}'))
  }
  const tool = { name: 'ext_get', description: 'Gets.', input_schema: {}, call: { method: 'GET', path: '/x' } }
  const details = { static_auth: { details: { api_key: 'key_1' } } }
  const seeded = { id: 'ca_seeded', connector: 'ext', identifier: 'ada', authorization_details: details }
  await withServer(outside, async (base_url) => {
    const connector = { connector: 'ext', authorization_type: 'API_KEY', base_url, tools: [tool] }
    const seed = { connectors: [connector], accounts: [seeded] }
    const { body } = await mock.call('post', '/environments', { name: 'worker', seed })
    const { client_id, client_secret } = body as Record<string, string>
    const token = await mock.token(String(client_id), String(client_secret))
    await mock.call('put', '/snapshots/before?environment=worker')
    const state = (await mock.call('get', '/state?environment=worker')).body as object
    const called = once(asked, 'asked')
    const tried = { connector: 'ext', identifier: 'ada', tool_name: 'ext_get', tool_input: {} }
    const calling = mock.api(token, 'post', '/execute_tool', tried).then((answer) => answer.status)
    const [answer] = (await called) as [() => void]
    await mock.call(method, `${path}?environment=worker`, method === 'put' ? state : undefined)
    answer()
    expect(await calling).toBe(404)
    const { connected_accounts } = (await mock.api(token, 'get', '/connected_accounts')).body as {
      connected_accounts: { status: string; last_used_at?: string }[]
    }
    expect(connected_accounts).toMatchObject([{ id: 'ca_seeded', status: 'ACTIVE' }])
    expect(connected_accounts[0]?.last_used_at).toBeUndefined()
  })
})
