import { z } from 'zod'
import { ACCOUNT_STATUSES } from '../domain/account.ts'
import { AUTHORIZATION_TYPES, CONNECTION_TYPES } from '../domain/authorization-type.ts'
import { CONNECTION_STATUSES } from '../domain/connection.ts'
import type { Connector } from '../domain/connector.ts'
import { isJsonObject } from '../domain/json.ts'
import { jsonObject, strict, text } from './schema-parts.ts'

/*
 * The state file (design 1.4), complete, for its JSON Schema and for whoever checks a file by hand. The server itself
 * checks rows with `store/state-file/row-shapes.ts`, which is fast; a test holds the two against each other.
 */

const instant = z
  .string()
  .regex(/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}\.\d{3}Z$/, {
    error: 'an instant such as 2026-01-31T12:00:00.000Z',
  })
  .meta({ format: 'date-time' })
const texts = z.array(text)
const duration = z.int().describe('Milliseconds.')
const textMap = z
  .custom<Record<string, string>>(
    (value) => isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string'),
    { error: 'an object whose values are strings' },
  )
  .meta({ type: 'object', additionalProperties: { type: 'string' } })

const settings = strict({
  bearer_token_lifetime: duration,
  magic_link_lifetime: duration,
  auth_request_lifetime: duration,
  require_user_verification: z.boolean(),
  consent: z.enum(['ask', 'approve', 'deny']),
  post_user_verify_redirect_url: text,
  vocabulary: textMap.describe('What the wire says in place of words of the document.'),
})

const clock = strict({
  offset_ms: z.int().describe('Added to real time while the clock runs.'),
  frozen_at: instant.nullable().describe('Where the clock stands; null while it runs.'),
})

const ids = strict({
  seed: z.int(),
  position: z.int().describe('How many ids were given out.'),
})
  .nullable()
  .describe('Where the seeded ids stand; null when ids are random.')

const client = strict({ id: text.describe('The client_id.'), client_secret: text })

const bearerToken = strict({ id: text.describe('The token itself.'), client_id: text, expires_at: instant })

const connection = strict({
  id: text,
  key_id: text,
  organization_id: text,
  organization_name: text,
  domains: texts,
  enabled: z.boolean(),
  provider: text,
  provider_key: text,
  status: z.enum(CONNECTION_STATUSES),
  type: z.enum(CONNECTION_TYPES),
  mcp_server_url: text,
})

const provider = strict({
  id: text,
  identifier: text,
  display_name: text,
  description: text,
  icon_src: text,
  auth_patterns: z.array(jsonObject),
  categories: texts,
  coming_soon: z.boolean(),
  display_priority: z.int(),
  is_custom: z.boolean(),
  is_custom_mcp: z.boolean(),
  metadata: textMap,
  proxy_enabled: z.boolean(),
  proxy_url: text,
})

/** A part of a connector whose inside is described by the connector's own schema, before its defaults are filled in. */
function part<Name extends keyof Connector>(): z.ZodType<Connector[Name]> {
  return z.custom<Connector[Name]>(isJsonObject, { error: 'an object' }).meta({ type: 'object' })
}

function parts<Name extends 'tools' | 'responders'>(): z.ZodType<Connector[Name]> {
  return z
    .custom<Connector[Name]>((value) => Array.isArray(value) && value.every(isJsonObject), { error: 'objects' })
    .meta({ type: 'array', items: { type: 'object' } })
}

const connector = strict({
  id: text.describe('The same as connector.'),
  connector: text,
  display_name: text,
  description: text,
  icon_src: text,
  categories: texts,
  authorization_type: z.enum(AUTHORIZATION_TYPES),
  oauth: part<'oauth'>(),
  cluster: z.enum(['provisioned', 'serverless']),
  credentials: part<'credentials'>(),
  people: texts,
  reject: texts,
  base_url: text.nullable(),
  custom_provider: text.nullable(),
  tools: parts<'tools'>(),
  responders: parts<'responders'>(),
})

const credentials = strict({
  oauth_token: strict({ access_token: text, refresh_token: text, scopes: texts, domain: text }).exactOptional(),
  static_auth: strict({ details: jsonObject }).exactOptional(),
  workspace_dwd: strict({
    subject: text,
    access_token: text,
    scopes: texts,
    token_expires_at: instant.exactOptional(),
  }).exactOptional(),
  trusted_idp: strict({
    db_user: text,
    access_key_id: text,
    expiry: instant.exactOptional(),
    secret_access_key: text,
    session_token: text,
  }).exactOptional(),
}).describe('At most one sub-object, the one that fits the authorization type.')

const account = strict({
  id: text,
  sequence: z.int().describe('Position in creation order; never reused.'),
  organization_id: text,
  user_id: text,
  connection_id: text,
  connector: text,
  provider: text,
  identifier: text,
  authorization_type: z.enum(AUTHORIZATION_TYPES),
  status: z.enum(ACCOUNT_STATUSES),
  token_expires_at: instant.exactOptional(),
  last_used_at: instant.exactOptional(),
  updated_at: instant,
  api_config: jsonObject,
  credentials,
  pending: strict({ credentials, token_expires_at: instant.exactOptional() })
    .exactOptional()
    .describe('Credentials that wait for verification.'),
})

const magicLink = strict({
  id: text.describe('The opaque part of the link.'),
  account_id: text,
  oauth_state: text,
  user_verify_url: text,
  state: text.nullable(),
  expires_at: instant,
  completed_at: instant.exactOptional(),
})

const authRequest = strict({
  id: text,
  account_id: text,
  identifier: text,
  expires_at: instant,
  outcome: z.enum(['pending', 'consumed', 'expired', 'superseded']),
})

const grant = strict({
  id: text,
  connector: text,
  account_id: text,
  person: text,
  scopes: texts,
  access: text,
  secret: text,
  refresh_token: text,
  expires_at: instant.exactOptional(),
  revoked: z.boolean(),
  refresh_revoked: z.boolean(),
})

const authorizationCode = strict({
  id: text,
  connector: text,
  person: text,
  scopes: texts,
  redirect_uri: text,
  expires_at: instant,
})

const counter = strict({ id: text, value: z.int() })

const tables = strict({
  clients: z.array(client),
  bearer_tokens: z.array(bearerToken),
  connections: z.array(connection).describe('In the order in which they are listed.'),
  providers: z.array(provider),
  connectors: z.array(connector),
  accounts: z.array(account),
  magic_links: z.array(magicLink),
  auth_requests: z.array(authRequest),
  grants: z.array(grant).describe('What the fake third parties know of credentials.'),
  authorization_codes: z.array(authorizationCode),
  counters: z.array(counter).describe('Running numbers that must not repeat after a restart.'),
})

const environment = strict({ settings, clock, ids, tables })

/** The state file: `{"version": 1, "environments": {…}}`. */
export const stateSchema = strict({
  version: z.literal(1),
  environments: z
    .record(
      z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, { error: '1 to 64 letters, digits, ".", "_" and "-"' }),
      environment,
    )
    .describe('By name.'),
}).meta({
  title: 'The state of toolmock',
  description: 'The whole model: written at a clean stop, with a journal of commits beside it while the server runs.',
})
export type StateDocument = z.infer<typeof stateSchema>
