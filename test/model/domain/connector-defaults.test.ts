import { describe, expect, it } from 'vitest'
import { AUTHORIZATION_TYPES, CONNECTION_TYPES, TRAITS } from '../../../src/model/domain/authorization-type.ts'
import type { Connection } from '../../../src/model/domain/connection.ts'
import {
  bareConnector,
  connectorOfConnection,
  connectorOfProvider,
  defaultCredentialField,
  defaultCredentials,
  displayName,
} from '../../../src/model/domain/connector-defaults.ts'
import type { JsonObject } from '../../../src/model/domain/json.ts'
import type { Provider } from '../../../src/model/domain/provider.ts'

describe('a connector that only has a type', () => {
  it.each([
    ['API_KEY', ['api_key'], { 'X-API-Key': '{{credentials.api_key}}' }],
    ['BASIC_AUTH', ['username', 'password'], { Authorization: '{{basic credentials.username credentials.password}}' }],
    ['BASIC', ['username', 'password'], { Authorization: '{{basic credentials.username credentials.password}}' }],
    ['BEARER_TOKEN', ['token'], { Authorization: 'Bearer {{credentials.token}}' }],
    ['OAUTH', [], {}],
    ['NO_AUTH', [], {}],
  ] as const)('of type %s has the usual fields and sends the usual header', (type, fields, headers) => {
    const { credentials } = bareConnector('shop', type)
    expect(credentials.fields.map((field) => field.name)).toEqual(fields)
    expect(credentials.send).toEqual({ headers, query: {} })
  })

  it.each([
    ['api_key', 'API key'],
    ['merchant_id', 'Merchant ID'],
    ['callback-url', 'Callback URL'],
    ['rapid_token', 'Rapid token'],
  ])('asks for %s as %s', (name, label) => {
    expect(defaultCredentialField(name).label).toBe(label)
  })

  it('has no tools, no responders and no description', () => {
    expect(bareConnector('shop', 'API_KEY')).toMatchObject({
      connector: 'shop',
      display_name: 'Shop',
      description: '',
      icon_src: '',
      categories: [],
      oauth: { scopes: [], access_token_lifetime: 3_600_000, refresh_token: 'none', domain: '' },
      cluster: 'serverless',
      people: [],
      reject: [],
      base_url: null,
      custom_provider: null,
      tools: [],
      responders: [],
    })
  })

  it.each([
    ['weather_station', 'Weather station'],
    ['a:b--c', 'A b c'],
    ['_x_', 'X'],
    ['__', '__'],
  ])('%s is shown as %s', (name, shown) => {
    expect(displayName(name)).toBe(shown)
  })

  it('shows a name field in the form and masks all other fields', () => {
    expect(defaultCredentialField('username')).toEqual({
      name: 'username',
      label: 'Username',
      secret: false,
      required: true,
      hint: '',
    })
    expect(defaultCredentialField('pass_code')).toMatchObject({ label: 'Pass code', secret: true })
  })

  it('has people who can sign in only for types with consent', () => {
    for (const type of AUTHORIZATION_TYPES) {
      expect([type, bareConnector('shop', type).people.length > 0]).toEqual([type, TRAITS[type].source === 'consent'])
    }
  })

  it('rotates refresh tokens where a user gives tokens that expire', () => {
    const rotating = AUTHORIZATION_TYPES.filter((type) => bareConnector('shop', type).oauth.refresh_token === 'rotate')
    expect(rotating).toEqual(['OAUTH', 'SMART_FHIR'])
  })
})

it('the connector of a connection without a file exists for the account types and not for the sign-on types', () => {
  const none = CONNECTION_TYPES.filter((type) => connectorOfConnection(connection(type)) === undefined)
  expect(none).toEqual(['OIDC', 'SAML', 'PASSWORD', 'PASSWORDLESS', 'WEBAUTHN'])
})

it('the connector of a connection without a file reads BEARER as BEARER_TOKEN', () => {
  expect(connectorOfConnection(connection('BEARER'))?.authorization_type).toBe('BEARER_TOKEN')
})

describe('the connector of a custom provider', () => {
  it('has the fields of the first pattern and sends the first of them', () => {
    const { credentials, authorization_type } = connectorOfProvider(
      provider([
        { type: 'BEARER', fields: [{ field_name: 'access_key', label: 'Access key', input_type: 'password' }] },
      ]),
    )
    expect(authorization_type).toBe('BEARER_TOKEN')
    expect(credentials.fields).toEqual([
      { name: 'access_key', label: 'Access key', secret: true, required: true, hint: '' },
    ])
    expect(credentials.send.headers).toEqual({ Authorization: 'Bearer {{credentials.access_key}}' })
  })

  it.each<[string, unknown, object[]]>([
    ['names', ['user', ''], [{ name: 'user', label: 'User', secret: true, required: true, hint: '' }]],
    [
      'objects',
      [{ name: 'user', label: 'Who', secret: false, required: false, hint: 'Your name' }],
      [{ name: 'user', label: 'Who', secret: false, required: false, hint: 'Your name' }],
    ],
    ['a kind of input', [{ name: 'pin', input_type: 'text' }], [{ name: 'pin', secret: false }]],
    ['a kind', [{ name: 'pin', type: 'text' }], [{ name: 'pin', secret: false }]],
    ['a secret kind', [{ name: 'pin', type: 'password' }], [{ name: 'pin', secret: true }]],
    ['the name of a login', [{ name: 'username' }], [{ name: 'username', secret: false }]],
    ['the name of a login as a secret', [{ name: 'username', secret: true }], [{ name: 'username', secret: true }]],
    ['texts of another type', [{ name: 7, field_name: 'pin', label: 7 }], [{ name: 'pin', label: 'Pin' }]],
    ['no name at all', [{ label: 'Pin' }, 7, null], [{ name: 'api_key' }]],
    ['no field', [], [{ name: 'api_key' }]],
  ])('reads a pattern with %s', (_kind, fields, expected) => {
    const { credentials } = connectorOfProvider(provider([{ type: 'API_KEY', fields } as JsonObject]))
    expect(credentials.fields).toMatchObject(expected)
    expect(credentials.fields).toHaveLength(expected.length)
  })

  it('sends a key in X-API-Key for any field name', () => {
    const { credentials } = connectorOfProvider(provider([{ type: 'API_KEY', fields: ['token'] }]))
    expect(credentials.send.headers).toEqual({ 'X-API-Key': '{{credentials.token}}' })
    expect(defaultCredentials('BASIC', []).fields.map(({ name }) => name)).toEqual(['username', 'password'])
  })

  it('sends headers whose names are words', () => {
    const fields = ['__tenant__id', 'api_key']
    const { credentials } = connectorOfProvider(provider([{ type: 'CUSTOM', fields }]))
    expect(Object.keys(credentials.send.headers)).toEqual(['X-Tenant-Id', 'X-API-Key'])
    const { credentials: unsendable } = connectorOfProvider(provider([{ type: 'CUSTOM', fields: ['a b'] }]))
    expect(unsendable.send.headers).toEqual({ 'X-API-Key': '{{credentials.api_key}}' })
  })

  it('sends each field of a CUSTOM pattern in its own header, but none whose name could be read as a template', () => {
    const fields = [
      { name: 'tenant_id', secret: false },
      { name: 'api_key' },
      { name: '}}{{#each' },
      { name: '__proto__' },
    ]
    const { credentials } = connectorOfProvider(provider([{ type: 'CUSTOM', fields }]))
    expect(credentials.fields.map(({ name, secret }) => [name, secret])).toEqual([
      ['tenant_id', false],
      ['api_key', true],
      ['}}{{#each', true],
      ['__proto__', true],
    ])
    expect(credentials.send.headers).toEqual({
      'X-Tenant-Id': '{{credentials.tenant_id}}',
      'X-API-Key': '{{credentials.api_key}}',
    })
  })

  it.each<[unknown, string[]]>([
    [
      ['read', { scope: 'write' }, { name: 'send' }, 7],
      ['read', 'write', 'send'],
    ],
    [' read  write ', ['read', 'write']],
    [7, []],
  ])('requests the scopes %j of oauth_config', (scopes, expected) => {
    const pattern = { type: 'OAUTH', oauth_config: { scopes } } as JsonObject
    expect(connectorOfProvider(provider([pattern])).oauth.scopes).toEqual(expected)
  })

  it('takes credentials and scopes from the file that names it only when both have the same type', () => {
    const template = bareConnector('acme_template', 'OAUTH')
    const file = { ...template, oauth: { ...template.oauth, scopes: ['read'], domain: 'eu' }, reject: ['x*'] }
    expect(connectorOfProvider(provider([{ type: 'OAUTH' }]), file).oauth).toEqual(file.oauth)
    expect(connectorOfProvider(provider([{ type: 'SMART_FHIR' }]), file)).toMatchObject({
      oauth: { scopes: [], domain: '' },
      people: file.people,
      reject: ['x*'],
    })
    const noPeople = { ...file, people: [] }
    expect(connectorOfProvider(provider([{ type: 'OAUTH' }]), noPeople).people).toEqual([
      'ada@example.com',
      'grace@example.com',
    ])
  })

  it('takes the optional settings of the file, and has no others', () => {
    const said = {
      collections: { messages: { key: 'id' } },
      error_body: { error: 'no' },
      latency: 5,
      rate_limit: { limit: 1 },
    }
    const plain = bareConnector('acme_template', 'OAUTH')
    expect(connectorOfProvider(provider([]), { ...plain, ...said } as never)).toMatchObject(said)
    expect(Object.keys(connectorOfProvider(provider([]), plain)).sort()).toEqual(Object.keys(plain).sort())
  })

  it.each([[[]], [[{}]], [[{ type: 'constructor' }]], [[{ type: 7, fields: 'none' }]], [[{ type: '__proto__' }]]])(
    'is CUSTOM with a usable form when the patterns are %j',
    (patterns) => {
      const connector = connectorOfProvider(provider(patterns as JsonObject[]))
      expect(connector.authorization_type).toBe('CUSTOM')
      expect(connector.credentials.fields.length).toBe(1)
      expect(Object.keys(connector.credentials.send.headers)).toEqual(['X-API-Key'])
    },
  )

  it('has the tools and responders of the file that names it, under its own name', () => {
    const template = {
      ...bareConnector('acme_template', 'API_KEY'),
      custom_provider: 'Acme',
      people: ['x@example.com'],
    }
    const connector = connectorOfProvider(provider([{ type: 'OAUTH' }]), template)
    expect(connector).toMatchObject({ connector: 'acme-1', authorization_type: 'OAUTH', people: ['x@example.com'] })
    expect(connector.tools).toBe(template.tools)
  })
})

function connection(type: Connection['type']): Connection {
  return {
    id: 'conn_1',
    key_id: 'shop',
    organization_id: '',
    organization_name: '',
    domains: [],
    enabled: true,
    provider: 'SHOP',
    provider_key: 'shop',
    status: 'COMPLETED',
    type,
    mcp_server_url: '',
  }
}

function provider(auth_patterns: JsonObject[]): Provider {
  return {
    id: 'prv_1',
    identifier: 'acme-1',
    display_name: 'Acme',
    description: '',
    icon_src: '',
    auth_patterns,
    categories: [],
    coming_soon: false,
    display_priority: 0,
    is_custom: true,
    is_custom_mcp: false,
    metadata: {},
    proxy_enabled: false,
    proxy_url: '',
  }
}
