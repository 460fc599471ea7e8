import { describe, expect } from 'vitest'
import { createAccount, detailsOf, expectError } from '../../support/accounts.ts'
import { expectControlError } from '../../servers/control/control-mock.ts'
import { itWith } from '../../support/mock-fixture.ts'
import { BASE_URL, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { startScenario } from '../../support/scenario.ts'

const SHOP = {
  connector: 'shop',
  provider: 'SHOP',
  authorization_type: 'API_KEY',
  tools: [
    { name: 'shop_orders', call: { method: 'GET', path: '/orders' } },
    { name: 'shop_order', call: { method: 'POST', path: '/orders', body: '{{input}}' } },
  ],
  collections: { orders: { per: 'account' } },
  responders: [
    { on: { method: 'GET', path: '/orders' }, steps: [{ list: 'orders' }], respond: { body: { orders: '{{items}}' } } },
    { on: { method: 'POST', path: '/orders' }, steps: [{ create: 'orders' }], respond: { body: '{{item}}' } },
  ],
}
const ADA = { identifier: 'ada', collections: { orders: [{ id: 'o_us' }] } }
/** A connector with a further connection, named by its connector or by its provider, and an account of Ada at each. */
const SEED = {
  connectors: [SHOP],
  connections: [
    { key_id: 'shop-eu', provider_key: 'shop', organization_id: 'org_eu' },
    { key_id: 'shop-uk', provider_key: 'SHOP' },
  ],
  accounts: [
    { id: 'ca_us', connector: 'shop', ...ADA },
    { id: 'ca_eu', connector: 'shop-eu', ...ADA, collections: { orders: [{ id: 'o_eu' }] } },
    { id: 'ca_grace', connector: 'shop-uk', identifier: 'grace' },
  ],
}

type Fields = Record<string, unknown>

async function connectionNamed({ api }: TestToolmock, key: string): Promise<Fields | undefined> {
  const { connections } = (await api.get('/connections')).body as { connections: Fields[] }
  return connections.find(({ key_id }) => key_id === key)
}

function orders({ api }: TestToolmock, locator: object) {
  return api.post('/execute_tool', { tool_name: 'shop_orders', tool_input: {}, ...locator })
}

function control({ http }: TestToolmock, method: 'post' | 'delete' | 'put', path: string, body?: object) {
  const request = http(method, `/_mock${path}`)
  return body === undefined ? request : request.send(body)
}

const it = itWith(withToolmock, { seed: SEED })

describe('several connections of one provider (G73)', () => {
  it('have the type of its connector, and accounts with the name of the provider and the id of the connection', async ({
    mock,
  }) => {
    const connection = await connectionNamed(mock, 'shop-eu')
    expect(connection).toMatchObject({ type: 'API_KEY', provider_key: 'shop', organization_id: 'org_eu' })
    const account = await createAccount(mock, { connector: 'shop-eu', identifier: 'new' })
    for (const { id } of [account, { id: 'ca_eu' }]) {
      const details = await detailsOf(mock, id)
      expect(details).toMatchObject({ connector: 'shop-eu', provider: 'SHOP', connection_id: connection?.['id'] })
    }
  })

  it('list each tool once, and scoped tools for each account', async ({ startMock }) => {
    const { api } = await startMock({ seed: SEED, seeds: [] })
    const names = async (path: string, query = {}): Promise<string[]> => {
      const { tools } = (await api.get(path, query)).body as { tools: { id?: string; tool?: Fields }[] }
      return tools.map((each) => String(each.id ?? each.tool?.['id']))
    }
    const each = ['shop:shop_orders', 'shop:shop_order']
    expect(await names('/tools')).toEqual(each)
    expect(await names('/tools', { 'filter.connector': 'shop-uk' })).toEqual(each)
    expect(await names('/tools', { 'filter.identifier': 'nobody' })).toEqual([])
    expect(await names('/tools/available', { identifier: 'ada' })).toEqual(each)
    const ofOne = { identifier: 'ada', 'filter.connection_names': 'shop-eu' }
    expect(await names('/tools/available', ofOne)).toEqual(each)
    expect(await names('/tools/scoped', { identifier: 'ada' })).toEqual([...each, ...each])
    const { tools } = (await api.get('/tools/scoped', ofOne)).body as { tools: Fields[] }
    expect(tools.map(({ connected_account_id }) => connected_account_id)).toEqual(['ca_eu', 'ca_eu'])
  })

  it('execute a tool with the account of the connection that is named, each account with its own items', async ({
    mock,
  }) => {
    for (const [locator, order] of [
      [{ connector: 'shop', identifier: 'ada' }, 'o_us'],
      [{ connector: 'shop-eu', identifier: 'ada' }, 'o_eu'],
      [{ connected_account_id: 'ca_eu' }, 'o_eu'],
    ] as const)
      expect((await orders(mock, locator)).body).toMatchObject({ data: { orders: [{ id: order }] } })
    expect((await orders(mock, { identifier: 'grace' })).status).toBe(200)
    const ambiguous = await orders(mock, { identifier: 'ada' })
    expectError(ambiguous, 400, 'AMBIGUOUS_LOCATOR')
    expect(JSON.stringify(ambiguous.body)).toMatch(/at \\"shop\\" \(.*\), \\"shop-eu\\"/)
    await mock.api.post('/connected_accounts:delete', { id: 'ca_eu' })
    expect((await orders(mock, { identifier: 'ada' })).body).toMatchObject({ data: { orders: [{ id: 'o_us' }] } })
  })

  it('are switched off one by one', async ({ mock }) => {
    await control(mock, 'post', '/connections/shop-eu/disable')
    expectError(await orders(mock, { connected_account_id: 'ca_eu' }), 400, 'CONNECTION_DISABLED')
    expect((await orders(mock, { connected_account_id: 'ca_us' })).status).toBe(200)
  })

  it('follow their connector to another type and another provider', async ({ mock }) => {
    const changed = { ...SHOP, provider: 'STORE', authorization_type: 'OAUTH', people: ['ada'] }
    expect((await control(mock, 'put', '/connectors/shop', changed)).body).toEqual({})
    expect(await connectionNamed(mock, 'shop-eu')).toMatchObject({ type: 'OAUTH' })
    for (const id of ['ca_us', 'ca_eu'])
      expect(await detailsOf(mock, id)).toMatchObject({
        provider: 'STORE',
        authorization_type: 'OAUTH',
        status: 'PENDING_AUTH',
      })
  })

  it('sign in at the third party of their provider', async ({ startMock }) => {
    const mock = await startMock({ seed: { connections: [{ key_id: 'mail-eu', provider_key: 'mail' }] } })
    const { body } = await mock.api.post('/connected_accounts/magic_link', {
      connector: 'mail-eu',
      identifier: 'ada',
    })
    const consent = await mock.follow(body.link as string)
    expect(consent.headers['location']).toContain('/third-party/mail/authorize?')
  })

  it('are those of a custom provider too, whose type they take and whose end is theirs', async ({ startMock }) => {
    const mock = await startMock({
      seed: {
        connections: [{ key_id: 'acme-eu', provider_key: 'acme' }],
        providers: [{ identifier: 'acme', display_name: 'Acme', auth_patterns: [{ type: 'OAUTH' }] }],
        accounts: [{ id: 'ca_eu', connector: 'acme-eu', identifier: 'ada' }],
      },
    })
    expect(await connectionNamed(mock, 'acme-eu')).toMatchObject({ type: 'OAUTH' })
    await mock.api.put('/custom-providers/acme', { auth_patterns: [{ type: 'API_KEY' }] })
    expect(await connectionNamed(mock, 'acme-eu')).toMatchObject({ type: 'API_KEY' })
    expect(await detailsOf(mock, 'ca_eu')).toMatchObject({ authorization_type: 'API_KEY', provider: 'acme' })
    await mock.api.delete('/custom-providers/acme')
    expect(await connectionNamed(mock, 'acme-eu')).toBeUndefined()
    expect(await detailsOf(mock, 'ca_eu')).toMatchObject({ status: 'DISCONNECTED' })
  })

  it.for(['shop', 'shop-eu'])('fire a rule at the third party that names %s', async (connector, { mock }) => {
    await startScenario(mock, { at: 'third_party', on: { connector }, do: [{ respond: { status: 418, body: {} } }] })
    expectError(await orders(mock, { connected_account_id: 'ca_eu' }), 500, 'TOOL_ERROR')
    expect((await orders(mock, { connected_account_id: 'ca_us' })).status).toBe(connector === 'shop' ? 500 : 200)
  })
})

describe('POST and DELETE /_mock/connections', () => {
  it('answer with the URL of the MCP server that the connection has', async ({ startMock }) => {
    const mock = await startMock({ mcp: true })
    const { body } = await control(mock, 'post', '/connections', { key_id: 'mail-eu', provider_key: 'mail' })
    expect(body).toMatchObject({ connection: { mcp_server_url: `${BASE_URL}/mcp/v3/connections/mail-eu` } })
  })

  it('make a connection of a provider, and remove it with what its accounts can do', async ({ startMock }) => {
    const mock = await startMock({ seed: { ...SEED, connections: [], accounts: [] } })
    const made = await control(mock, 'post', '/connections', {
      key_id: 'shop-us',
      provider_key: 'SHOP',
      domains: ['a.example'],
    })
    expect(made.status).toBe(201)
    const expected = {
      key_id: 'shop-us',
      type: 'API_KEY',
      status: 'COMPLETED',
      domains: ['a.example'],
      enabled: true,
    }
    expect(made.body).toMatchObject({ connection: expected })
    const details = { static_auth: { details: { api_key: 'k' } } }
    const connected_account = { authorization_details: details }
    const { id } = await createAccount(mock, { connector: 'shop-us', identifier: 'ada', connected_account })
    expect((await orders(mock, { identifier: 'ada' })).status).toBe(200)
    expect((await control(mock, 'delete', '/connections/shop-us')).status).toBe(200)
    expect(await connectionNamed(mock, 'shop-us')).toBeUndefined()
    expect(await detailsOf(mock, id)).toMatchObject({ status: 'DISCONNECTED', connector: 'shop-us' })
    expectError(await orders(mock, { connected_account_id: id }), 404, 'TOOL_NOT_FOUND')
  })

  it.for([
    [{ key_id: 'shop-us', provider_key: 'shpo' }, 400, 'INVALID_BODY', /`provider_key`.*shop/],
    [{ key_id: 'a/b', provider_key: 'shop' }, 400, 'INVALID_BODY', /`key_id`/],
    [{ key_id: 'shop', provider_key: 'mail' }, 409, 'CONNECTION_EXISTS', /"shop"/],
    [{ key_id: 'shop-eu', provider_key: 'mail' }, 409, 'CONNECTION_EXISTS', /"shop-eu"/],
  ])('refuse %j with %i', async ([body, status, code, message], { mock }) => {
    const refused = await control(mock, 'post', '/connections', body)
    expect(expectControlError(refused, status, code).message).toMatch(message)
  })

  it.for([
    ['shop', 409, 'CONNECTION_NOT_REMOVABLE'],
    ['acme', 409, 'CONNECTION_NOT_REMOVABLE'],
    ['nothing', 404, 'CONNECTION_NOT_FOUND'],
  ])('do not remove %s', async ([key, status, code], { startMock }) => {
    const mock = await startMock({ seed: { ...SEED, providers: [{ identifier: 'acme', display_name: 'Acme' }] } })
    const refused = await control(mock, 'delete', `/connections/${key}`)
    expectControlError(refused, status, code)
    expect(await connectionNamed(mock, 'shop')).toBeDefined()
  })
})
