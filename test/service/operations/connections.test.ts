import { describe, expect } from 'vitest'
import { TWELVE_CONNECTORS } from '../../support/twelve-connectors.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'

interface Connection {
  key_id: string
  type: string
  provider: string
  status: string
}

async function connections({ api }: TestToolmock): Promise<Connection[]> {
  const answer = await api.get('/connections')
  expect(answer.status).toBe(200)
  return (answer.body as { connections: Connection[] }).connections
}

describe('GET /connections (4.10)', () => {
  it('answers all of the bundled seed, in the order of the authorization types, sign-on last (G42, G49)', async ({
    mock,
  }) => {
    const all = await connections(mock)
    // Between the twelve and the sign-on connections are those of connectors that the seed does not list.
    const types = [...all.slice(0, TWELVE_CONNECTORS.length), ...all.slice(-2)].map(({ type }) => type)

    expect(types).toEqual([
      ...['OAUTH', 'API_KEY', 'BASIC', 'BEARER', 'API_KEY', 'BASIC', 'OAUTH_M2M', 'TRACKER_OAUTH1'],
      ...['WORKSPACE_DWD', 'TRUSTED_IDP', 'SMART_FHIR', 'NO_AUTH', 'OIDC', 'SAML'],
    ])
  })

  it('has every field of a connection, with its zero value by default (2.5, G53)', async ({ mock }) => {
    for (const connection of await connections(mock)) {
      expect(connection).toEqual({
        id: expect.stringMatching(/\w/),
        key_id: expect.stringMatching(/\w/),
        organization_id: expect.any(String),
        organization_name: expect.any(String),
        domains: expect.any(Array),
        enabled: true,
        provider: expect.stringMatching(/^[A-Z][A-Z0-9_]*$/),
        provider_key: expect.any(String),
        status: expect.stringMatching(/^(DRAFT|IN_PROGRESS|COMPLETED)$/),
        type: expect.any(String),
        mcp_server_url: '',
      })
    }
  })

  it('has the provider CUSTOM for connectors, and IDP_SIMULATOR for sign-on (G41)', async ({ mock }) => {
    for (const { type, provider } of await connections(mock)) {
      expect(provider).toBe(['OIDC', 'SAML'].includes(type) ? 'IDP_SIMULATOR' : 'CUSTOM')
    }
  })

  it('has those of the seed in its order, with the names of providers that it declares (G41)', async ({
    startMock,
  }) => {
    const mock = await startMock({
      seed: {
        connections: [
          { key_id: 'zeta', type: 'OIDC', provider: 'CODE_HOST', status: 'DRAFT', domains: ['z.example'] },
          { key_id: 'alpha', type: 'PASSWORDLESS', provider: 'IDP_SIMULATOR', enabled: false },
          { key_id: 'mail', organization_id: 'org_1', organization_name: 'One' },
        ],
      },
    })
    const all = await connections(mock)

    expect(all.slice(-2)).toMatchObject([
      { key_id: 'zeta', provider: 'CODE_HOST', status: 'DRAFT', domains: ['z.example'] },
      { key_id: 'alpha', provider: 'IDP_SIMULATOR', enabled: false },
    ])
    expect(all.filter(({ key_id }) => key_id === 'mail')).toMatchObject([
      { organization_id: 'org_1', organization_name: 'One', type: 'OAUTH' },
    ])
  })

  it.for([
    ['BASIC_AUTH', 'BASIC'],
    ['BEARER_TOKEN', 'BEARER'],
    ['BEARER', 'BEARER'],
    ['CUSTOM', 'API_KEY'],
    ['SMART_FHIR', 'SMART_FHIR'],
  ])(
    'has a custom provider of the pattern %s as %s, and follows its patterns (G38)',
    async ([type, expected], { mock }) => {
      const created = await mock.api.post('/custom-providers', { display_name: 'Acme', auth_patterns: [{ type }] })
      const { identifier } = (created.body as { provider: { identifier: string } }).provider
      const before = (await connections(mock)).at(-1)
      await mock.api.put(`/custom-providers/${identifier}`, { auth_patterns: [{ type: 'OAUTH' }] })
      const after = (await connections(mock)).at(-1)

      expect(before).toMatchObject({ key_id: identifier, type: expected, provider: 'CUSTOM' })
      expect(after).toEqual({ ...before, type: 'OAUTH' })
    },
  )

  it.for<[string, string[]]>([
    ['organization_id=org_1', ['one', 'two']],
    ['domain=a.example', ['one', 'three']],
    ['organization_id=org_1&domain=a.example', ['one']],
    ['organization_id=org_1&domain=c.example', []],
    ['organization_id=ORG_1', []],
    ['domain=.example', []],
    ['organization_id=&domain=', ['one', 'two', 'three']],
  ])('filters by %s, exactly (G69)', async ([query, expected], { startMock }) => {
    const { api } = await startMock({
      seeds: [],
      seed: {
        connections: [
          { key_id: 'one', type: 'OIDC', organization_id: 'org_1', domains: ['a.example', 'b.example'] },
          { key_id: 'two', type: 'API_KEY', organization_id: 'org_1', domains: ['b.example'] },
          { key_id: 'three', type: 'API_KEY', organization_id: 'org_2', domains: ['a.example'] },
        ],
      },
    })
    const { status, body } = await api.get('/connections', query)

    expect(status).toBe(200)
    expect((body as { connections: Connection[] }).connections.map(({ key_id }) => key_id)).toEqual(expected)
  })

  it('filters nothing with --documented-only, since the document shows no filter (4.10)', async ({ startMock }) => {
    const mock = await startMock({ documentedOnly: true })
    const { body } = await mock.api.get('/connections', 'organization_id=org_1&domain=a.example')

    expect((body as { connections: Connection[] }).connections).toEqual(await connections(mock))
  })

  it.for(['organization_id=a&organization_id=b', 'domain=a&domain=a', 'domain=%'])(
    'refuses %s (G5, G59)',
    async (query, { mock: { api } }) => {
      expect((await api.get('/connections', query)).status).toBe(400)
    },
  )

  it('ignores unknown parameters, and refuses them in strict mode (G6)', async () => {
    await withToolmock({}, async ({ api }) => {
      expect((await api.get('/connections', { page_size: 3 })).status).toBe(200)
    })
    await withToolmock({ strict: true }, async ({ api }) => {
      expect((await api.get('/connections', { page_size: 3 })).status).toBe(400)
    })
  })
})

describe('POST /_mock/connections/{id}/{event} ("States")', () => {
  it.for([
    ['DRAFT', true, ['start', 'disable']],
    ['DRAFT', false, ['start', 'enable']],
    ['IN_PROGRESS', true, ['complete', 'disable']],
    ['COMPLETED', true, ['disable']],
    ['COMPLETED', false, ['enable']],
  ])(
    'a %s connection (enabled: %s) accepts %j, and refuses the others',
    async ([status, enabled, allowed], { startMock }) => {
      const { http, api } = await startMock({ seed: { connections: [{ key_id: 'mail', status, enabled }] } })
      const find = async () => (await api.get('/connections')).body.connections.find(isMail)
      const before = await find()
      for (const event of ['start', 'complete', 'enable', 'disable'].filter((each) => !allowed.includes(each))) {
        const refused = await http('post', `/_mock/connections/mail/${event}`)
        const from = `${status}, ${enabled ? 'enabled' : 'disabled'}`
        expect(refused.body.error).toMatchObject({
          code: 'ILLEGAL_MOVE',
          message: `connection ${before.id} is ${from}: ${event} is not allowed; allowed: ${allowed.join(', ')}`,
          details: [{ from, event, allowed }],
        })
      }
      expect(await find()).toEqual(before)
      for (const event of allowed) expect((await http('post', `/_mock/connections/mail/${event}`)).status).toBe(200)
      expect(await find()).toEqual({
        ...before,
        status: { DRAFT: 'IN_PROGRESS', IN_PROGRESS: 'COMPLETED' }[status] ?? status,
        enabled: !enabled,
      })
    },
  )

  it('finds the connection by id or key id', async ({ mock: { http, environment } }) => {
    const { id } = [...environment.model.tables.connections.values()].find(isMail)!
    expect((await http('post', `/_mock/connections/${id}/disable`)).body.connection).toMatchObject({ key_id: 'mail' })
    expect((await http('post', '/_mock/connections/mail/enable')).body.connection).toMatchObject({ key_id: 'mail' })
    expect((await http('post', '/_mock/connections/nomail/enable')).status).toBe(404)
  })
})

describe('an unknown connector (G19)', () => {
  it('is refused with the list of connectors', async ({ startMock }) => {
    const { api } = await startMock({ seeds: [], seed: { connectors: [bare('alpha'), bare('beta')] } })
    const refused = await api.post('/connected_accounts', { connector: 'gamma', identifier: 'ada' })
    const description = 'must be one of alpha, beta; found "gamma"'
    expect(refused.body).toMatchObject({
      message: `connector ${description}`,
      details: [
        {
          validation_error_info: {
            field_violations: [{ field: 'connector', description, constraint: 'known_connector' }],
          },
        },
      ],
    })
  })

  it('is refused with the first forty of many, and how many more there are', async ({ startMock }) => {
    const { api } = await startMock({
      seeds: [],
      seed: { connectors: Array.from({ length: 41 }, (_, at) => bare(`c${at + 1}`)) },
    })
    const { body } = await api.post('/connected_accounts', { connector: 'gamma', identifier: 'ada' })
    expect(body.message).toMatch(/, c40 and 1 more; found "gamma"$/)
  })
})

const isMail = ({ key_id }: { key_id: string }): boolean => key_id === 'mail'
const bare = (connector: string) => ({ connector, authorization_type: 'API_KEY' })
