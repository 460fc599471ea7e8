import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect } from 'vitest'
import { restoreSnapshot, takeSnapshot } from '../../../src/state/snapshots.ts'
import { ADA, createActive, expectError } from '../../support/accounts.ts'
import { ERAS, type McpMock, textsOf, withMcp } from './fixture.ts'
import { TWELVE_SEEDS } from '../../support/twelve-connectors.ts'
import { type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { during, it as base } from '../../support/mock-fixture.ts'
import { startScenario } from '../../support/scenario.ts'

const MAIL = [{ connection_name: 'mail', tools: ['mail_list_messages'] }]
const USER = { config_name: 'support', user_identifier: ADA.identifier }

interface Instance {
  id: string
  name: string
  user_identifier: string
  config: { id: string; name: string; connection_tool_mappings: Record<string, unknown>[] }
  last_used_at: string
  updated_at: string
  url: string
}

/** A mock with the configs `support`, of mail, and `sales`, of weather. */
function withInstances(work: (mock: TestToolmock) => Promise<void>): Promise<void> {
  return withToolmock({ mcp: true, seeds: TWELVE_SEEDS }, async (mock) => {
    await mock.api.post('/mcp/configs', { name: 'support', connection_tool_mappings: MAIL })
    await mock.api.post('/mcp/configs', { name: 'sales', connection_tool_mappings: [{ connection_name: 'weather' }] })
    await work(mock)
  })
}

async function ensured({ api }: TestToolmock, body: object = {}): Promise<Instance> {
  const answer = await api.post('/mcp/instances', { ...USER, ...body })
  expect(answer.status).toBe(200)
  return answer.body.instance
}

const it = base.extend('mock', during(withInstances))

describe('MCP instances', () => {
  it('have the config, the account of their user at each of its connections, and a URL', async ({ mock }) => {
    const { id } = await createActive(mock)
    const { config } = (await mock.api.post('/mcp/configs', { name: 'both', connection_tool_mappings: TWO })).body
    const instance = await ensured(mock, { config_name: 'both', name: 'Both of Ada' })
    const [mail, weather] = config.connection_tool_mappings
    const ofAda = { ...mail, connected_account_id: id, connected_account_status: 'ACTIVE' }
    expect(instance).toEqual({
      id: expect.stringMatching(/^inst_\d+$/),
      name: 'Both of Ada',
      user_identifier: ADA.identifier,
      config: {
        ...config,
        connection_tool_mappings: [ofAda, { ...weather, connected_account_id: '', connected_account_status: '' }],
      },
      last_used_at: '0001-01-01T00:00:00Z',
      updated_at: new Date(mock.time.now()).toISOString(),
      url: expect.stringMatching(
        /^http:\/\/[^/]+\/mcp\/v2\/[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/,
      ),
    })
    expect((await mock.api.get(`/mcp/instances/${instance.id}`)).body.instance).toEqual(instance)
    const read = (await mock.api.get(`/mcp/configs/${config.id}`)).body.config
    expect(read.connection_tool_mappings).toEqual([mail, weather])
  })

  it('are there once for a config, a name and a user, also of two requests at once', async ({ mock }) => {
    const [first, second] = await Promise.all([ensured(mock), ensured(mock, { name: '' })])
    expect(second).toEqual(first)
    expect(first.name).toBe('support')
    const others = [{ name: 'other' }, { user_identifier: 'grace@example.com' }, { config_name: 'sales' }]
    const ids = [first.id]
    for (const other of others) ids.push((await ensured(mock, other)).id)
    expect(new Set(ids).size).toBe(4)
    mock.time.advance('1h')
    expect(await ensured(mock)).toEqual(first)
  })

  it('name no account where several have the identifier of their user', async ({ mock }) => {
    for (const user_id of ['one', 'two']) await mock.api.post('/connected_accounts', { ...ADA, user_id })
    const { config } = await ensured(mock)
    const none = { connected_account_id: '', connected_account_status: '' }
    expect(config).toMatchObject({ connection_tool_mappings: [none] })
    expect((await mock.api.get('/mcp/instances')).status).toBe(200)
  })

  it('get another name, and the connections of another config', async ({ mock }) => {
    const { api, time } = mock
    const before = await ensured(mock)
    time.advance('1h')
    const updated_at = new Date(time.now()).toISOString()
    const path = `/mcp/instances/${before.id}`
    const renamed = await mock.api.patch(path, { name: 'New', user_identifier: 'grace@example.com' })
    expect([renamed.status, renamed.body.instance]).toEqual([200, { ...before, name: 'New', updated_at }])
    const moved = (await mock.api.patch(path, { config_name: 'sales' })).body.instance
    const mappings = [{ connection_name: 'weather' }]
    expect(moved).toMatchObject({ name: 'New', config: { name: 'sales', connection_tool_mappings: mappings } })
    expect(moved.url).toBe(before.url)
    expect((await mock.api.patch(path, { name: '', config_name: '' })).body.instance).toEqual(moved)
    expect((await ensured(mock)).id).not.toBe(before.id)
    expect((await api.get('/mcp/instances')).body.total_size).toBe(2)
  })

  it('cannot take the name of another instance of their user and config', async ({ mock }) => {
    await ensured(mock)
    const { id } = await ensured(mock, { config_name: 'sales', name: 'support' })
    const both = [await mock.api.patch(`/mcp/instances/${id}`, { config_name: 'support' })]
    await mock.api.patch(`/mcp/instances/${id}`, { name: 'free', config_name: 'support' })
    both.push(await mock.api.patch(`/mcp/instances/${id}`, { name: 'support' }))
    for (const answer of both) expectError(answer, 400, 'DUPLICATE_IDENTIFIER')
    expect((await mock.api.patch(`/mcp/instances/${id}`, { name: 'free' })).status).toBe(200)
  })

  it('are gone after a deletion, also of their config', async ({ mock }) => {
    const { api } = mock
    const [first, second, stays] = [
      await ensured(mock),
      await ensured(mock, { name: 'second' }),
      await ensured(mock, { config_name: 'sales' }),
    ]
    const deleted = await api.delete(`/mcp/instances/${first.id}`)
    expect([deleted.status, deleted.body]).toEqual([200, {}])
    await api.delete(`/mcp/configs/${second.config.id}`)
    const gone = []
    for (const { id } of [first, second]) {
      const path = `/mcp/instances/${id}`
      gone.push(await api.get(path), await api.patch(path, {}), await api.delete(path))
    }
    for (const answer of gone) expectError(answer, 404, 'MCP_INSTANCE_NOT_FOUND')
    expect((await api.get('/mcp/instances')).body.instances).toEqual([stays])
  })

  it('are listed by each filter, and a page at a time', async ({ mock }) => {
    const { api } = mock
    const grace = { user_identifier: 'grace@example.com' }
    const all = [
      await ensured(mock, { name: 'Desk' }),
      await ensured(mock, grace),
      await ensured(mock, { config_name: 'sales' }),
    ]
    const list = async (query: Record<string, string> = {}) => (await api.get('/mcp/instances', query)).body
    const indexes = async (query: Record<string, string>) =>
      (await list(query)).instances.map(({ id }: Instance) => all.findIndex((each) => each.id === id))
    expect(await list()).toEqual({ instances: all, total_size: 3, next_page_token: '', prev_page_token: '' })
    expect(await indexes({ 'filter.id': all[1]!.id })).toEqual([1])
    expect(await indexes({ 'filter.name': 'DESK' })).toEqual([0])
    expect(await indexes({ 'filter.name': 'des' })).toEqual([])
    expect(await indexes({ 'filter.config_name': 'Support' })).toEqual([0, 1])
    expect(await indexes({ 'filter.user_identifier': 'ada@example.com' })).toEqual([0, 2])
    expect(await indexes({ 'filter.user_identifier': 'Ada@example.com' })).toEqual([])
    expect(await indexes({ search: 'eSk' })).toEqual([0])
    expect(await indexes({ search: 'GRACE' })).toEqual([1])
    const first = await list({ page_size: '2' })
    expect(first).toMatchObject({ instances: [{ id: all[0]!.id }, { id: all[1]!.id }], total_size: 3 })
    const page_token = first.next_page_token
    expect(await indexes({ page_size: '2', page_token })).toEqual([2])
    const other = await api.get('/mcp/instances', { search: 'sales', page_token })
    expectError(other, 400, 'INVALID_PAGE_TOKEN')
    expect((await api.get('/mcp/instances', { page_size: '30' })).status).toBe(200)
    expect((await api.get('/mcp/instances', { page_size: '31' })).status).toBe(400)
    expect((await api.get('/mcp/instances', { 'filter.name': 'x'.repeat(101) })).status).toBe(400)
  })

  it.for([
    ['no config', { user_identifier: 'ada' }, 'config_name required'],
    ['a config that is not there', { ...USER, config_name: 'suport' }, 'config_name known_config'],
    ['no user', { config_name: 'support' }, 'user_identifier required'],
    ['a blank user', { ...USER, user_identifier: ' ' }, 'user_identifier pattern'],
    ['a user of 1,001 characters', { ...USER, user_identifier: 'x'.repeat(1001) }, 'user_identifier maxLength'],
  ] as const)('are refused with %s', async ([_, body, violation], { mock: { api } }) => {
    const answer = await api.post('/mcp/instances', body)
    const [{ field, constraint }] = answer.body.details[0].validation_error_info.field_violations
    expect([answer.status, `${field} ${constraint}`]).toEqual([400, violation])
    expect((await api.get('/mcp/instances')).body.total_size).toBe(0)
  })

  it('say for their user which connections have an account; with links, missing ones are made', async ({ mock }) => {
    const { api, environment } = mock
    const { id } = await createActive(mock)
    await api.post('/mcp/configs', { name: 'both', connection_tool_mappings: TWO })
    const instance = await ensured(mock, { config_name: 'both' })
    const path = `/mcp/instances/${instance.id}:get_auth_state`
    const [mail, weather] = instance.config.connection_tool_mappings.map(
      ({ tools: _, connected_account_id, connected_account_status, ...mapping }) => ({
        ...mapping,
        ...{ connected_account_id, connected_account_status, authentication_link: '' },
      }),
    )
    for (const query of ['', '?include_auth_links=false']) {
      const { status, body } = await api.post(path + query)
      expect([status, body]).toEqual([200, { connections: [mail, weather] }])
    }
    expect(mail).toMatchObject({ connected_account_id: id, connected_account_status: 'ACTIVE' })
    expect(environment.model.tables.accounts.size).toBe(1)
    const { connections } = (await api.post(`${path}?include_auth_links=true`)).body
    const link = expect.stringMatching(/\/magic\//)
    const made = { connected_account_id: expect.stringMatching(/^ca_/), connected_account_status: 'PENDING_AUTH' }
    expect(connections).toEqual([
      { ...mail, authentication_link: link },
      { ...weather, ...made, authentication_link: link },
    ])
    const lifetimes = environment.model.openLinks().map((each) => Date.parse(each.expires_at) - mock.time.now())
    expect(lifetimes).toEqual([60_000, 60_000])
    const missing = await api.post('/mcp/instances/inst_1:get_auth_state')
    expectError(missing, 404, 'MCP_INSTANCE_NOT_FOUND')
    for (const user_id of ['one', 'two'])
      await api.post('/connected_accounts', { ...ADA, identifier: 'grace', user_id })
    const grace = await ensured(mock, { user_identifier: 'grace' })
    const several = await api.post(`/mcp/instances/${grace.id}:get_auth_state`)
    expectError(several, 400, 'AMBIGUOUS_LOCATOR')
    const wrong = await api.get(path)
    expect([wrong.status, wrong.headers['allow']]).toEqual([405, 'POST'])
  })

  it('are part of the state: a snapshot brings them back, and a reset ends them', async ({ mock }) => {
    const { api, environment, http } = mock
    const instance = await ensured(mock)
    const saved = takeSnapshot(environment, 'before')
    const state = (await http('get', '/_mock/state')).body
    expect(state.tables.mcp_instances).toMatchObject([{ id: instance.id, config_id: instance.config.id }])
    await http('post', '/_mock/reset')
    expect((await api.get('/mcp/instances')).body.total_size).toBe(0)
    restoreSnapshot(environment, saved)
    expect((await api.get('/mcp/instances')).body.instances).toEqual([instance])
    const { mcp_instances: _, ...tables } = state.tables
    expect((await http('put', '/_mock/state').send({ ...state, tables })).status).toBe(200)
    expect((await api.get('/mcp/instances')).body.total_size).toBe(0)
    state.tables.mcp_configs = []
    const refused = await http('put', '/_mock/state').send(state)
    expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining('config_id')])
  })
})

const TWO = [...MAIL, { connection_name: 'weather' }]

describe('the URL of an MCP instance', () => {
  /** An instance of ada@example.com, and a client of its URL that sends no token. */
  async function withClient(
    work: (mock: McpMock, instance: Instance, client: Client, again: () => Promise<Instance>) => Promise<void>,
    options: ClientOptions = {},
  ): Promise<void> {
    await withMcp({ seeds: TWELVE_SEEDS }, async (mock) => {
      await mock.call('POST', '/mcp/configs', { name: 'support', connection_tool_mappings: TWO })
      const { instance } = await mock.call<{ instance: Instance }>('POST', '/mcp/instances', USER)
      const client = new Client({ name: 'test-client', version: '1.2.3' }, options)
      await client.connect(new StreamableHTTPClientTransport(new URL(instance.url)))
      const again = async () =>
        (await mock.call<{ instance: Instance }>('GET', `/mcp/instances/${instance.id}`)).instance
      try {
        await work(mock, instance, client, again)
      } finally {
        await client.close()
      }
    })
  }

  async function accountId({ call }: McpMock): Promise<unknown> {
    const query = `connector=mail&identifier=${ADA.identifier}`
    const details = await call<{ connected_account: { id: string } }>('GET', `/connected_accounts/details?${query}`)
    return details.connected_account.id
  }

  const CALL = { name: 'mail_list_messages', arguments: {} }

  it.each(ERAS)('works without a token, as its user: %s', async (_, options) => {
    await withClient(async (mock, instance, client, again) => {
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['mail_list_messages', 'weather_get_current']),
      )
      expect(tools.map(({ name }) => name)).not.toContain('mail_send_message')
      expect((await again()).last_used_at).toBe('0001-01-01T00:00:00Z')
      expect(await client.callTool(CALL)).not.toHaveProperty('isError')
      const [entry] = await mock.journal('operation=execute_tool')
      expect(entry).toMatchObject({ protocol: 'mcp', account: await accountId(mock) })
      const { last_used_at, updated_at } = await again()
      expect(Date.parse(last_used_at)).toBeGreaterThan(Date.now() - 60_000)
      expect(updated_at).toBe(instance.updated_at)
    }, options)
  })

  it('answers a magic link where its user has no account that is ACTIVE, which is no use of it', async () => {
    await withClient(async (mock, _, client, again) => {
      await mock.call('POST', '/connected_accounts', { ...ADA, connector: 'weather' })
      const result = await client.callTool({ name: 'weather_get_current', arguments: { city: 'Oslo' } })
      expect(result.isError).toBe(true)
      expect(textsOf(result).join()).toContain('ACCOUNT_NOT_ACTIVE')
      expect((await again()).last_used_at).toBe('0001-01-01T00:00:00Z')
    })
  })

  it('takes the connections of another config, and no token of another user', async () => {
    await withClient(async (mock, instance, client) => {
      await mock.call('POST', '/mcp/configs', {
        name: 'sales',
        connection_tool_mappings: [{ connection_name: 'mail' }],
      })
      await mock.call('PATCH', `/mcp/instances/${instance.id}`, { config_name: 'sales' })
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('mail_send_message')
      const { token } = await mock.call<{ token: string }>('POST', '/mcp/connections/mail/tokens', {
        identifier: 'grace@example.com',
      })
      const headers = { Authorization: `Bearer ${token}`, identifier: 'grace@example.com' }
      const other = await mock.connect({ path: new URL(instance.url).pathname, headers })
      await other.callTool(CALL)
      const [entry] = await mock.journal('operation=execute_tool')
      expect(entry).toMatchObject({ account: await accountId(mock) })
    })
  })

  it.each([
    ['its deletion', (mock: McpMock, { id }: Instance) => mock.call('DELETE', `/mcp/instances/${id}`)],
    [
      'the deletion of its config',
      (mock: McpMock, { config }: Instance) => mock.call('DELETE', `/mcp/configs/${config.id}`),
    ],
    ['a reset', (mock: McpMock) => mock.call('POST', '/_mock/reset')],
  ])('is a 404 after %s', async (_, end) => {
    await withClient(async (mock, instance, client) => {
      await end(mock, instance)
      await expect(client.listTools()).rejects.toThrow(/an instance ends with its deletion/)
      await expect(client.callTool(CALL)).rejects.toThrow(/an instance ends with its deletion/)
    })
  })

  it('gives the result of a call during which it is deleted', async () => {
    await withClient(async (mock, instance, client) => {
      await startScenario(mock, { at: 'third_party', do: [{ latency: '300ms' }] })
      const result = client.callTool(CALL)
      const slow = () => mock.call('GET', '/_mock/scenarios/test')
      await expect.poll(async () => JSON.stringify(await slow())).toContain('"hits":1')
      await mock.call('DELETE', `/mcp/instances/${instance.id}`)
      expect(await result).not.toHaveProperty('isError')
    })
  })

  it('is reached by scenarios, for calls of tools and for requests of the protocol', async () => {
    await withClient(async (mock, _, client) => {
      const account = { identifier: ADA.identifier }
      await startScenario(
        mock,
        { on: { operation: 'execute_tool', account }, do: [{ respond: { status: 429 } }] },
        { on: { mcp: 'tools/list' }, do: [{ respond: { status: 503 } }] },
        { on: { operation: 'ensure_mcp_instance' }, do: [{ respond: { status: 503 } }] },
      )
      const result = await client.callTool(CALL)
      expect(result.isError).toBe(true)
      expect(textsOf(result).join()).toContain('a scenario answers 429')
      await expect(client.listTools()).rejects.toThrow(/503|STORAGE|UNAVAILABLE/)
      expect(await mock.call('POST', '/mcp/instances', USER)).toMatchObject({ code: 14 })
    })
  })

  it('is of one environment: another one cannot get it by a state', async () => {
    await withClient(async (mock) => {
      const state = await mock.call<{ tables: { clients: unknown[]; bearer_tokens: unknown[] } }>('GET', '/_mock/state')
      await mock.call('POST', '/_mock/environments', { name: 'other' })
      state.tables.clients = []
      state.tables.bearer_tokens = []
      const answer = await mock.call<{ error?: { message: string } }>('PUT', '/_mock/state?environment=other', state)
      expect(answer.error?.message).toContain('mcp_instances')
    })
  })
})
