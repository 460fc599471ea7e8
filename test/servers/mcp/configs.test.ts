import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { restoreSnapshot, takeSnapshot } from '../../../src/state/snapshots.ts'
import { ADA, createActive, expectError } from '../../support/accounts.ts'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { withDirectory } from '../../support/registry.ts'
import { itWith } from '../../support/mock-fixture.ts'
import { withToolmock } from '../../support/toolmock.ts'
import { TWELVE_SEEDS } from '../../support/twelve-connectors.ts'

const TWO = [
  { connection_name: 'mail', tools: ['mail_send_message', 'mail_list_messages'] },
  { connection_name: 'weather' },
]

const CONFIGS = { mcp: true, seeds: TWELVE_SEEDS }

/** The field and the rule of each violation. */
function violationsOf(body: {
  details: [{ validation_error_info?: { field_violations: { field: string; constraint: string }[] } }]
}): string[] {
  return (body.details[0].validation_error_info?.field_violations ?? []).map(
    ({ field, constraint }) => `${field} ${constraint}`,
  )
}

const it = itWith(withToolmock, CONFIGS)

describe('MCP configs', () => {
  it('are created with their connections and the URL of their server', async ({ mock: { api, environment } }) => {
    const created = await api.post('/mcp/configs', {
      name: 'support-agent',
      description: 'Reads mail.',
      connection_tool_mappings: TWO,
    })
    expect(created.status).toBe(201)
    const { config } = created.body
    const idOf = (key: string) =>
      [...environment.model.tables.connections.values()].find(({ key_id }) => key_id === key)?.id
    expect(config).toEqual({
      id: expect.stringMatching(/^cfg_\d+$/),
      name: 'support-agent',
      description: 'Reads mail.',
      connection_tool_mappings: [
        { ...TWO[0], connection_id: idOf('mail'), provider: 'mail' },
        { ...TWO[1], tools: [], connection_id: idOf('weather'), provider: 'weather' },
      ],
      mcp_server_url: expect.stringMatching(
        /^http:\/\/[^/]+\/mcp\/v3\/servers\/[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/,
      ),
    })
    const read = await api.get(`/mcp/configs/${config.id}`)
    expect([read.status, read.body.config]).toEqual([200, config])
  })

  it('keep their name, and what an update does not give', async ({ mock: { api } }) => {
    const { config } = (await api.post('/mcp/configs', { name: 'one', connection_tool_mappings: TWO })).body
    const described = await api.put(`/mcp/configs/${config.id}`, { description: 'New.', name: 'two' })
    expect([described.status, described.body.config]).toEqual([200, { ...config, description: 'New.' }])
    const mappings = [{ connection_name: 'weather', tools: ['weather_current'] }, { connection_name: 'MAIL' }]
    const known = (await api.get('/tools', { 'filter.connector': 'weather' })).body.tools[0].definition.name
    mappings[0]!.tools = [known]
    const mapped = await api.put(`/mcp/configs/${config.id}`, { connection_tool_mappings: mappings })
    expect(mapped.body.config).toMatchObject({
      id: config.id,
      description: 'New.',
      connection_tool_mappings: [
        { connection_name: 'weather', tools: [known] },
        { connection_name: 'mail', tools: [] },
      ],
    })
    const emptied = await api.put(`/mcp/configs/${config.id}`, { connection_tool_mappings: [] })
    expect(emptied.body.config.connection_tool_mappings).toEqual([])
  })

  it('are gone after a deletion, and their name is free again', async ({ mock: { api } }) => {
    const { config } = (await api.post('/mcp/configs', { name: 'one' })).body
    const deleted = await api.delete(`/mcp/configs/${config.id}`)
    expect([deleted.status, deleted.body]).toEqual([200, {}])
    const path = `/mcp/configs/${config.id}`
    const gone = [await api.get(path), await api.put(path, {}), await api.delete(path)]
    gone.push(await api.post(`${path}/connected_accounts`, ADA), await api.post(`${path}/tokens`, ADA))
    for (const answer of gone) expectError(answer, 404, 'MCP_CONFIG_NOT_FOUND')
    expect((await api.post('/mcp/configs', { name: 'one' })).status).toBe(201)
  })

  it('are refused with a name that is in use, also of two requests at once', async ({ mock: { api } }) => {
    const both = await Promise.all([1, 2].map(() => api.post('/mcp/configs', { name: 'one' })))
    expect(both.map(({ status }) => status).sort()).toEqual([201, 400])
    const refused = both.find(({ status }) => status === 400)!
    expectError(refused, 400, 'DUPLICATE_IDENTIFIER')
    expect([refused.body.code, violationsOf(refused.body)]).toEqual([3, ['name unique']])
  })

  it.for([
    ['no name', {}, 'name required'],
    ['a name of capitals', { name: 'One' }, 'name pattern'],
    ['a name of 101 characters', { name: 'x'.repeat(101) }, 'name maxLength'],
    [
      '26 connections',
      { name: 'a', connection_tool_mappings: Array.from({ length: 26 }, () => TWO[1]) },
      'connection_tool_mappings maxItems',
    ],
    [
      'an unknown connection',
      { name: 'a', connection_tool_mappings: [TWO[1], { connection_name: 'mial' }] },
      'connection_tool_mappings[1].connection_name known_connector',
    ],
    [
      'a connection twice',
      { name: 'a', connection_tool_mappings: [TWO[0], { connection_name: 'Mail' }] },
      'connection_tool_mappings[1].connection_name unique',
    ],
    [
      'a tool of another connection',
      { name: 'a', connection_tool_mappings: [{ connection_name: 'weather', tools: ['mail_send_message'] }] },
      'connection_tool_mappings[0].tools[0] known_tool',
    ],
  ])('are refused with %s', async ([_, config, violation], { mock: { api, http } }) => {
    const { status, body } = await api.post('/mcp/configs', config)
    expect([status, violationsOf(body)]).toEqual([400, [violation]])
    const { requests } = (await http('get', '/_mock/requests?status=400')).body
    const explained = await http('get', `/_mock/requests/${requests[0].id}/explain`)
    expect(explained.body.text).not.toContain('""')
    expect((await api.get('/mcp/configs')).body.total_size).toBe(0)
  })

  it('are refused with a connection of single sign-on', async () => {
    const connections = [{ key_id: 'corp', type: 'SAML' }]
    await withToolmock({ mcp: true, seed: { connections } }, async ({ api }) => {
      const mappings = [{ connection_name: 'corp' }]
      expectError(
        await api.post('/mcp/configs', { name: 'a', connection_tool_mappings: mappings }),
        400,
        'INVALID_CONNECTOR',
      )
      const token = await api.post('/mcp/connections/corp/tokens', { identifier: 'a' })
      expectError(token, 400, 'INVALID_CONNECTOR')
    })
  })

  it('give a token also when the rows are replaced while its key is made', async ({ mock }) => {
    const { api, environment } = mock
    await createActive(mock, ADA)
    const before = takeSnapshot(environment, 'before')
    const minting = { isOver: false }
    const answer = api.post('/mcp/connections/mail/tokens', ADA).finally(() => {
      minting.isOver = true
    })
    while (!minting.isOver) {
      restoreSnapshot(environment, before)
      await nextTurn()
    }
    expect((await answer).status).toBe(200)
  })

  it('are listed by each filter, and a page at a time', async ({ mock: { api } }) => {
    const names = ['support-agent', 'support-bot', 'sales']
    for (const [at, name] of names.entries()) {
      const connection_tool_mappings = TWO.slice(at, at + 1)
      await api.post('/mcp/configs', { name, connection_tool_mappings })
    }
    const list = async (query: Record<string, string> = {}) => (await api.get('/mcp/configs', query)).body
    const namesOf = async (query: Record<string, string>) =>
      (await list(query)).configs.map(({ name }: { name: string }) => name)
    const all = await list()
    expect(all.configs.map(({ name }: { name: string }) => name)).toEqual(names)
    expect(all).toMatchObject({ total_size: 3, next_page_token: '', prev_page_token: '' })
    const [, bot] = all.configs
    expect(await namesOf({ 'filter.id': bot.id })).toEqual(['support-bot'])
    expect(await namesOf({ 'filter.name': 'SUPPORT-BOT' })).toEqual(['support-bot'])
    expect(await namesOf({ 'filter.name': 'support' })).toEqual([])
    expect(await namesOf({ 'filter.provider': 'weather' })).toEqual(['support-bot'])
    const url = bot.mcp_server_url.replace(/^http:\/\/[^/]+/, 'https://elsewhere.example')
    expect(await namesOf({ 'filter.mcp_server_url': url })).toEqual(['support-bot'])
    expect(await namesOf({ 'filter.mcp_server_url': `${url}/` })).toEqual(['support-bot'])
    expect(await namesOf({ 'filter.mcp_server_url': 'https://elsewhere.example/' })).toEqual([])
    expect(await namesOf({ search: 'Support' })).toEqual(['support-agent', 'support-bot'])
    const first = await list({ page_size: '1', search: 'support' })
    expect(first).toMatchObject({ configs: [{ name: 'support-agent' }], total_size: 2, prev_page_token: '' })
    const page_token = first.next_page_token
    const second = await list({ page_size: '1', search: 'support', page_token })
    expect(second).toMatchObject({ configs: [{ name: 'support-bot' }], next_page_token: '' })
    const other = await api.get('/mcp/configs', { search: 'sales', page_token })
    expectError(other, 400, 'INVALID_PAGE_TOKEN')
    expect((await api.get('/mcp/configs', { page_size: '30' })).status).toBe(200)
    expect((await api.get('/mcp/configs', { page_size: '31' })).status).toBe(400)
    expect((await api.get('/mcp/configs', { 'filter.name': 'x'.repeat(101) })).status).toBe(400)
  })

  it('show a connection that was deleted without its id, and its tools are gone', async ({ mock: { api } }) => {
    const { identifier } = (await api.post('/custom-providers', { display_name: 'Notes' })).body.provider
    const connection_tool_mappings = [{ connection_name: identifier }]
    const { config } = (await api.post('/mcp/configs', { name: 'one', connection_tool_mappings })).body
    expect(config.connection_tool_mappings).toMatchObject([{ connection_id: expect.stringMatching(/^conn_/) }])
    await api.delete(`/custom-providers/${identifier}`)
    const read = (await api.get(`/mcp/configs/${config.id}`)).body.config
    const gone = { connection_name: identifier, tools: [], connection_id: '', provider: '' }
    expect(read.connection_tool_mappings).toEqual([gone])
    const states = await api.post(`/mcp/configs/${config.id}/connected_accounts`, { ...ADA, include_auth_link: true })
    expect(states.body.connected_accounts).toMatchObject([{ connected_account_id: '', authentication_link: '' }])
  })
})

describe('the account states of a config', () => {
  it('name the account of each connection, and make nothing unless links are asked for', async ({ mock }) => {
    const { api, environment } = mock
    const { id } = await createActive(mock)
    const { config } = (await api.post('/mcp/configs', { name: 'one', connection_tool_mappings: TWO })).body
    const path = `/mcp/configs/${config.id}/connected_accounts`
    const states = await api.post(path, { identifier: ADA.identifier })
    const [mail, weather] = config.connection_tool_mappings
    const shown = ({ connection_id, connection_name, provider }: Record<string, string>) => ({
      ...{ connection_id, connection_name, provider },
      ...{ connected_account_id: '', connected_account_status: '', authentication_link: '' },
    })
    const ofMail = { ...shown(mail), connected_account_id: id, connected_account_status: 'ACTIVE' }
    expect([states.status, states.body.connected_accounts]).toEqual([200, [ofMail, shown(weather)]])
    expect(environment.model.tables.accounts.size).toBe(1)
  })

  it('have a link for every connection where they are asked for, which lives for a minute', async ({ mock }) => {
    const { api, environment, http } = mock
    await createActive(mock)
    const mappings = [TWO[0], { connection_name: 'helpdesk' }, { connection_name: 'ledger' }]
    const { config } = (await api.post('/mcp/configs', { name: 'one', connection_tool_mappings: mappings })).body
    const [ledger] = [...environment.model.tables.connections.values()].filter(({ key_id }) => key_id === 'ledger')
    await http('post', `/_mock/connections/${ledger!.id}/disable`)
    const path = `/mcp/configs/${config.id}/connected_accounts`
    const { status, body } = await api.post(path, { identifier: ADA.identifier, include_auth_link: true })
    expect(status).toBe(200)
    const link = expect.stringMatching(/\/magic\//)
    expect(body.connected_accounts).toMatchObject([
      { connected_account_status: 'ACTIVE', authentication_link: link },
      { connected_account_status: 'PENDING_AUTH', authentication_link: link },
      { connected_account_id: '', connected_account_status: '', authentication_link: '' },
    ])
    const before = environment.clock.now()
    const lifetimes = environment.model.openLinks().map(({ expires_at }) => Date.parse(expires_at) - before)
    expect(lifetimes).toEqual([60_000, 60_000])
  })

  it('are refused where several accounts have the identifier, and without one', async ({ mock: { api } }) => {
    for (const user_id of ['one', 'two']) await api.post('/connected_accounts', { ...ADA, user_id })
    const { config } = (await api.post('/mcp/configs', { name: 'one', connection_tool_mappings: TWO })).body
    const path = `/mcp/configs/${config.id}/connected_accounts`
    const several = await api.post(path, { identifier: ADA.identifier })
    expectError(several, 400, 'AMBIGUOUS_LOCATOR')
    const none = await api.post(path, {})
    expect([none.status, violationsOf(none.body)]).toEqual([400, ['identifier required']])
  })
})

describe('a session token of a config', () => {
  it('needs an ACTIVE account at each connection, and explain says so', async ({ mock }) => {
    const { api, http } = mock
    const mappings = [{ connection_name: 'mail' }]
    const { config } = (await api.post('/mcp/configs', { name: 'one', connection_tool_mappings: mappings })).body
    const path = `/mcp/configs/${config.id}/tokens`
    const refused = await api.post(path, { identifier: ADA.identifier })
    expectError(refused, 400, 'ACCOUNT_NOT_ACTIVE')
    const { id } = (await http('get', '/_mock/requests?status=400')).body.requests[0]
    const { text } = (await http('get', `/_mock/requests/${id}/explain`)).body
    expect(text).toContain('mail (no account)')
    await createActive(mock)
    const made = await api.post(path, { identifier: ADA.identifier })
    expect([made.status, made.body]).toEqual([200, { token: expect.any(String), expires_at: expect.any(String) }])
  })

  it('is refused by the disk with everything else, and its key is then not kept', async () => {
    const disk = new MemoryDisk()
    await withDirectory(async (folder) => {
      const options = { mcp: true, state: join(folder, 'state.json'), fileSystem: disk }
      await withToolmock(options, async ({ api, environment }) => {
        disk.fails = () => new Error('ENOSPC: no space left')
        const path = '/mcp/connections/mail/tokens'
        expect((await api.post('/mcp/configs', { name: 'one' })).status).toBe(503)
        expect((await api.post(path, { identifier: ADA.identifier })).status).toBe(503)
        const { mcp_keys, mcp_configs, accounts } = environment.model.tables
        expect([mcp_keys.size, mcp_configs.size, accounts.size]).toEqual([0, 0, 0])
        disk.fails = () => undefined
        expect((await api.post(path, { identifier: ADA.identifier })).status).toBe(200)
      })
    })
  })
})

describe('the calls of MCP', () => {
  const CALLS = [
    ['get', '/api/v1/mcp/configs'],
    ['post', '/api/v1/mcp/configs'],
    ['get', '/api/v1/mcp/configs/cfg_1'],
    ['put', '/api/v1/mcp/configs/cfg_1'],
    ['delete', '/api/v1/mcp/configs/cfg_1'],
    ['post', '/api/v1/mcp/configs/cfg_1/connected_accounts'],
    ['post', '/api/v1/mcp/configs/cfg_1/tokens'],
    ['post', '/api/v1/mcp/connections/mail/tokens'],
    ['get', '/api/v1/mcp/instances'],
    ['post', '/api/v1/mcp/instances'],
    ['get', '/api/v1/mcp/instances/inst_1'],
    ['patch', '/api/v1/mcp/instances/inst_1'],
    ['delete', '/api/v1/mcp/instances/inst_1'],
    ['post', '/api/v1/mcp/instances/inst_1:get_auth_state'],
  ] as const

  it('are not there without --mcp, and the answer names the flag', async ({ startMock }) => {
    const { http, environment } = await startMock({})
    environment.configure({ virtual_mcp: true })
    for (const [method, path] of CALLS) {
      const answer = await http(method, path)
      expectError(answer, 404, 'PATH_NOT_FOUND')
      expect(answer.body.message).toContain('without --mcp')
    }
  })

  it('are a 405 with any other method', async ({ mock: { http } }) => {
    const other = await http('patch', '/api/v1/mcp/configs/cfg_1')
    expect([other.status, other.headers['allow']]).toEqual([405, 'GET, HEAD, PUT, DELETE'])
  })

  it('are refused with unknown parameters where --strict asks for it', async ({ startMock }) => {
    const { http, signIn } = await startMock({ mcp: true, strict: true })
    const authorization = `Bearer ${await signIn()}`
    for (const [method, path] of CALLS.filter(([, each]) => each.endsWith('_1'))) {
      const { status } = await http(method, `${path}?unknown=1`).set('Authorization', authorization)
      expect(status).toBe(400)
    }
  })
})
