import { expect, vi } from 'vitest'
import { emptyBundle } from '../../../src/model/domain/seed.ts'
import { ADA, createAccount, expectError, fieldsOf, TOKENS } from '../../support/accounts.ts'
import { it } from '../../support/toolmock.ts'

const PATH = '/connected_accounts'
const withDetails = (authorization_details: object) => ({ ...ADA, connected_account: { authorization_details } })

it('answers 201 with the full account object, every field with a value', async ({ mock: { api } }) => {
  const created = await api.post(PATH, {
    ...ADA,
    organization_id: 'org_1',
    connected_account: { api_config: { timeout: 30 }, authorization_details: TOKENS },
  })
  expect(created.status).toBe(201)
  expect(created.body).toEqual({
    connected_account: {
      id: expect.stringMatching(/^ca_[a-z0-9]{20}$/),
      connection_id: expect.stringMatching(/^conn_/),
      connector: 'mail',
      provider: 'mail',
      identifier: 'ada@example.com',
      authorization_type: 'OAUTH',
      status: 'ACTIVE',
      token_expires_at: '2026-01-01T01:00:00.000Z',
      updated_at: '2026-01-01T00:00:00.000Z',
      api_config: { timeout: 30 },
      authorization_details: {
        oauth_token: { access_token: 'at_1', refresh_token: 'rt_1', scopes: ['mail.read'], domain: '' },
      },
    },
  })
})

it('needs only connector and identifier; the account is then PENDING_AUTH', async ({ mock: { api } }) => {
  const created = await api.post(PATH, ADA)
  expect(created.status).toBe(201)
  expect(created.body.connected_account).toMatchObject({ status: 'PENDING_AUTH', api_config: {} })
  expect(created.body.connected_account).not.toHaveProperty('token_expires_at')
  expect(created.body.connected_account).not.toHaveProperty('last_used_at')
})

it('names the connection of its connector', async ({ mock }) => {
  const { body } = await mock.api.get('/connections')
  const account = await createAccount(mock)
  const connection = body.connections.find(({ key_id }: { key_id: string }) => key_id === 'mail')
  expect(account.connection_id).toBe(connection.id)
})

it.for([
  ['connector', { identifier: 'ada@example.com' }],
  ['identifier', { connector: 'mail' }],
  ['identifier', { connector: 'mail', identifier: '' }],
  ['identifier', { connector: 'mail', identifier: 7 }],
  ['connector', { connector: 'mail!', identifier: 'ada@example.com' }],
  ['connector', { connector: '', identifier: 'ada@example.com' }],
  ['organization_id', { ...ADA, organization_id: ['org_1'] }],
  ['user_id', { ...ADA, user_id: 5 }],
  ['connected_account', { ...ADA, connected_account: 'x' }],
  ['connected_account.api_config', { ...ADA, connected_account: { api_config: [] } }],
  ['connected_account.authorization_details', { ...ADA, connected_account: { authorization_details: 1 } }],
  [
    'connected_account.authorization_details.oauth_token.scopes[0]',
    withDetails({ oauth_token: { access_token: 'x', scopes: [1] } }),
  ],
])('answers 400 naming %s for %j', async ([field, body], { mock: { api } }) => {
  const answer = await api.post(PATH, body)
  expectError(answer, 400, 'VALIDATION_FAILED')
  expect(fieldsOf(answer)).toContain(field)
  expect((await api.get(PATH)).body.total_size).toBe(0)
})

it.for(['nobody', 'constructor', '__proto__', 'acme_oidc', 'globex_saml', 'Mail'])(
  'answers 400 INVALID_CONNECTOR for %s, which is no connector (G19)',
  async (connector, { mock: { api } }) => {
    const answer = await api.post(PATH, { connector, identifier: 'ada@example.com' })
    expectError(answer, 400, 'INVALID_CONNECTOR')
    expect(fieldsOf(answer)).toEqual(['connector'])
  },
)

it('accepts a custom provider as connector (G19)', async ({ mock }) => {
  const { body } = await mock.api.post('/custom-providers', { display_name: 'My App' })
  const { identifier } = body.provider
  expect(await createAccount(mock, { connector: identifier })).toMatchObject({ provider: identifier })
})

it.for([
  ['none', {}],
  ['an organization', { organization_id: 'org_1' }],
  ['a user', { user_id: 'user_1' }],
  ['both', { organization_id: 'org_1', user_id: 'user_1' }],
])('answers 409 with the id of the existing account, with %s as scope (G20, G55)', async ([_, scope], { mock }) => {
  const first = await createAccount(mock, scope)
  const again = await mock.api.post(PATH, { ...ADA, ...scope })
  const { resource_info } = expectError(again, 409, 'ACCOUNT_ALREADY_EXISTS')
  expect(again.body.code).toBe(6)
  expect(resource_info).toEqual({ resource_name: first.id })
})

it('accepts the same identifier in every other scope and at every other connector', async ({ mock }) => {
  const scopes = [
    {},
    { organization_id: 'org_1' },
    { user_id: 'org_1' },
    { organization_id: 'org_1', user_id: 'org_1' },
    { organization_id: 'org_2' },
  ]
  for (const scope of scopes) await createAccount(mock, scope)
  await createAccount(mock, { connector: 'clinic' })
  await createAccount(mock, { identifier: 'Ada@example.com' })
  expect((await mock.api.get(PATH)).body.total_size).toBe(scopes.length + 2)
})

it.for(['mail', 'workspace', 'ledger'])(
  'answers exactly one of concurrent equal creates at %s with 201 (G55)',
  async (connector, { mock: { api } }) => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => api.post(PATH, { ...ADA, connector })))
    const created = answers.filter(({ status }) => status === 201)
    const refused = answers.filter(({ status }) => status === 409)
    expect([created.length, refused.length]).toEqual([1, 5])
    const names = refused.map(({ body }) => body.details[0].resource_info.resource_name)
    expect(new Set(names)).toEqual(new Set([created[0]!.body.connected_account.id]))
    expect((await api.get(PATH)).body.total_size).toBe(1)
  },
)

it('accepts the connector’s own authorization_type, and refuses another of the enumeration (G10)', async ({ mock }) => {
  const connected_account = { authorization_type: 'API_KEY' }
  const refused = await mock.api.post(PATH, { ...ADA, connected_account })
  expectError(refused, 400, 'VALIDATION_FAILED')
  expect(fieldsOf(refused)).toEqual(['connected_account.authorization_type'])
  const account = await createAccount(mock, { connected_account: { authorization_type: 'OAUTH' } })
  expect(account.authorization_type).toBe('OAUTH')
})

it('ignores any other authorization_type (G10)', async ({ mock }) => {
  for (const authorization_type of ['oauth', '', 'constructor']) {
    const account = await createAccount(mock, {
      identifier: `${authorization_type}@x`,
      connected_account: { authorization_type },
    })
    expect(account.authorization_type).toBe('OAUTH')
  }
})

it('ignores unknown and output-only fields (G6, G9)', async ({ mock }) => {
  const account = await createAccount(mock, {
    id: 'ca_mine',
    surprise: true,
    connector: 'workspace',
    connected_account: {
      status: 'EXPIRED',
      token_expires_at: '2030-01-01T00:00:00Z',
      authorization_details: {
        workspace_dwd: { subject: 'boss@example.com', access_token: 'forged', scopes: ['forged'] },
      },
    },
  })
  expect(account.id).not.toBe('ca_mine')
  expect(account.status).toBe('ACTIVE')
  expect(account.authorization_details.workspace_dwd.subject).toBe('boss@example.com')
  expect(JSON.stringify(account)).not.toContain('forged')
})

it('answers 400 naming unknown fields in strict mode (G6)', async ({ startMock }) => {
  const { api } = await startMock({ strict: true })
  const answer = await api.post(PATH, { ...ADA, surprise: true, connected_account: { nested: 1 } })
  expectError(answer, 400, 'VALIDATION_FAILED')
  expect(fieldsOf(answer).sort()).toEqual(['connected_account.nested', 'surprise'])
})

it.for([
  ['a create', PATH],
  ['a link', `${PATH}/magic_link`],
])(
  'takes the provider that its connector has once the service has obtained its token: %s',
  async ([_, path], { mock: { api, app, environment } }) => {
    const connector = [...environment.connectors.values()].find((each) => each.authorization_type === 'OAUTH_M2M')!
    const renamed = { ...emptyBundle(), connectors: [{ ...connector, provider: 'RENAMED' }] }
    let adding: Promise<void> | undefined
    const find = environment.connector.bind(environment)
    const spy = vi.spyOn(environment, 'connector').mockImplementation((name) => {
      adding ??= app.services.environments.add(environment, renamed)
      return find(name)
    })
    const answer = await api.post(path, { connector: connector.connector, identifier: 'ada@example.com' })
    spy.mockRestore()
    await adding
    expect([200, 201]).toContain(answer.status)
    const { connected_accounts } = (await api.get(PATH)).body
    expect(connected_accounts).toMatchObject([{ status: 'ACTIVE', provider: 'RENAMED' }])
  },
)

it('keeps keys that are names of Object.prototype as ordinary keys', async ({ mock: { api, http, signIn } }) => {
  const api_config = '{"__proto__":{"polluted":true},"constructor":1,"toString":null}'
  const body = `{"connector":"mail","identifier":"__proto__","connected_account":{"api_config":${api_config}}}`
  const answer = await http('post', `/api/v1${PATH}`)
    .auth(await signIn(), { type: 'bearer' })
    .type('json')
    .send(body)
  expect(answer.status).toBe(201)
  expect(answer.text).toContain('"api_config":{"__proto__":{"polluted":true},"constructor":1}')
  const found = await api.get('/connected_accounts/details', { connector: 'mail', identifier: '__proto__' })
  expect(found.text).toContain('"__proto__":{"polluted":true}')
  expect({}).not.toHaveProperty('polluted')
})
