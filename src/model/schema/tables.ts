import { z } from 'zod'
import { ACCOUNT_STATUSES } from '../domain/account.ts'
import { AUTHORIZATION_TYPES, CONNECTION_TYPES } from '../domain/authorization-type.ts'
import { BASE_URL_RULE } from '../domain/base-url.ts'
import { COLLECTION_NAME, STEP_ACTIONS } from '../domain/collection.ts'
import { CONNECTION_STATUSES } from '../domain/connection.ts'
import { CLOCK_RANGE, CLOCK_YEARS, MAX_DURATION } from '../domain/instant.ts'
import type { CredentialsPatch } from '../domain/credentials.ts'
import type { Scenario } from '../domain/scenario.ts'
import { EVENT_TYPES } from '../domain/webhook.ts'
import * as collections from './collections.ts'
import * as documents from './connector.ts'
import {
  connectorName,
  duration as givenDuration,
  instantText,
  jsonObject as givenObject,
  nonEmpty,
  strict,
  text,
  wholeNumber,
} from './parts.ts'
import {
  hasIdOfItsPlace,
  hasOneKind,
  isPlainObject,
  isPrivateKey,
  isScenario,
  isTimeOfClock,
  isUrlOfServer,
} from './row-checks.ts'
import { authPattern, metadata, vocabulary } from './seed-values.ts'
import {
  storedJson,
  storedDuration,
  storedInstant,
  storedJsonObject,
  storedForm,
  storedObject,
  storedShape,
  storedTextMap,
} from './stored.ts'

/*
 * The tables of an environment, each declared once. `npm run generate` makes of it the types of the rows, the order of
 * their fields in the state file, the account object of answers, and the checks of rows at the start; the schemas of
 * the state file and of seeds follow too. Each exported object becomes an interface of its name.
 */

/** What a seed file takes for a field; or that, what a row has where it does not follow from it, and which answers show it. */
type Field =
  | z.ZodType
  | {
      readonly row?: z.ZodType
      /** Absent for a field that no seed gives. */
      readonly seed?: z.ZodType
      /** In lists too, or only where one account is answered. A time that was never set is left out. */
      readonly shown?: 'always' | 'alone'
      /** Whether templates and matches see it. */
      readonly template?: true
    }
type Fields = Readonly<Record<string, Field>>

type SeedOf<F> = F extends z.ZodType ? F : F extends { seed: infer S extends z.ZodType } ? S : never
type RowOf<F> = F extends { row: infer R extends z.ZodType } ? R : z.ZodType<Exclude<z.output<SeedOf<F>>, undefined>>
type GivenBy<F extends Fields> = keyof { [Name in keyof F as SeedOf<F[Name]> extends never ? never : Name]: true }

function fieldSeed(field: Field): z.ZodType | undefined {
  return field instanceof z.ZodType ? field : field.seed
}

/** The row of a field, which has a value also where a seed gives none. */
function fieldRow<F extends Field>(field: F): RowOf<F> {
  const seed = fieldSeed(field) ?? text
  const ownRow = 'row' in field ? field.row : undefined
  return (ownRow ?? storedForm(seed instanceof z.ZodOptional ? (seed.unwrap() as z.ZodType) : seed)) as RowOf<F>
}

function rowShape<F extends Fields>(fields: F): { [Name in keyof F]: RowOf<F[Name]> } {
  const rows = Object.entries(fields).map(([name, field]) => [name, fieldRow(field)])
  return Object.fromEntries(rows) as { [Name in keyof F]: RowOf<F[Name]> }
}

/** The fields that a seed file takes. */
export function seedShape<F extends Fields>(fields: F): { [Name in GivenBy<F>]: SeedOf<F[Name]> } {
  const seedFields = Object.entries(fields).flatMap(([name, field]) => [[name, fieldSeed(field)] as const])
  return Object.fromEntries(seedFields.filter(([, seed]) => seed)) as { [Name in GivenBy<F>]: SeedOf<F[Name]> }
}

const texts = z.array(text)
const scenarioDocument = z.custom<Scenario>(isScenario, { error: 'a scenario' }).meta({ type: 'object' })

export const givenMcpSettings = strict({
  page_size: wholeNumber(1, 1000).exactOptional().describe('How many tools a page of tools/list has. Absent: all.'),
  sessions: z
    .boolean()
    .exactOptional()
    .describe('Whether clients of revisions that have sessions get and need one. Absent: no.'),
})
export const mcpSettings = storedObject(givenMcpSettings)

const optional = <Type extends z.ZodType>(type: Type, description: string) => ({
  row: type.exactOptional(),
  seed: type.optional().describe(description),
})

export const settingsFields = {
  bearer_token_lifetime: givenDuration
    .optional()
    .describe('How long a bearer token of the service is valid. Absent: 23h59m59s.'),
  magic_link_lifetime: givenDuration.optional().describe('How long a magic link can be followed. Absent: 15m.'),
  auth_request_lifetime: givenDuration
    .optional()
    .describe('How long after consent a user can be verified. Absent: 10m.'),
  require_user_verification: z
    .boolean()
    .optional()
    .describe('Whether links without user_verify_url end in an error page. Absent: no.'),
  consent: z
    .enum(['ask', 'approve', 'deny'])
    .optional()
    .describe('ask shows the consent page; approve and deny decide every link at once. Absent: ask.'),
  revocation: optional(
    z.enum(['reversible', 'final']),
    'final: the credentials of deleted or disconnected accounts are refused permanently. reversible: stored again, they count as new. Absent: reversible.',
  ),
  virtual_mcp: optional(
    z.boolean(),
    'Whether connections have virtual MCP servers; all have them with --mcp. Absent: no.',
  ),
  mcp: {
    row: mcpSettings.exactOptional(),
    seed: givenMcpSettings.optional().describe('How virtual MCP servers answer.'),
  },
  descriptor_rules: optional(
    z.enum(['enforce', 'warn', 'off']),
    "What holds of the buf.validate rules in the client's descriptors: enforce refuses a breach with 400, warn notes it. Absent: enforce.",
  ),
  post_user_verify_redirect_url: text.optional().describe('What verify answers. Absent or empty: a page of the mock.'),
  vocabulary: vocabulary
    .optional()
    .describe(
      "The document's words, and those on the wire in their place: { WORKSPACE_DWD: ACME_DWD, workspace_dwd: acme_dwd }.",
    ),
} as const satisfies Fields

export const settings = strict(rowShape(settingsFields))

export const clockState = strict({
  offset_ms: z
    .int()
    .min(-MAX_DURATION * 10)
    .max(CLOCK_RANGE.latest)
    .describe('Added to real time while the clock runs.'),
  frozen_at: storedInstant
    .refine(isTimeOfClock, { error: `an instant in ${CLOCK_YEARS}` })
    .nullable()
    .describe('The time of a frozen clock; null while it runs.'),
})

export const idsState = strict({
  seed: z.int(),
  position: z.int().describe('How many ids were given out.'),
})
export const ids = idsState.nullable().describe('The position in the sequence of seeded ids; null when ids are random.')

/** Lines of a shell, of a log and of a header have them. */
const credential = z.string().regex(/^[^\p{Cc}]*$/u, { error: 'a text without control characters' })

export const client = strict({ id: credential.describe('The client_id.'), client_secret: credential })

const expired = z
  .literal(true)
  .exactOptional()
  .describe('Somebody has met it expired: it stays so when the clock is set back.')

export const bearerToken = strict({
  id: text.describe('The token itself; the digest of a session token that was met expired.'),
  client_id: text,
  expires_at: storedInstant,
  expired,
  revoked_at: storedInstant.exactOptional(),
})

export const connectionFields = {
  id: nonEmpty.optional().describe('Absent: a generated one.'),
  key_id: connectorName.describe(
    'Its name in requests. A connector of that name gives the connection its type and tools.',
  ),
  organization_id: text.optional().describe('The organization that it belongs to.'),
  organization_name: text.optional().describe('The name of that organization.'),
  domains: z.array(nonEmpty).optional().describe('The mail domains of that organization.'),
  enabled: z.boolean().optional().describe('With false, links and tools answer CONNECTION_DISABLED. Absent: true.'),
  provider: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/, { error: 'an upper-case name such as IDP_SIMULATOR' })
    .optional()
    .describe('An upper-case name such as IDP_SIMULATOR. Absent: CUSTOM.'),
  provider_key: text
    .optional()
    .describe(
      'The name of its provider. Absent: key_id. Where no connector is named key_id, the one of this name or provider gives the connection its type, tools, sign-in and third party.',
    ),
  status: z.enum(CONNECTION_STATUSES).optional().describe('How far its set-up is. Absent: COMPLETED.'),
  type: z
    .enum(CONNECTION_TYPES)
    .optional()
    .describe('Required, unless a connector has the name of the connection or its provider.'),
  mcp_server_url: text.optional().describe('What the list of connections shows. Absent: empty.'),
} as const satisfies Fields

export const providerFields = {
  id: nonEmpty.optional().describe('Absent: a generated one.'),
  identifier: connectorName.optional().describe('Its name in requests. Absent: made from display_name.'),
  display_name: z
    .string()
    .min(1)
    .max(200)
    .describe('What lists show; a connector with this custom_provider serves it.'),
  description: text.optional().describe('What lists show.'),
  icon_src: text.optional().describe('The URL of its icon.'),
  auth_patterns: z
    .array(authPattern)
    .optional()
    .describe('How accounts sign in: type is the authorization type, fields drive the credentials form.'),
  categories: z.array(text).optional().describe('What lists show.'),
  coming_soon: z.boolean().optional().describe('What lists show. Absent: false.'),
  display_priority: z.int().min(-2147483648).max(2147483647).optional().describe('What lists show. Absent: 0.'),
  is_custom: { row: z.boolean() },
  is_custom_mcp: { row: z.boolean() },
  metadata: metadata.optional().describe('At most 20 pairs: keys of 3 to 25 characters, values of 1 to 256.'),
  proxy_enabled: z.boolean().optional().describe('Kept and returned. Absent: false.'),
  proxy_url: z
    .string()
    .regex(/^https:\/\/[^\s\p{Cc}]+$/u, { error: 'a URL that starts with https://' })
    .optional()
    .describe('A URL that starts with https://; kept and returned, never called.'),
  created_as: {
    row: text.exactOptional().describe('The display name that it was created with, once it has changed; not answered.'),
  },
} as const satisfies Fields

export const credentialField = storedObject(documents.field, { label: text, secret: z.boolean() })

export const tool = storedObject(documents.toolDocument, {
  display_name: text,
  call: storedObject(documents.toolDocument.shape.call, {
    body: storedJson.describe('JSON whose texts are templates; null for no body.'),
    timeout: z.number().min(0).max(MAX_DURATION).describe('How long the service waits for the third party.'),
  }),
  result: storedJsonObject
    .nullable()
    .describe("A template over response, input and account; null passes the answer's body on."),
})

export const collection = storedObject(collections.collectionDocument)
export const stepResponse = storedObject(collections.otherwise)
export const listPage = storedObject(collections.pageRules)

export const step = strict({
  action: z.enum(STEP_ACTIONS),
  collection: text.describe('The name of the collection; empty for refuse.'),
  ...storedShape(collections.stepKeys, {
    as: text.describe('The name under which later steps and the answer see the result.'),
    page: listPage.exactOptional(),
    otherwise: stepResponse.exactOptional(),
  }),
  when: storedJsonObject.exactOptional().describe('When refuse refuses: conditions on the variables of templates.'),
})

export const responderMatch = strict({
  method: text.optional(),
  path: text
    .optional()
    .describe('Literal parts, * for any text inside one, {name} for one part as request.params.name.'),
  query: storedJsonObject.exactOptional(),
  headers: storedJsonObject.exactOptional(),
  body: storedJsonObject.exactOptional().describe('Dotted path into the JSON body, and a value, glob or matcher.'),
  account: storedJsonObject.exactOptional().describe('Account field, and a value, glob or matcher.'),
})
export const cannedResponse = strict({
  status: z.int(),
  headers: storedTextMap,
  body: storedJson.describe('A template; null for an empty body.'),
})
export const responder = strict({
  on: responderMatch.describe('Matching is by value, dotted path, glob, { equals: VALUE } and { matches: PATTERN }.'),
  steps: z.array(step).exactOptional().describe('What it does with collections before it answers.'),
  answers: z.array(cannedResponse).describe('One answer for respond, several for sequence.'),
  per: z.literal('account').exactOptional().describe('Each account has a sequence of its own.'),
  after_last: z
    .enum(['repeat', 'restart', 'next'])
    .describe(
      'What follows the last of a sequence: the last again, the first again, or the next responder that matches.',
    ),
})

export const rateLimit = storedObject(documents.rateLimitDocument, {
  every: storedDuration,
  otherwise: stepResponse.exactOptional(),
})

const { oauth, credentials: form } = documents.connectorDocument.shape
export const connector = storedObject(documents.connectorDocument, {
  display_name: text,
  authorization_type: z.enum(AUTHORIZATION_TYPES),
  oauth: storedObject(oauth.unwrap(), {
    refresh_token: z.enum(['keep', 'rotate', 'none']),
    reuse_interval: storedDuration.exactOptional(),
  }),
  cluster: z.enum(['provisioned', 'serverless']).describe('Of TRUSTED_IDP: provisioned clusters need db_user.'),
  credentials: storedObject(form.unwrap(), {
    fields: z.array(credentialField).describe('What the credentials form asks for, in order.'),
    send: storedObject(form.unwrap().shape.send.unwrap()).describe(
      'How static credentials are sent: templates by name.',
    ),
  }),
  base_url: text
    .refine(isUrlOfServer, { error: BASE_URL_RULE })
    .nullable()
    .describe('A server that the user runs, in place of the responders; null for the one in this process.'),
  custom_provider: text
    .nullable()
    .describe('Gives its tools and responders to custom providers created with this display name.'),
  tools: z.array(tool),
  collections: z.record(z.string().regex(COLLECTION_NAME), collection).exactOptional().describe('By name.'),
  responders: z.array(responder),
  rate_limit: rateLimit.exactOptional(),
  latency: z
    .array(z.tuple([z.number().min(0).max(1), z.number().min(0).max(MAX_DURATION)]))
    .exactOptional()
    .describe('Milliseconds by share of the calls; straight lines lead from point to point.'),
})

export const oauthToken = strict({
  access_token: text,
  refresh_token: text.describe('Empty when there is none.'),
  scopes: texts,
  domain: text,
})
export const workspaceDwd = strict({
  subject: text,
  access_token: text,
  scopes: texts,
  token_expires_at: storedInstant.exactOptional(),
})
export const trustedIdp = strict({
  db_user: text,
  access_key_id: text,
  expiry: storedInstant.exactOptional(),
  secret_access_key: text.describe('Never returned in public responses (2.2).'),
  session_token: text.describe('Never returned in public responses (2.2).'),
})
export const credentials = strict({
  oauth_token: oauthToken.exactOptional(),
  static_auth: strict({ details: storedJsonObject }).exactOptional(),
  workspace_dwd: workspaceDwd.exactOptional(),
  trusted_idp: trustedIdp.exactOptional(),
})
  .refine(hasOneKind, { error: 'one kind of credentials' })
  .describe('At most one sub-object, the one that fits the authorization type.')

/** As a seed file or a request may give it (2.2). */
export const credentialsPatch = strict({
  oauth_token: strict({
    access_token: text.optional().describe('The access token.'),
    refresh_token: text.optional().describe('The refresh token.'),
    scopes: z.array(text).optional().describe('The scopes of the token.'),
    domain: text.optional().describe('Workspace or organisation domain of the token.'),
  })
    .optional()
    .describe('Of OAUTH, SMART_FHIR, OAUTH_M2M and TRACKER_OAUTH1.'),
  static_auth: strict({ details: givenObject.optional().describe('The credentials, by field of the form.') })
    .optional()
    .describe('Of API_KEY, BASIC_AUTH, BASIC, BEARER_TOKEN and CUSTOM.'),
  workspace_dwd: strict({ subject: text.optional().describe('Whom the service acts for. Absent: identifier.') })
    .optional()
    .describe('Of WORKSPACE_DWD.'),
  trusted_idp: strict({ db_user: text.optional().describe('The user of the database.') })
    .optional()
    .describe('Of TRUSTED_IDP.'),
})

export const accountFields = {
  id: {
    seed: z
      .string()
      .regex(/^ca_./, { error: 'an id that starts with ca_' })
      .optional()
      .describe('An id that starts with ca_. Absent: a generated one.'),
    shown: 'always',
    template: true,
  },
  sequence: { row: z.int().min(1).describe('Position in creation order, which is the order of lists; never reused.') },
  organization_id: {
    seed: text.default('').describe('The organization that the account belongs to.'),
    template: true,
  },
  user_id: { seed: text.default('').describe('The user that the account belongs to.'), template: true },
  connection_id: { row: text, shown: 'always' },
  connector: {
    seed: nonEmpty.describe('The connector, or the identifier of a custom provider.'),
    shown: 'always',
    template: true,
  },
  provider: { row: text, shown: 'always' },
  identifier: {
    seed: z
      .string()
      .max(1000)
      .regex(/\S/, { error: 'a text that is not blank' })
      .describe('Whose account it is, in the words of your application: an e-mail address, an id.'),
    shown: 'always',
    template: true,
  },
  authorization_type: { row: z.enum(AUTHORIZATION_TYPES), shown: 'always' },
  status: {
    seed: z.enum(ACCOUNT_STATUSES).default('ACTIVE').describe('The state at the start.'),
    shown: 'always',
  },
  token_expires_at: {
    row: storedInstant.exactOptional(),
    seed: instantText.optional().describe('When the access token expires. Absent: after its lifetime.'),
    shown: 'always',
  },
  token_expired: { row: expired },
  last_used_at: {
    row: storedInstant.exactOptional(),
    seed: instantText.optional().describe('When a tool was last executed. Absent: never.'),
    shown: 'always',
  },
  updated_at: { row: storedInstant, shown: 'always' },
  api_config: {
    seed: givenObject.default({}).describe('Settings of the account that templates see.'),
    shown: 'alone',
    template: true,
  },
  credentials: { row: credentials.describe('Live credentials: those that tools run with.') },
  pending: {
    row: strict({ credentials, token_expires_at: storedInstant.exactOptional(), token_expired: expired })
      .exactOptional()
      .describe('Credentials that wait for verification; their lifetime counts from when they were issued.'),
  },
} as const satisfies Fields

export const connectorRow = strict({ id: text.describe('The same as connector.'), ...connector.shape })
export const connection = strict(rowShape(connectionFields))
export const provider = strict(rowShape(providerFields))
export const account = strict(rowShape(accountFields))

export const magicLink = strict({
  id: text.describe('The opaque part of the link.'),
  account_id: text,
  oauth_state: text.describe("Ties the third party's redirect back to this link: state of the authorize request."),
  user_verify_url: text.describe('Empty when the caller gave none.'),
  state: text.nullable().describe("The caller's opaque value, passed on as it came; null when there was none."),
  expires_at: storedInstant,
  expired,
  completed_at: storedInstant.exactOptional().describe('Set once its flow has completed; from then on it answers 410.'),
})

export const authRequest = strict({
  id: text,
  account_id: text,
  identifier: text.describe("The identifier of the link's account, not that of the person who signed in."),
  expires_at: storedInstant,
  outcome: z
    .enum(['pending', 'consumed', 'expired', 'superseded', 'withdrawn'])
    .describe('Only a pending one can be verified. withdrawn: the account lost what the consent was for.'),
})

export const grant = strict({
  id: text,
  connector: text,
  account_id: text.describe('The account whose credentials these are; empty when the token request named none.'),
  person: text.describe('Who signed in.'),
  scopes: texts,
  access: text.describe('What a call presents: an access token, a key id, or the static headers as one string.'),
  secret: text.describe('The secret that signs requests; empty for types that do not sign.'),
  refresh_token: text.describe('Empty when there is none.'),
  expires_at: storedInstant.exactOptional().describe('When the access token stops working; absent when never.'),
  expired,
  revoked: z.boolean(),
  refresh_revoked: z.boolean(),
  replaced_at: storedInstant
    .exactOptional()
    .describe('When another refresh token replaced this one, of connectors with reuse_interval.'),
  final: z
    .literal(true)
    .exactOptional()
    .describe('Refused permanently, for every account that presents it (settings.revocation).'),
})

export const authorizationCode = strict({
  id: text.describe('The code itself.'),
  connector: text,
  person: text,
  scopes: texts,
  redirect_uri: text,
  expires_at: storedInstant,
})

export const collectionItem = strict({
  id: text.describe('Connector, collection, account and key.'),
  connector: text,
  collection: text,
  account_id: text.describe('Empty in a collection that accounts share.'),
  sequence: z.int().describe('Position in creation order.'),
  item: storedJsonObject,
}).refine(hasIdOfItsPlace, {
  path: ['id'],
  error: 'the names of connector, collection and account, and the key, with a slash between them',
})

export const mcpMapping = strict({
  connection_name: text.describe('The key_id of a connection.'),
  tools: texts.describe('In the order in which they are listed; empty for every tool of the connection.'),
})

export const mcpConfig = strict({
  id: text,
  name: text,
  description: text,
  uuid: text.describe('The last part of the URL of its virtual MCP server.'),
  connection_tool_mappings: z.array(mcpMapping),
})

export const mcpInstance = strict({
  id: text,
  name: text,
  user_identifier: text.describe('The identifier of its user.'),
  config_id: text.describe('The config whose connections it has.'),
  uuid: text.describe('The last part of its URL.'),
  last_used_at: storedInstant.exactOptional().describe('When a tool was last executed. Absent: never.'),
  updated_at: storedInstant,
})

export const mcpKey = strict({
  id: text.describe('The kid of its tokens: its thumbprint (RFC 7638).'),
  n: text.describe('The modulus of its public key, as in a JWK.'),
  e: text.describe('The exponent of its public key.'),
  private_key: text.refine(isPrivateKey, { error: 'an RSA private key in PEM' }),
})

/** However long one counts on from there, it stays a whole number. */
export const counter = strict({ id: text, value: z.int().max(1_000_000_000_000_000) })

export const tables = strict({
  clients: z.array(client),
  bearer_tokens: z.array(bearerToken),
  connections: z.array(connection).describe('In the order in which they are listed.'),
  providers: z.array(provider),
  connectors: z.array(connectorRow),
  accounts: z.array(account),
  magic_links: z.array(magicLink),
  auth_requests: z.array(authRequest),
  grants: z.array(grant).describe('What the fake third parties know of credentials.'),
  authorization_codes: z.array(authorizationCode),
  collection_items: z.array(collectionItem).describe('What the fake third parties hold.'),
  mcp_configs: z.array(mcpConfig).describe('Virtual MCP servers of several connections.'),
  mcp_instances: z.array(mcpInstance).describe('Virtual MCP servers of a config for one user.'),
  mcp_keys: z.array(mcpKey).describe('The key that signs session tokens, from the first token on.'),
  counters: z
    .array(counter)
    .describe('Running numbers that must not repeat after a restart: account_sequence, calls of responders, items.'),
})

export const seedConnection = strict(storedShape(seedShape(connectionFields)))
export const seedProvider = strict(storedShape(seedShape(providerFields)))
export const seedAccount = strict({
  ...storedShape(seedShape(accountFields)),
  authorization_details: z
    .custom<CredentialsPatch>(isPlainObject, { error: 'an object' })
    .meta({ type: 'object' })
    .exactOptional()
    .describe('Absent: generated credentials that its third party accepts.'),
  collections: z
    .record(z.string().regex(COLLECTION_NAME), z.array(storedJsonObject))
    .exactOptional()
    .describe('What its collections hold in place of the items of the connector file, by name.'),
})
const { organization_id, user_id, status } = seedShape(accountFields)
/** As a seed file gives it, and so are the items. */
export const generateFields = {
  accounts: wholeNumber(1, 1_000_000).describe('How many.'),
  connector: nonEmpty.describe('Their connector.'),
  organization_id,
  user_id,
  status,
} as const satisfies Fields
export const sharedItemsFields = {
  connector: nonEmpty.describe('The connector whose file has the collection.'),
  collection: nonEmpty.describe('The name of the collection.'),
  items: z.array(givenObject).describe('Its items, as they are: no templates, no fields.'),
} as const satisfies Fields
export const seedGenerate = strict(storedShape(generateFields))
export const seedCollection = strict(storedShape(sharedItemsFields))

export const webhook = strict({
  id: text.describe('Its name.'),
  url: text,
  secret: text.exactOptional().describe('What events are signed with.'),
  secrets: texts.exactOptional().describe('Several of them, the newest first: each signs.'),
  types: z.array(z.enum(EVENT_TYPES)).describe('The events that it gets.'),
})

export const webhookDelivery = strict({
  id: text.describe('The id of the event, a slash, and the name of the webhook.'),
  event_id: text,
  webhook: text.describe('The name of the webhook.'),
  type: z.enum(EVENT_TYPES),
  account_id: text,
  connector: text,
  identifier: text,
  body: text.describe('As it is sent.'),
  sequence: z.int().describe('Position in the order of events.'),
  attempts: z.int().describe('How many have failed.'),
  due_at: storedInstant.describe("When the next attempt is made, by the environment's clock."),
  cause: text.nullable().describe('The id of the request that caused the event; null when the clock did.'),
})

/** A seed file once it is read, with every default filled in. */
export const seedBundle = strict({
  clients: z.array(client).describe('Patterns such as ci-* among them.'),
  settings: strict(storedShape(seedShape(settingsFields))),
  connectors: z.array(connector),
  connections: z.array(seedConnection),
  providers: z.array(seedProvider),
  accounts: z.array(seedAccount),
  collections: z
    .array(seedCollection)
    .exactOptional()
    .describe('What shared collections hold in place of the items of their connector files.'),
  generate: z.array(seedGenerate),
  webhooks: z.array(webhook).exactOptional().describe('Where events are sent.'),
})

export const baseline = strict({
  id: z.literal('origin'),
  seed: seedBundle.describe('As it was written; a client id pattern in it makes environments from it.'),
  exact: seedBundle.describe(
    'With every account written out and every id decided, so that each reset brings the same rows back.',
  ),
  of_server: z.boolean().describe("Whether it is the server's seed, whose changes this environment then follows."),
  clock: strict({
    now: storedInstant.optional().describe('Real time when absent.'),
    frozen: z.boolean().optional(),
  }),
  kept: strict({ connections: z.array(connection), providers: z.array(provider) }).describe(
    'The rows that carry ids which a seed need not name.',
  ),
  scenarios: z
    .array(scenarioDocument)
    .optional()
    .describe('Those that run from its start, beside those of the server.'),
  test: strict({ label: text, file: text.exactOptional(), line: z.int().exactOptional() })
    .optional()
    .describe('The test that it was made for.'),
})

export const scenarioDefinition = strict({ id: text.describe('The name of the scenario.'), scenario: scenarioDocument })

const shadow = strict({ scenario: text, rule: text, requests: z.int() }).describe(
  'A rule that ended requests on which this one would have fired.',
)

export const storedScenarioRun = strict({
  id: text.describe('The name of the scenario.'),
  running: z.boolean(),
  started_manually: z.boolean().describe('Whether it was started by the control API.'),
  started_at: z.int().describe("Milliseconds of the environment's clock."),
  state: text,
  rules: z
    .array(
      strict({
        matched: z.int(),
        hits: z.int(),
        shadowed_by: z.array(shadow).exactOptional(),
        of_accounts: z
          .record(z.string(), z.int())
          .exactOptional()
          .describe('With per: account, how many requests of each account it has counted.'),
      }),
    )
    .describe('What each rule has counted, in their order.'),
})

export const snapshot = strict({
  id: text.describe('The name that a user gave it.'),
  taken_at: storedInstant.describe("In the environment's own time."),
  settings,
  clock: clockState,
  ids,
  tables,
})

/** In commits, the log and the state file only: `GET /_mock/state`, snapshots and resets leave them alone (G63). */
export const sections = strict({
  origins: z.array(baseline).max(1).describe('What the environment was made from, and what a reset goes back to.'),
  scenario_definitions: z.array(scenarioDefinition).describe('Those that came by the control API.'),
  scenario_runs: z.array(storedScenarioRun),
  snapshots: z.array(snapshot),
  webhooks: z.array(webhook).describe('Where events are sent (G68).'),
  webhook_deliveries: z.array(webhookDelivery).describe('Events that no webhook has acknowledged yet.'),
})
