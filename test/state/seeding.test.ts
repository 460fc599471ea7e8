import { describe, expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { loadSeeds } from '../../src/files/load.ts'
import { AUTHORIZATION_TYPES } from '../../src/model/domain/authorization-type.ts'
import { bareConnector } from '../../src/model/domain/connector-defaults.ts'
import type { Credentials } from '../../src/model/domain/credentials.ts'
import type { ThirdParty } from '../../src/model/domain/ports.ts'
import { emptyBundle, type SeedAccount, type SeedBundle } from '../../src/model/domain/seed.ts'
import type { Environment } from '../../src/state/environment.ts'
import { TABLE_NAMES } from '../../src/state/model/model.ts'
import { applySeed } from '../support/apply-seed.ts'
import { testEnvironment } from '../support/environment.ts'
import { seedAccount } from '../support/rows.ts'
import { TWELVE_CONNECTORS } from '../support/twelve-connectors.ts'

const bundled = await loadSeeds(['bundled'], DOCUMENT_CHECKS)

describe('the bundled seed in an environment', () => {
  it('lists a connection per authorization type in their order, then the sign-on connections', async () => {
    const { environment } = await seeded(bundled)
    const all = [...environment.model.tables.connections.values()]
    // Between the twelve and the sign-on connections are those of connectors that the seed does not list.
    const connections = [...all.slice(0, TWELVE_CONNECTORS.length), ...all.slice(-2)]
    expect(connections.map((connection) => `${connection.key_id} ${connection.type}`)).toEqual([
      'mail OAUTH',
      'weather API_KEY',
      'helpdesk BASIC',
      'code_hosting BEARER',
      'payments API_KEY',
      'inventory BASIC',
      'ledger OAUTH_M2M',
      'tracker TRACKER_OAUTH1',
      'workspace WORKSPACE_DWD',
      'warehouse TRUSTED_IDP',
      'clinic SMART_FHIR',
      'encyclopedia NO_AUTH',
      'acme_oidc OIDC',
      'globex_saml SAML',
    ])
    expect(connections[3]).toMatchObject({
      provider: 'CUSTOM',
      provider_key: 'code_hosting',
      status: 'COMPLETED',
      enabled: true,
    })
    expect(connections[12]).toMatchObject({
      organization_id: 'org_acme',
      domains: ['acme.example'],
      provider: 'IDP_SIMULATOR',
    })
  })

  it('has a provider for each connector, which is not custom', async () => {
    const { environment } = await seeded(bundled)
    const providers = [...environment.model.tables.providers.values()]
    expect(providers.map((provider) => provider.identifier)).toEqual(
      bundled.connectors.map(({ connector }) => connector),
    )
    expect(providers[0]).toMatchObject({
      display_name: 'Mail',
      is_custom: false,
      auth_patterns: [{ type: 'OAUTH', oauth_config: { scopes: ['mail.read', 'mail.send'] } }],
    })
  })

  it('gives the same rows for the same ids, and others for others', async () => {
    const bundle = {
      ...bundled,
      accounts: AUTHORIZATION_TYPES.map((_type, at) => account(connectorAt(at), {})),
      generate: [{ accounts: 20, connector: 'mail', organization_id: '', user_id: '', status: 'ACTIVE' as const }],
    }
    const [first, second, other] = await Promise.all([seeded(bundle, 7), seeded(bundle, 7), seeded(bundle, 8)])
    expect(rows(second.environment)).toBe(rows(first.environment))
    expect(rows(other.environment)).not.toBe(rows(first.environment))
  })

  it('can be applied twice: every row keeps its id and its position', async () => {
    const bundle = { ...bundled, accounts: [account('mail', {}), account('weather', {})] }
    const { environment, thirdParty } = await seeded(bundle)
    const ids = (): unknown =>
      (['connections', 'providers', 'accounts'] as const).map((name) =>
        [...environment.model.tables[name].values()].map(({ id }) => id),
      )
    const before = ids()
    await applySeed(environment, thirdParty, bundle)
    expect(ids()).toEqual(before)
    expect([...environment.model.tables.accounts.values()].map(({ sequence }) => sequence)).toEqual([1, 2])
  })
})

describe('an account of a seed', () => {
  it.each([
    [
      'mail',
      { oauth_token: { access_token: /^at_/, refresh_token: /^rt_/, scopes: ['mail.read', 'mail.send'], domain: '' } },
      '2026-01-01T01:00:00.000Z',
    ],
    ['clinic', { oauth_token: { access_token: /^at_/, refresh_token: /^rt_/ } }, '2026-01-01T00:10:00.000Z'],
    ['tracker', { oauth_token: { access_token: /^at_/, refresh_token: /^$/ } }, undefined],
    ['weather', { static_auth: { details: { api_key: /./ } } }, undefined],
    ['helpdesk', { static_auth: { details: { username: 'ada', password: /./ } } }, undefined],
    ['payments', { static_auth: { details: { merchant_id: 'ada', secret_key: /./ } } }, undefined],
  ])('at %s is ACTIVE with credentials that the third party accepts', async (connector, credentials, expires) => {
    const { environment, accepted } = await seeded({ ...bundled, accounts: [account(connector, {})] })
    const stored = onlyAccount(environment)
    expect(stored).toMatchObject({
      status: 'ACTIVE',
      connector,
      provider: connector,
      identifier: 'ada',
      ...matching({ credentials }),
    })
    expect(stored.token_expires_at).toBe(expires)
    expect(stored.connection_id).toMatch(/^conn_/)
    expect(accepted).toEqual([[stored.id, stored.credentials]])
  })

  it.each([
    ['ledger', {}],
    ['workspace', { workspace_dwd: { subject: 'ada', access_token: '', scopes: [] } }],
    ['warehouse', { trusted_idp: { db_user: '', access_key_id: '', secret_access_key: '', session_token: '' } }],
  ])(
    'at %s is ACTIVE with a token that is due, which the service obtains at its first use',
    async (connector, credentials) => {
      const { environment, accepted } = await seeded({ ...bundled, accounts: [account(connector, {})] })
      expect(onlyAccount(environment)).toMatchObject({
        status: 'ACTIVE',
        credentials,
        token_expires_at: '2026-01-01T00:00:00.000Z',
      })
      expect(accepted).toEqual([])
    },
  )

  it('without authorization is ACTIVE and has no credentials', async () => {
    const { environment, accepted } = await seeded({ ...bundled, accounts: [account('encyclopedia', {})] })
    expect(onlyAccount(environment)).toMatchObject({ status: 'ACTIVE', credentials: {} })
    expect(accepted).toEqual([])
  })

  it('keeps its given credentials and generates only missing ones', async () => {
    const own = { oauth_token: { access_token: 'mine', scopes: ['mail.read'] } }
    const scopesOnly = { oauth_token: { scopes: ['mail.read'] } }
    const [given, lacking] = await Promise.all(
      [own, scopesOnly].map((authorization_details) =>
        seeded({ ...bundled, accounts: [account('mail', { authorization_details })] }),
      ),
    )
    expect(onlyAccount(given!.environment).credentials).toEqual({
      oauth_token: { access_token: 'mine', refresh_token: '', scopes: ['mail.read'], domain: '' },
    })
    expect(onlyAccount(lacking!.environment).credentials.oauth_token).toMatchObject({
      access_token: expect.stringMatching(/^at_/),
      scopes: ['mail.read'],
    })
  })

  it('at a serverless workgroup keeps no database user', async () => {
    const login = { authorization_details: { trusted_idp: { db_user: 'ada_db' } } }
    const { environment } = await seeded({ ...bundled, accounts: [account('warehouse', login)] })
    expect(JSON.stringify(onlyAccount(environment))).not.toContain('ada_db')
  })

  it('that is PENDING_AUTH has no credentials', async () => {
    const { environment, accepted } = await seeded({
      ...bundled,
      accounts: [account('mail', { status: 'PENDING_AUTH' })],
    })
    expect(onlyAccount(environment)).toMatchObject({ status: 'PENDING_AUTH', credentials: {} })
    expect(accepted).toEqual([])
  })

  it('that is PENDING_VERIFICATION has pending tokens and an auth request that waits', async () => {
    const { environment, accepted } = await seeded({
      ...bundled,
      accounts: [account('mail', { status: 'PENDING_VERIFICATION' })],
    })
    const stored = onlyAccount(environment)
    expect(stored.credentials).toEqual({})
    expect(stored.pending?.token_expires_at).toBe('2026-01-01T01:00:00.000Z')
    expect(accepted).toEqual([[stored.id, stored.pending?.credentials]])
    expect([...environment.model.tables.auth_requests.values()]).toMatchObject([
      { account_id: stored.id, identifier: 'ada', expires_at: '2026-01-01T00:10:00.000Z', outcome: 'pending' },
    ])
  })

  it.each(['EXPIRED', 'DISCONNECTED'] as const)(
    'that is %s has credentials that the third party does not know',
    async (status) => {
      const { environment, accepted } = await seeded({ ...bundled, accounts: [account('mail', { status })] })
      const stored = onlyAccount(environment)
      expect(stored).toMatchObject({
        status,
        credentials: { oauth_token: { access_token: expect.stringMatching(/^at_/) } },
      })
      if (status === 'EXPIRED') expect(stored.token_expires_at).toBe('2026-01-01T00:00:00.000Z')
      expect(accepted).toEqual([])
    },
  )

  it('may have its id, its times and its scope in the seed', async () => {
    const details = {
      id: 'ca_mine',
      organization_id: 'org_1',
      token_expires_at: '2026-02-02T00:00:00.000Z',
      last_used_at: '2025-12-31T00:00:00.000Z',
    }
    const { environment } = await seeded({ ...bundled, accounts: [account('mail', details)] })
    expect(onlyAccount(environment)).toMatchObject({ ...details, user_id: '' })
  })

  it('at an unknown connector undoes the whole seed', async () => {
    const environment = testEnvironment()
    const bundle = { ...bundled, accounts: [account('nowhere', {})] }
    await expect(applySeed(environment, recorder([]), bundle)).rejects.toThrow('"nowhere", which is no connector')
    expect(TABLE_NAMES.map((name) => environment.model.tables[name].size)).toEqual(TABLE_NAMES.map(() => 0))
  })
})

it('generated accounts have realistic identifiers that are unique, also among those of the seed', async () => {
  const generate = [
    { accounts: 300, connector: 'mail', organization_id: 'org_1', user_id: '', status: 'ACTIVE' as const },
    { accounts: 300, connector: 'mail', organization_id: 'org_1', user_id: '', status: 'PENDING_AUTH' as const },
  ]
  const { environment } = await seeded({ ...bundled, generate })
  const accounts = [...environment.model.tables.accounts.values()]
  expect(new Set(accounts.map(({ identifier }) => identifier)).size).toBe(600)
  expect(accounts.filter(({ identifier }) => !/^[a-z]+\.[a-z]+\d*@example\.com$/.test(identifier))).toEqual([])
  expect(accounts.filter(({ status }) => status === 'PENDING_AUTH')).toHaveLength(300)
})

it('generated accounts are new ones when the seed is applied again', async () => {
  const generate = [{ accounts: 10, connector: 'mail', organization_id: '', user_id: '', status: 'ACTIVE' as const }]
  const { environment, thirdParty } = await seeded({ ...bundled, generate })
  await applySeed(environment, thirdParty, { ...bundled, generate })
  expect(environment.model.tables.accounts.size).toBe(20)
})

describe('clients, connections and providers of a seed', () => {
  it('puts clients, but no patterns, which are the server’s', async () => {
    const clients = [
      { id: 'c', client_secret: 's' },
      { id: 'ci-*', client_secret: 's' },
    ]
    const { environment } = await seeded({ ...emptyBundle(), clients })
    expect([...environment.model.tables.clients.values()].map(({ id }) => id)).toEqual(['c'])
  })

  it('lets a connection with a connector’s name change the connector’s connection', async () => {
    const connections = [{ key_id: 'mail', id: 'conn_mail', organization_id: 'org_1', enabled: false }]
    const { environment } = await seeded({ ...bundled, connections })
    const mail = [...environment.model.tables.connections.values()].filter(({ key_id }) => key_id === 'mail')
    expect(mail).toMatchObject([
      { id: 'conn_mail', organization_id: 'org_1', enabled: false, type: 'OAUTH', provider: 'CUSTOM' },
    ])
  })

  it('gives a custom provider an identifier, a connection of its type, and the tools of the connector that names it', async () => {
    const template = {
      ...bareConnector('acme_template', 'API_KEY'),
      custom_provider: 'Acme',
      tools: bundled.connectors[0]!.tools,
    }
    const { environment } = await seeded({
      ...emptyBundle(),
      connectors: [template],
      providers: [{ display_name: 'Acme', auth_patterns: [{ type: 'BEARER', is_mcp: true }] }],
    })
    const [provider, ...others] = [...environment.model.tables.providers.values()]
    expect(others).toEqual([])
    expect(provider).toMatchObject({
      is_custom: true,
      is_custom_mcp: true,
      identifier: expect.stringMatching(/^acme-[a-z0-9]{8}$/),
    })
    expect([...environment.model.tables.connections.values()]).toMatchObject([
      { key_id: provider!.identifier, provider: 'CUSTOM', type: 'BEARER' },
    ])
    const connector = environment.connector(provider!.identifier)
    expect(connector).toMatchObject({ authorization_type: 'BEARER_TOKEN', connector: provider!.identifier })
    expect(connector?.tools).toBe(template.tools)
    expect(environment.connector('acme_template')).toBeUndefined()
  })

  it('knows the connector of a bare connection, and none of a sign-on connection or an unknown name', async () => {
    const connections = [
      { key_id: 'calendar', type: 'OAUTH' as const },
      { key_id: 'sso', type: 'SAML' as const },
    ]
    const { environment } = await seeded({ ...emptyBundle(), connections })
    expect(environment.connector('calendar')).toMatchObject({ authorization_type: 'OAUTH', tools: [] })
    for (const name of ['sso', 'nobody', '__proto__', 'constructor', '']) {
      expect([name, environment.connector(name)]).toEqual([name, undefined])
    }
  })
})

interface Seeded {
  environment: Environment
  thirdParty: ThirdParty
  /** The accepted credentials of the third party, by account id. */
  accepted: [string, Credentials][]
}

async function seeded(bundle: SeedBundle, seed = 1): Promise<Seeded> {
  const environment = testEnvironment({ seed })
  const accepted: [string, Credentials][] = []
  const thirdParty = recorder(accepted)
  await applySeed(environment, thirdParty, bundle)
  return { environment, thirdParty, accepted }
}

function recorder(accepted: [string, Credentials][]): ThirdParty {
  const unexpected = (): never => {
    throw new Error('a seed calls nobody')
  }
  return {
    call: unexpected,
    forward: unexpected,
    obtain: unexpected,
    issue: unexpected,
    refresh: unexpected,
    redeem: unexpected,
    accept: (_connector, { id }, credentials) => void accepted.push([id, credentials]),
  }
}

function account(connector: string, more: Partial<SeedAccount>): SeedAccount {
  return seedAccount(connector, { identifier: 'ada', ...more })
}

function onlyAccount(environment: Environment) {
  const [only, ...others] = [...environment.model.tables.accounts.values()]
  expect(others).toEqual([])
  return only!
}

function connectorAt(index: number): string {
  return bundled.connectors[index]!.connector
}

function rows({ model }: Environment): string {
  return JSON.stringify(TABLE_NAMES.map((name) => [...model.tables[name].values()]))
}

/** The same shape with regular expressions as matchers. */
function matching(value: object): object {
  return Object.fromEntries(
    Object.entries(value).map(([key, each]: [string, unknown]) => {
      if (each instanceof RegExp) return [key, expect.stringMatching(each)]
      if (typeof each === 'object' && each !== null && !Array.isArray(each)) return [key, matching(each)]
      return [key, each]
    }),
  )
}
