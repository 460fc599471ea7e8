import { z } from 'zod'
import { ACCOUNT_STATUSES } from '../domain/account.ts'
import { AUTHORIZATION_TYPES, CONNECTION_TYPES } from '../domain/authorization-type.ts'
import { CONNECTION_STATUSES } from '../domain/connection.ts'
import { isJsonObject } from '../domain/json.ts'
import { type VocabularyWords, WIRE_WORD } from '../domain/vocabulary.ts'
import { connectorSchema } from './connector-schema.ts'
import {
  connectorName,
  duration,
  instantText,
  jsonObject,
  nonEmpty,
  schemaReference,
  strict,
  text,
  textMap,
} from './schema-parts.ts'

const client = strict({
  client_id: nonEmpty.describe('Or a pattern such as ci-*: each matching id gets an environment of its own.'),
  client_secret: nonEmpty,
})

/** Which words there are is checked in `vocabulary-checks.ts`, which knows the spec. */
const vocabulary = z
  .custom<VocabularyWords>(isJsonObject, { error: 'an object: words of the document, and those on the wire' })
  .meta({ type: 'object', additionalProperties: { type: 'string', pattern: WIRE_WORD.source } })

const settings = strict({
  bearer_token_lifetime: duration.optional(),
  magic_link_lifetime: duration.optional(),
  auth_request_lifetime: duration.optional(),
  require_user_verification: z.boolean().optional().describe('Links without user_verify_url end in an error page.'),
  consent: z.enum(['ask', 'approve', 'deny']).optional().describe('approve and deny decide every link at once.'),
  post_user_verify_redirect_url: text.optional().describe('What verify answers; empty: a page of the mock.'),
  vocabulary: vocabulary
    .optional()
    .describe(
      "The document's words and those on the wire in their place: WORKSPACE_DWD: ACME_DWD, workspace_dwd: acme_dwd.",
    ),
})

const connection = strict({
  id: nonEmpty.optional(),
  key_id: connectorName.describe(
    'A connector of that name gives the connection its type; the other fields may be set here.',
  ),
  organization_id: text.optional(),
  organization_name: text.optional(),
  domains: z.array(nonEmpty).optional(),
  enabled: z.boolean().optional(),
  provider: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/, { error: 'an upper-case name such as IDP_SIMULATOR' })
    .optional(),
  provider_key: text.optional(),
  status: z.enum(CONNECTION_STATUSES).optional(),
  type: z.enum(CONNECTION_TYPES).optional().describe('Required, unless a connector has this name.'),
  mcp_server_url: text.optional(),
})

const provider = strict({
  id: nonEmpty.optional(),
  identifier: connectorName.optional().describe('Generated from the display name when absent.'),
  display_name: z.string().min(1).max(100),
  description: text.optional(),
  icon_src: text.optional(),
  auth_patterns: z.array(jsonObject).optional(),
  categories: z.array(text).optional(),
  coming_soon: z.boolean().optional(),
  display_priority: z.int().min(-2147483648).max(2147483647).optional(),
  metadata: textMap.optional(),
  proxy_enabled: z.boolean().optional(),
  proxy_url: z
    .string()
    .regex(/^https:\/\//, { error: 'a URL that starts with https://' })
    .optional(),
})

const authorizationDetails = strict({
  oauth_token: strict({
    access_token: text.optional(),
    refresh_token: text.optional(),
    scopes: z.array(text).optional(),
    domain: text.optional(),
  }).optional(),
  static_auth: strict({ details: jsonObject.optional() }).optional(),
  workspace_dwd: strict({ subject: text.optional() }).optional(),
  trusted_idp: strict({ db_user: text.optional() }).optional(),
})

const scope = { organization_id: text.default(''), user_id: text.default('') }
const status = z.enum(ACCOUNT_STATUSES).default('ACTIVE')

const account = strict({
  id: z.string().regex(/^ca_./, { error: 'an id that starts with ca_' }).optional(),
  connector: nonEmpty,
  identifier: nonEmpty,
  ...scope,
  status,
  authorization_type: z.enum(AUTHORIZATION_TYPES).optional().describe("The connector's own type."),
  api_config: jsonObject.default({}),
  authorization_details: authorizationDetails
    .optional()
    .describe('Absent: generated credentials that the third party accepts, unless the status is PENDING_AUTH.'),
  token_expires_at: instantText.optional(),
  last_used_at: instantText.optional(),
})

const generate = strict({
  accounts: z.int().min(1).max(1_000_000),
  connector: nonEmpty,
  ...scope,
  status,
})

/** A seed file (`spec/schemas/seed.schema.json`): what a new environment starts with. */
export const seedSchema = strict({
  $schema: schemaReference,
  clients: z
    .array(client)
    .min(1)
    .optional()
    .describe('API credentials; without them test_client with test_secret stays.'),
  settings: settings.optional(),
  connectors: z
    .array(z.union([connectorName, connectorSchema]))
    .optional()
    .describe('Connectors in their order: names of connector files beside this seed, or connectors written out here.'),
  connections: z.array(connection).optional(),
  providers: z.array(provider).optional().describe('Custom providers.'),
  accounts: z.array(account).optional(),
  generate: z
    .union([generate, z.array(generate)])
    .optional()
    .describe('Accounts with invented identifiers.'),
})

export type SeedDocument = z.output<typeof seedSchema>
