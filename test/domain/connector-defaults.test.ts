import { describe, expect, it } from 'vitest'
import { AUTHORIZATION_TYPES, CONNECTION_TYPES, TRAITS } from '../../src/domain/authorization-type.ts'
import type { Connection } from '../../src/domain/connection.ts'
import { bareConnector, connectorOfConnection, connectorOfProvider } from '../../src/domain/connector-defaults.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import type { Provider } from '../../src/domain/provider.ts'

describe('a connector that only has a type', () => {
  it.each([
    ['API_KEY', ['api_key'], { 'X-API-Key': '{{credentials.api_key}}' }],
    ['BASIC_AUTH', ['username', 'password'], { Authorization: '{{basic credentials.username credentials.password}}' }],
    ['BASIC', ['username', 'password'], { Authorization: '{{basic credentials.username credentials.password}}' }],
    ['BEARER_TOKEN', ['token'], { Authorization: 'Bearer {{credentials.token}}' }],
    ['OAUTH', [], {}],
    ['NO_AUTH', [], {}],
  ] as const)('of type %s asks for and sends what is usual', (type, fields, headers) => {
    const { credentials } = bareConnector('shop', type)
    expect(credentials.fields.map((field) => field.name)).toEqual(fields)
    expect(credentials.send).toEqual({ headers, query: {} })
  })

  it('has somebody who can sign in exactly where consent is asked for', () => {
    for (const type of AUTHORIZATION_TYPES) {
      expect([type, bareConnector('shop', type).people.length > 0]).toEqual([type, TRAITS[type].source === 'consent'])
    }
  })

  it('rotates refresh tokens where a user gives tokens that expire', () => {
    const rotating = AUTHORIZATION_TYPES.filter((type) => bareConnector('shop', type).oauth.refresh_token === 'rotate')
    expect(rotating).toEqual(['OAUTH', 'SMART_FHIR'])
  })
})

describe('the connector of a connection without a file', () => {
  it('exists for the account types and not for the sign-on types', () => {
    const none = CONNECTION_TYPES.filter((type) => connectorOfConnection(connection(type)) === undefined)
    expect(none).toEqual(['OIDC', 'SAML', 'PASSWORD', 'PASSWORDLESS', 'WEBAUTHN'])
  })

  it('reads BEARER as BEARER_TOKEN', () => {
    expect(connectorOfConnection(connection('BEARER'))?.authorization_type).toBe('BEARER_TOKEN')
  })
})

describe('the connector of a custom provider', () => {
  it('asks for the fields of the first pattern and sends the first of them', () => {
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

  it('asks for the scopes of oauth_config', () => {
    const scoped = connectorOfProvider(
      provider([{ type: 'OAUTH', oauth_config: { scopes: ['read', { scope: 'write' }] } }]),
    )
    expect(scoped.oauth.scopes).toEqual(['read', 'write'])
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
