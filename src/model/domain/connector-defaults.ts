import { type AuthorizationType, type ConnectionType, isAuthorizationType, TRAITS } from './authorization-type.ts'
import type { Connection } from './connection.ts'
import type { Connector, CredentialField } from './connector.ts'
import { isJsonObject, type JsonObject, type JsonValue, ownMember, withoutUndefined, textAt } from './json.ts'
import type { Ids } from './ports.ts'
import { authorizationTypeOf, type Provider } from './provider.ts'
import { capitalise } from './text.ts'

const DEFAULT_ACCESS_TOKEN_LIFETIME = 3_600_000

/** 2.1: "alphanumeric characters, spaces, hyphens, underscores and colons are allowed". */
export const CONNECTOR_NAME = /^[A-Za-z0-9 _:-]{1,100}$/
export const TOOL_NAME = /^[A-Za-z0-9_.:-]{1,128}$/

/** Who can sign in where the connector names no people. */
export const DEFAULT_PEOPLE = ['ada@example.com', 'grace@example.com']

/** A connector of a type with defaults for everything else: no tools, no responders. */
export function bareConnector(name: string, type: AuthorizationType): Connector {
  return {
    connector: name,
    display_name: displayName(name),
    description: '',
    icon_src: '',
    categories: [],
    authorization_type: type,
    oauth: {
      scopes: [],
      access_token_lifetime: DEFAULT_ACCESS_TOKEN_LIFETIME,
      refresh_token: defaultRefresh(type),
      domain: '',
    },
    cluster: 'serverless',
    credentials: defaultCredentials(type),
    people: TRAITS[type].source === 'consent' ? DEFAULT_PEOPLE : [],
    reject: [],
    base_url: null,
    custom_provider: null,
    tools: [],
    responders: [],
  }
}

/** By default a refresh token is replaced by each use. Tokens that never expire, or that need no user, have none. */
function defaultRefresh(type: AuthorizationType): Connector['oauth']['refresh_token'] {
  return TRAITS[type].source === 'consent' && TRAITS[type].expires ? 'rotate' : 'none'
}

/** `weather_station` is shown as `Weather station`. */
export function displayName(name: string): string {
  const words = name.replaceAll(/[_:-]+/g, ' ').trim()
  return words === '' ? name : capitalise(words)
}

/** The first fields go as `X-API-Key`, as HTTP Basic or as Bearer, by the type; `CUSTOM` sends each in a header. */
export function defaultCredentials(type: AuthorizationType, fields?: CredentialField[]): Connector['credentials'] {
  if (TRAITS[type].source !== 'form') return { fields: fields ?? [], send: { headers: {}, query: {} } }
  const asked = fields && fields.length > 0 ? fields : DEFAULT_FIELDS[type as FormType].map(defaultCredentialField)
  return { fields: asked, send: { headers: defaultHeaders(type as FormType, asked), query: {} } }
}

export function defaultCredentialField(name: string): CredentialField {
  const label = displayName(name).replace(/\b(api|id|url)\b/gi, (word) => word.toUpperCase())
  return { name, label, secret: name !== 'username', required: true, hint: '' }
}

/** Generated credentials (G31): random secrets; the other fields name the person who signs in. */
export function generatedDetails(fields: readonly CredentialField[], ids: Ids, person: string | undefined): JsonObject {
  return Object.fromEntries(
    fields.map((field) => [field.name, field.secret ? ids.opaque() : (person ?? ids.id('user'))]),
  )
}

/** The connector of a connection without a connector file; undefined for sign-on types, which are none (G19, G49). */
export function connectorOfConnection(connection: Connection): Connector | undefined {
  const type = typeOfConnection(connection.type)
  return type && bareConnector(connection.key_id, type)
}

/** The authorization type of accounts at a connection of a type; where several have it, the commonest (G49). */
export function typeOfConnection(type: ConnectionType): AuthorizationType | undefined {
  if (type === 'BEARER') return 'BEARER_TOKEN'
  return isAuthorizationType(type) ? type : undefined
}

/** The connector of a custom provider (G38); `template` is the connector file that names it (G47). */
export function connectorOfProvider(provider: Provider, template?: Connector): Connector {
  const type = authorizationTypeOf(provider.auth_patterns)
  const base = bareConnector(provider.identifier, type)
  const { people, reject, base_url, tools, responders, collections, error_body, latency, rate_limit } = template ?? base
  const sameType = template?.authorization_type === type ? template : undefined
  const pattern = provider.auth_patterns[0] ?? {}
  const fields = patternFields(pattern)
  const scopes = patternScopes(pattern)
  return {
    ...base,
    reject,
    base_url,
    tools,
    responders,
    people: people.length > 0 ? people : base.people,
    ...withoutUndefined({ collections, error_body, latency, rate_limit }),
    display_name: provider.display_name,
    description: provider.description,
    icon_src: provider.icon_src,
    categories: provider.categories,
    oauth: { ...(sameType ?? base).oauth, ...(scopes && { scopes }) },
    cluster: (sameType ?? base).cluster,
    credentials: fields ? defaultCredentials(type, fields) : (sameType ?? base).credentials,
  }
}

type FormType = 'API_KEY' | 'BASIC_AUTH' | 'BASIC' | 'BEARER_TOKEN' | 'CUSTOM'

const DEFAULT_FIELDS: Readonly<Record<FormType, readonly string[]>> = {
  API_KEY: ['api_key'],
  BASIC_AUTH: ['username', 'password'],
  BASIC: ['username', 'password'],
  BEARER_TOKEN: ['token'],
  CUSTOM: ['api_key'],
}

/** Names that a template can use; a field with another name is asked for and stored, but not sent. */
const PLAIN_NAME = /^[A-Za-z_][\w-]*$/

function defaultHeaders(type: FormType, fields: readonly CredentialField[]): Record<string, string> {
  const names = fields.map((field) => field.name).filter((name) => PLAIN_NAME.test(name) && name !== '__proto__')
  const [first = 'api_key', second = first] = names
  switch (type) {
    case 'BASIC_AUTH':
    case 'BASIC':
      return { Authorization: `{{basic credentials.${first} credentials.${second}}}` }
    case 'BEARER_TOKEN':
      return { Authorization: `Bearer {{credentials.${first}}}` }
    case 'API_KEY':
      return { 'X-API-Key': `{{credentials.${first}}}` }
    case 'CUSTOM':
      return Object.fromEntries(
        (names.length > 0 ? names : [first]).map((name) => [headerFor(name), `{{credentials.${name}}}`]),
      )
  }
}

/** `tenant_id` travels as `X-Tenant-Id`, `api_key` as `X-API-Key`. */
function headerFor(name: string): string {
  const words = name.split(/[_-]+/).filter((word) => word !== '')
  return ['X', ...words.map((word) => (word === 'api' ? 'API' : capitalise(word)))].join('-')
}

/** The form's fields out of a free-form pattern: strings, or objects with `name` or `field_name`. */
function patternFields(pattern: JsonObject): CredentialField[] | undefined {
  const fields = ownMember(pattern, 'fields')
  if (!Array.isArray(fields)) return undefined
  const read = fields.flatMap((field) => patternField(field) ?? [])
  return read.length > 0 ? read : undefined
}

function patternField(field: JsonValue): CredentialField | undefined {
  if (typeof field === 'string') return field === '' ? undefined : defaultCredentialField(field)
  if (!isJsonObject(field)) return undefined
  const text = (key: string): string => textAt(field, key)
  const name = text('name') || text('field_name')
  if (name === '') return undefined
  const plain = defaultCredentialField(name)
  const secret = ownMember(field, 'secret')
  const kind = text('input_type') || text('type')
  const saysSecret = typeof secret === 'boolean' ? secret : kind === '' ? plain.secret : kind === 'password'
  const label = text('label') || plain.label
  return { name, label, secret: saysSecret, required: ownMember(field, 'required') !== false, hint: text('hint') }
}

function patternScopes(pattern: JsonObject): string[] | undefined {
  const config = ownMember(pattern, 'oauth_config')
  const scopes = isJsonObject(config) ? ownMember(config, 'scopes') : undefined
  if (typeof scopes === 'string') return scopes.split(/\s+/).filter((scope) => scope !== '')
  if (!Array.isArray(scopes)) return undefined
  return scopes.flatMap((scope) => {
    const name = isJsonObject(scope) ? (ownMember(scope, 'scope') ?? ownMember(scope, 'name')) : scope
    return typeof name === 'string' ? [name] : []
  })
}
