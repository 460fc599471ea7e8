import { describe, expect } from 'vitest'
import { expectError } from '../../support/accounts.ts'
import { it, type TestToolmock } from '../../support/toolmock.ts'

/** Creates a custom provider and returns its identifier, which is the name of its connector. */
async function provide({ api }: TestToolmock, body: object): Promise<string> {
  const answer = await api.post('/custom-providers', body)
  return (answer.body as { provider: { identifier: string } }).provider.identifier
}

const NOTES = {
  connectors: [
    {
      connector: 'notes',
      custom_provider: 'Acme Notes',
      tools: [{ name: 'notes_add', call: { method: 'POST', path: '/notes', body: { text: '{{input.text}}' } } }],
      responders: [{ on: { path: '/notes' }, respond: { body: { saved: '{{request.body.text}}' } } }],
    },
  ],
}
const API_KEY = [{ type: 'API_KEY', fields: [{ name: 'api_key' }] }]
const STATIC = { authorization_details: { static_auth: { details: { api_key: 'k' } } } }

describe('an account at a custom provider', () => {
  it.for([
    ['OAUTH', 'OAUTH', 'PENDING_AUTH'],
    ['API_KEY', 'API_KEY', 'PENDING_AUTH'],
    ['BEARER', 'BEARER_TOKEN', 'PENDING_AUTH'],
    ['BASIC', 'BASIC', 'PENDING_AUTH'],
    ['NO_AUTH', 'NO_AUTH', 'ACTIVE'],
    ['OAUTH_M2M', 'OAUTH_M2M', 'ACTIVE'],
    ['WORKSPACE_DWD', 'WORKSPACE_DWD', 'ACTIVE'],
    [null, 'CUSTOM', 'PENDING_AUTH'],
  ])(
    'of the pattern %s has the type %s and starts as %s (G38)',
    async ([type, authorization_type, status], { mock }) => {
      const connector = await provide(mock, { display_name: 'Acme', auth_patterns: [{ type }] })
      const answer = await mock.api.post('/connected_accounts', { connector, identifier: 'ada' })

      expect(answer.status).toBe(201)
      expect(answer.body).toMatchObject({
        connected_account: { connector, provider: connector, authorization_type, status },
      })
    },
  )

  it('has the type CUSTOM where there are no patterns', async ({ mock }) => {
    const connector = await provide(mock, { display_name: 'Acme' })
    const answer = await mock.api.post('/connected_accounts', { connector, identifier: 'ada' })
    expect(answer.body).toMatchObject({ connected_account: { authorization_type: 'CUSTOM' } })
  })

  it('can be created by a magic link', async ({ mock }) => {
    const connector = await provide(mock, { display_name: 'Acme', auth_patterns: [{ type: 'OAUTH' }] })
    const answer = await mock.api.post('/connected_accounts/magic_link', { connector, identifier: 'ada' })
    const { link } = answer.body as { link: string }
    await mock.follow(link, { decision: 'approve' })
    const details = await mock.api.get('/connected_accounts/details', { connector, identifier: 'ada' })

    expect(answer.status).toBe(200)
    expect(details.body).toMatchObject({ connected_account: { status: 'ACTIVE' } })
  })
})

describe('the tools of a custom provider (G47)', () => {
  it('come from the connector file that names it, and run', async ({ startMock }) => {
    const mock = await startMock({ seed: NOTES })
    const connector = await provide(mock, { display_name: 'Acme Notes', auth_patterns: API_KEY })
    await mock.api.post('/connected_accounts', { connector, identifier: 'ada', connected_account: STATIC })
    const call = { connector, identifier: 'ada', tool_name: 'notes_add', tool_input: { text: 'hello' } }
    const answer = await mock.api.post('/execute_tool', call)

    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ data: { saved: 'hello' } })
  })

  it('stay with a renamed provider, and are not those of another provider that takes its former name (G39)', async ({
    startMock,
  }) => {
    const mock = await startMock({ seed: NOTES })
    const own = await provide(mock, { display_name: 'Acme Notes', auth_patterns: API_KEY })
    const other = await provide(mock, { display_name: 'Other', auth_patterns: API_KEY })
    const statuses: number[] = []
    for (const [connector, display_name] of [
      [own, 'Renamed'],
      [own, 'Renamed again'],
      [other, 'Acme Notes'],
    ] as const) {
      const renamed = await mock.api.put(`/custom-providers/${connector}`, { display_name })
      expect(renamed.body.provider).toMatchObject({ display_name })
      expect(renamed.body.provider).not.toHaveProperty('created_as')
      await mock.api.post('/connected_accounts', { connector, identifier: 'ada', connected_account: STATIC })
      const call = { connector, identifier: 'ada', tool_name: 'notes_add', tool_input: { text: 'x' } }
      statuses.push((await mock.api.post('/execute_tool', call)).status)
    }
    expect(statuses).toEqual([200, 200, 404])
    expect((await mock.api.get('/providers', { page_size: 100 })).text).not.toContain('created_as')
  })

  it('belong to every provider of that name, and to none of another', async ({ startMock }) => {
    const mock = await startMock({ seed: NOTES })
    const names = ['Acme Notes', 'Acme Notes', 'acme notes']
    const statuses: number[] = []
    for (const display_name of names) {
      const connector = await provide(mock, { display_name, auth_patterns: API_KEY })
      await mock.api.post('/connected_accounts', { connector, identifier: 'ada', connected_account: STATIC })
      const call = { connector, identifier: 'ada', tool_name: 'notes_add', tool_input: { text: 'x' } }
      statuses.push((await mock.api.post('/execute_tool', call)).status)
    }
    expect(statuses).toEqual([200, 200, 404])
  })

  it('are called directly, never through proxy_url', async ({ startMock }) => {
    const mock = await startMock({ seed: NOTES })
    const proxy = { proxy_enabled: true, proxy_url: 'https://proxy.invalid' }
    const connector = await provide(mock, { display_name: 'Acme Notes', auth_patterns: API_KEY, ...proxy })
    await mock.api.post('/connected_accounts', { connector, identifier: 'ada', connected_account: STATIC })
    const call = { connector, identifier: 'ada', tool_name: 'notes_add', tool_input: { text: 'x' } }
    expect((await mock.api.post('/execute_tool', call)).status).toBe(200)
  })

  it('leaves the connector file itself without accounts', async ({ startMock }) => {
    const { api } = await startMock({ seed: NOTES })
    const answer = await api.post('/connected_accounts', { connector: 'notes', identifier: 'ada' })
    expect(answer.body).toMatchObject({ details: [{ error_code: 'INVALID_CONNECTOR' }] })
  })
})

describe('a custom provider that is deleted (G40)', () => {
  it('leaves its accounts DISCONNECTED, and their tools answer 404', async ({ startMock }) => {
    const mock = await startMock({ seed: NOTES })
    const connector = await provide(mock, { display_name: 'Acme Notes', auth_patterns: API_KEY })
    const other = await provide(mock, { display_name: 'Acme Notes', auth_patterns: API_KEY })
    for (const each of [connector, other]) {
      await mock.api.post('/connected_accounts', { connector: each, identifier: 'ada', connected_account: STATIC })
    }
    await mock.api.delete(`/custom-providers/${connector}`)

    const at = (each: string) => mock.api.get('/connected_accounts/details', { connector: each, identifier: 'ada' })
    expect((await at(connector)).body).toMatchObject({
      connected_account: { status: 'DISCONNECTED' },
    })
    expect((await at(other)).body).toMatchObject({ connected_account: { status: 'ACTIVE' } })
    const answer = await mock.api.post('/execute_tool', { connector, identifier: 'ada', tool_name: 'notes_add' })
    expect(answer.status).toBe(404)
  })

  it('is no longer a connector, and has no connection', async ({ mock }) => {
    const connector = await provide(mock, { display_name: 'Acme', auth_patterns: API_KEY })
    await mock.api.post('/connected_accounts', { connector, identifier: 'ada' })
    await mock.api.delete(`/custom-providers/${connector}`)
    const created = await mock.api.post('/connected_accounts', { connector, identifier: 'grace' })
    const linked = await mock.api.post('/connected_accounts/magic_link', { connector, identifier: 'ada' })
    const { body } = await mock.api.get('/connections')

    for (const { status, body: refused } of [created, linked]) {
      expect(status).toBe(400)
      expect(refused).toMatchObject({ details: [{ error_code: 'INVALID_CONNECTOR' }] })
    }
    expect((body as { connections: { key_id: string }[] }).connections.map(({ key_id }) => key_id)).not.toContain(
      connector,
    )
  })

  it.for(['id', 'name'])('leaves accounts that can be read, updated and deleted by %s', async (locator, { mock }) => {
    const connector = await provide(mock, { display_name: 'Acme', auth_patterns: API_KEY })
    const created = await mock.api.post('/connected_accounts', {
      connector,
      identifier: 'ada',
      connected_account: STATIC,
    })
    const { id } = (created.body as { connected_account: { id: string } }).connected_account
    await mock.api.delete(`/custom-providers/${connector}`)
    const by: Record<string, string> = locator === 'id' ? { id } : { connector, identifier: 'ada' }

    expect((await mock.api.get('/connected_accounts', { connector })).body).toMatchObject({ total_size: 1 })
    expect((await mock.api.get('/connected_accounts/auth', by)).status).toBe(200)
    const execution = { connected_account_id: by['id'] ?? '', ...by, tool_name: 'notes_add' }
    expectError(await mock.api.post('/execute_tool', execution), 404, 'TOOL_NOT_FOUND')
    const config = await mock.api.put('/connected_accounts', { ...by, connected_account: { api_config: { a: 1 } } })
    expect(config.body).toMatchObject({ connected_account: { status: 'DISCONNECTED', api_config: { a: 1 } } })
    const updated = await mock.api.put('/connected_accounts', { ...by, connected_account: STATIC })
    expect(updated.body).toMatchObject({ connected_account: { id, status: 'ACTIVE' } })
    expectError(await mock.api.post('/execute_tool', execution), 404, 'TOOL_NOT_FOUND')
    expect((await mock.api.post('/connected_accounts/magic_link', by)).status).toBe(400)
    expect((await mock.api.post('/connected_accounts:delete', by)).status).toBe(200)
  })
})
