import { BASE_URL_RULE, isBaseUrl } from '../domain/base-url.ts'
import { z } from 'zod'
import { ACCOUNT_STATUSES } from '../domain/account.ts'
import { AUTHORIZATION_TYPES, CONNECTION_TYPES } from '../domain/authorization-type.ts'
import { COLLECTION_NAME, placeId, STEP_ACTIONS } from '../domain/collection.ts'
import { CONNECTION_STATUSES } from '../domain/connection.ts'
import type { CredentialsPatch } from '../domain/credentials.ts'
import { ENVIRONMENT_NAME, ENVIRONMENT_NAME_RULE } from '../domain/environment-name.ts'
import { CLOCK_RANGE, CLOCK_YEARS, isClockTime, MAX_DURATION, milliseconds } from '../domain/instant.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts'
import type { Scenario } from '../domain/scenario.ts'
import type { Settings } from '../domain/settings.ts'
import { strict, text } from './parts.ts'

/*
 * The state file (design 1.4). The start checks every row with this schema, `PUT /_mock/state` checks what it is sent,
 * and `spec/schemas/state.schema.json` is generated from it. Checking 100,000 accounts takes a quarter of the time of
 * parsing them.
 */

/** Deeper than a request body may nest, and shallow enough to be written without exhausting the stack. */
const MAX_DEPTH = 1000

function isDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true
  return Object.values(value).some(
    (inside: unknown) => typeof inside === 'object' && inside !== null && isDeeper(inside, levels - 1),
  )
}

const instant = z
  .string()
  .regex(/^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}\.\d{3}Z$/, {
    error: 'an instant such as 2026-01-31T12:00:00.000Z',
  })
  .meta({ format: 'date-time' })
const jsonObject = z
  .custom<JsonObject>((value) => isJsonObject(value) && !isDeeper(value, MAX_DEPTH), {
    error: `an object of at most ${MAX_DEPTH} levels`,
  })
  .meta({ type: 'object' })
const anyJson = z
  .custom<JsonValue>((value) => value !== undefined, { error: 'any value' })
  .meta({ type: ['string', 'number', 'boolean', 'null', 'array', 'object'] })
const texts = z.array(text)
const duration = z.int().min(0).max(MAX_DURATION).describe('Milliseconds.')
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
  revocation: z.enum(['reversible', 'final']).exactOptional(),
  post_user_verify_redirect_url: text,
  vocabulary: textMap.describe('What the wire says in place of words of the document.'),
})

const clock = strict({
  offset_ms: z
    .int()
    .min(-MAX_DURATION * 10)
    .max(CLOCK_RANGE.latest)
    .describe('Added to real time while the clock runs.'),
  frozen_at: instant
    .refine((at) => isClockTime(milliseconds(at)), { error: `an instant in ${CLOCK_YEARS}` })
    .nullable()
    .describe('The time of a frozen clock; null while it runs.'),
})

const ids = strict({
  seed: z.int(),
  position: z.int().describe('How many ids were given out.'),
})
  .nullable()
  .describe('The position in the sequence of seeded ids; null when ids are random.')

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
  created_as: text.exactOptional().describe('The display name that it was created with, once it has changed.'),
})

const credentialField = strict({ name: text, label: text, secret: z.boolean(), required: z.boolean(), hint: text })

const tool = strict({
  name: text,
  display_name: text,
  description: text,
  tags: texts,
  is_default: z.boolean(),
  input_schema: jsonObject,
  call: strict({
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    path: text,
    query: textMap,
    headers: textMap,
    body: anyJson,
    timeout: z.number().min(0).max(MAX_DURATION),
  }),
  result: jsonObject.nullable(),
})

const collection = strict({
  key: text,
  per: z.enum(['account', 'environment']),
  fields: jsonObject,
  seed: z.array(jsonObject),
  generate: z.int(),
})

const stepAnswer = strict({
  status: z.int().exactOptional(),
  headers: textMap.exactOptional(),
  body: anyJson.exactOptional(),
})

const step = strict({
  action: z.enum(STEP_ACTIONS),
  collection: text,
  as: text,
  key: anyJson.exactOptional(),
  where: jsonObject.exactOptional(),
  item: anyJson.exactOptional(),
  unless: jsonObject.exactOptional(),
  set: anyJson.exactOptional(),
  add: jsonObject.exactOptional(),
  remove: jsonObject.exactOptional(),
  search: strict({ text, in: texts }).exactOptional(),
  sort: text.exactOptional(),
  page: strict({
    limit: anyJson.exactOptional(),
    default: z.int(),
    most: z.int(),
    token: anyJson.exactOptional(),
    offset: anyJson.exactOptional(),
    number: anyJson.exactOptional(),
    link: text.exactOptional(),
  }).exactOptional(),
  show: anyJson.exactOptional(),
  when: jsonObject.exactOptional(),
  otherwise: stepAnswer.exactOptional(),
})

const responder = strict({
  on: strict({
    method: text.optional(),
    path: text.optional(),
    query: textMap.exactOptional(),
    headers: textMap.exactOptional(),
    body: jsonObject.exactOptional(),
    account: textMap.exactOptional(),
  }),
  steps: z.array(step).exactOptional(),
  answers: z.array(strict({ status: z.int(), headers: textMap, body: anyJson })),
  after_last: z.enum(['repeat', 'restart', 'next']),
})

const connectorFields = {
  connector: text,
  provider: text.exactOptional().describe('What accounts and tools call it; absent where that is its name.'),
  display_name: text,
  description: text,
  icon_src: text,
  categories: texts,
  authorization_type: z.enum(AUTHORIZATION_TYPES),
  oauth: strict({
    scopes: texts,
    access_token_lifetime: duration,
    refresh_token: z.enum(['keep', 'rotate', 'none']),
    domain: text,
  }),
  cluster: z.enum(['provisioned', 'serverless']),
  credentials: strict({
    fields: z.array(credentialField),
    send: strict({ headers: textMap, query: textMap }),
  }),
  people: texts,
  reject: texts,
  base_url: text.refine(isBaseUrl, { error: BASE_URL_RULE }).nullable(),
  custom_provider: text.nullable(),
  tools: z.array(tool),
  collections: z.record(z.string().regex(COLLECTION_NAME), collection).exactOptional(),
  responders: z.array(responder),
  error_body: jsonObject.exactOptional(),
  latency: z.array(z.tuple([z.number().min(0).max(1), z.number().min(0).max(MAX_DURATION)])).exactOptional(),
  rate_limit: strict({
    calls: z.int(),
    every: duration,
    per: z.enum(['account', 'environment']),
    otherwise: stepAnswer.exactOptional(),
  }).exactOptional(),
}

const connector = strict({ id: text.describe('The same as connector.'), ...connectorFields })

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
  outcome: z.enum(['pending', 'consumed', 'expired', 'superseded', 'withdrawn']),
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
  final: z
    .literal(true)
    .exactOptional()
    .describe('Refused permanently, for every account that presents it (settings.revocation).'),
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

const collectionItem = strict({
  id: text.describe('Connector, collection, account and key.'),
  connector: text,
  collection: text,
  account_id: text.describe('Empty in a collection that accounts share.'),
  sequence: z.int().describe('Position in creation order.'),
  item: jsonObject,
}).refine((row) => row.id.startsWith(`${placeId(row)}/`), {
  path: ['id'],
  error: 'the names of connector, collection and account, and the key, with a slash between them',
})

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
  collection_items: z.array(collectionItem).describe('What the fake third parties hold.'),
  counters: z.array(counter).describe('Running numbers that must not repeat after a restart.'),
})

const seed = strict({
  clients: z.array(client),
  settings: settings.partial().transform((given) => given as Partial<Settings>),
  connectors: z.array(strict(connectorFields)),
  connections: z.array(
    strict({
      key_id: text,
      id: text.exactOptional(),
      organization_id: text.exactOptional(),
      organization_name: text.exactOptional(),
      domains: texts.exactOptional(),
      enabled: z.boolean().exactOptional(),
      provider: text.exactOptional(),
      provider_key: text.exactOptional(),
      status: z.enum(CONNECTION_STATUSES).exactOptional(),
      type: z.enum(CONNECTION_TYPES).exactOptional(),
      mcp_server_url: text.exactOptional(),
    }),
  ),
  providers: z.array(
    strict({
      id: text.exactOptional(),
      identifier: text.exactOptional(),
      display_name: text,
      description: text.exactOptional(),
      icon_src: text.exactOptional(),
      auth_patterns: z.array(jsonObject).exactOptional(),
      categories: texts.exactOptional(),
      coming_soon: z.boolean().exactOptional(),
      display_priority: z.int().exactOptional(),
      metadata: textMap.exactOptional(),
      proxy_enabled: z.boolean().exactOptional(),
      proxy_url: text.exactOptional(),
    }),
  ),
  accounts: z.array(
    strict({
      id: text.exactOptional(),
      organization_id: text,
      user_id: text,
      connector: text,
      identifier: text,
      status: z.enum(ACCOUNT_STATUSES),
      api_config: jsonObject,
      authorization_details: z
        .custom<CredentialsPatch>(isJsonObject, { error: 'an object' })
        .meta({ type: 'object' })
        .exactOptional(),
      token_expires_at: instant.exactOptional(),
      last_used_at: instant.exactOptional(),
      collections: z.record(z.string().regex(COLLECTION_NAME), z.array(jsonObject)).exactOptional(),
    }),
  ),
  collections: z.array(strict({ connector: text, collection: text, items: z.array(jsonObject) })).exactOptional(),
  generate: z.array(
    strict({
      organization_id: text,
      user_id: text,
      accounts: z.int(),
      connector: text,
      status: z.enum(ACCOUNT_STATUSES),
    }),
  ),
})

const scenario = z
  .custom<Scenario>((value) => isJsonObject(value) && Array.isArray(value['rules']), { error: 'a scenario' })
  .meta({ type: 'object' })

const origin = strict({
  id: z.literal('origin'),
  seed: seed.describe('As it was written; a client id pattern in it makes environments from it.'),
  exact: seed.describe('With every account written out and every id decided.'),
  of_server: z.boolean().describe("Whether it is the server's seed."),
  clock: strict({ now: instant.optional(), frozen: z.boolean().optional() }),
  kept: strict({ connections: z.array(connection), providers: z.array(provider) }).describe(
    'The rows that carry ids which a seed need not name.',
  ),
  scenarios: z.array(scenario).optional().describe('Those that run from its start, beside those of the server.'),
  test: strict({ label: text, file: text.exactOptional(), line: z.int().exactOptional() })
    .optional()
    .describe('The test that it was made for.'),
})

const scenarioDefinition = strict({ id: text.describe('The name of the scenario.'), scenario })

const scenarioRun = strict({
  id: text.describe('The name of the scenario.'),
  running: z.boolean(),
  by_hand: z.boolean().describe('Whether it was started by the control API.'),
  started_at: z.int().describe("Milliseconds of the environment's clock."),
  state: text,
  rules: z.array(strict({ matched: z.int(), hits: z.int() })).describe('What each rule has counted.'),
})

const snapshot = strict({ id: text.describe('Its name.'), taken_at: instant, settings, clock, ids, tables })

/** What `PUT /_mock/state` takes. */
export const environmentStateSchema = strict({
  settings: settings.exactOptional(),
  clock: clock.exactOptional(),
  ids: ids.exactOptional(),
  tables,
})

export const environmentSchema = strict({
  settings,
  clock,
  ids,
  tables,
  origins: z.array(origin).max(1).describe('What the environment was made from, and what a reset goes back to.'),
  scenario_definitions: z.array(scenarioDefinition).describe('Those that came by the control API.'),
  scenario_runs: z.array(scenarioRun),
  snapshots: z.array(snapshot),
})

/** The state file: `{"version": 3, "state_id": "…", "generation": 7, "environments": {…}}`. */
export const stateSchema = strict({
  version: z.literal(3),
  state_id: text.describe('Random. Each write-ahead log names the state that it belongs to.'),
  generation: z
    .int()
    .min(1)
    .describe('The first write-ahead log that is not in this file, such as `state.json.wal.7`.'),
  request_ids: z
    .record(z.string(), z.int().min(0))
    .exactOptional()
    .describe('How many ids of requests were given out with `--id-seed`, by their use.'),
  environments: z
    .record(z.string().regex(ENVIRONMENT_NAME, { error: ENVIRONMENT_NAME_RULE }), environmentSchema)
    .describe('By name.'),
}).meta({
  title: 'The state of toolmock',
  description:
    'All environments. The server writes it at a clean stop and from time to time, with a write-ahead log of the commits since then beside it.',
})
export type StateDocument = z.infer<typeof stateSchema>
