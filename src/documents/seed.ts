import { z } from 'zod'
import { ACCOUNT_STATUSES } from '../domain/account.ts'
import type { CredentialsPatch } from '../domain/credentials.ts'
import { AUTHORIZATION_TYPES, CONNECTION_TYPES } from '../domain/authorization-type.ts'
import { CONNECTION_STATUSES } from '../domain/connection.ts'
import type { Connector } from '../domain/connector.ts'
import { isJsonObject, own, present } from '../domain/json.ts'
import type { SeedAccount, SeedBundle } from '../domain/seed.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { plural, quote } from '../domain/text.ts'
import { isErrorCode } from '../domain/errors.ts'
import { type VocabularyWords, WIRE_WORD } from '../domain/vocabulary.ts'
import { shown } from '../schema/problems.ts'
import {
  accepted,
  connectorName,
  duration,
  instantText,
  jsonObject,
  nonEmpty,
  schemaReference,
  strict,
  text,
  textMap,
  unique,
  withRule,
} from '../schema/parts.ts'
import { collectionItems } from './collections.ts'
import { connectorSchema, toConnector } from './connector.ts'

const client = strict({
  client_id: nonEmpty.describe('Its id, or a pattern such as ci-*: each matching id gets an environment of its own.'),
  client_secret: nonEmpty.describe('What token requests with this id must send.'),
})

/** Words of the document and those on the wire in their place (G48); which words there are is in `seed-checks.ts`. */
const vocabulary = withRule(
  accepted<VocabularyWords>(isJsonObject, 'an object: words of the document, and those on the wire').meta({
    type: 'object',
    additionalProperties: { type: 'string', pattern: WIRE_WORD.source },
  }),
  (words, report) => {
    const first = new Map<string, string>()
    for (const [word, wire] of Object.entries(words)) {
      if (typeof wire !== 'string' || !WIRE_WORD.test(wire)) {
        report([word], { allowed: 'one or more letters, digits and underscores' })
        continue
      }
      const before = first.get(wire)
      if (before === undefined) first.set(wire, word)
      else if (!isErrorCode(before) || !isErrorCode(word))
        report([word], { found: `${shown(wire)}, which ${before} has already`, allowed: 'another word for each' })
    }
  },
)

const settings = strict({
  bearer_token_lifetime: duration
    .optional()
    .describe('How long a bearer token of the service is valid. Absent: 23h59m59s.'),
  magic_link_lifetime: duration.optional().describe('How long a magic link can be followed. Absent: 15m.'),
  auth_request_lifetime: duration.optional().describe('How long after consent a user can be verified. Absent: 10m.'),
  require_user_verification: z
    .boolean()
    .optional()
    .describe('Whether links without user_verify_url end in an error page. Absent: no.'),
  consent: z
    .enum(['ask', 'approve', 'deny'])
    .optional()
    .describe('ask shows the consent page; approve and deny decide every link at once. Absent: ask.'),
  revocation: z
    .enum(['reversible', 'final'])
    .optional()
    .describe(
      'final: the credentials of deleted or disconnected accounts are refused permanently. reversible: stored again, they count as new. Absent: reversible.',
    ),
  post_user_verify_redirect_url: text.optional().describe('What verify answers. Absent or empty: a page of the mock.'),
  vocabulary: vocabulary
    .optional()
    .describe(
      "The document's words, and those on the wire in their place: { WORKSPACE_DWD: ACME_DWD, workspace_dwd: acme_dwd }.",
    ),
})

const connection = strict({
  id: nonEmpty.optional().describe('Absent: a generated one.'),
  key_id: connectorName.describe('Its name in requests. A connector of that name gives the connection its type.'),
  organization_id: text.optional().describe('The organization that it belongs to.'),
  organization_name: text.optional().describe('The name of that organization.'),
  domains: z.array(nonEmpty).optional().describe('The mail domains of that organization.'),
  enabled: z.boolean().optional().describe('With false, links and tools answer CONNECTION_DISABLED. Absent: true.'),
  provider: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/, { error: 'an upper-case name such as IDP_SIMULATOR' })
    .optional()
    .describe('An upper-case name such as IDP_SIMULATOR. Absent: CUSTOM.'),
  provider_key: text.optional().describe('The name of its provider. Absent: key_id.'),
  status: z.enum(CONNECTION_STATUSES).optional().describe('How far its set-up is. Absent: COMPLETED.'),
  type: z.enum(CONNECTION_TYPES).optional().describe('Required, unless a connector has this name.'),
  mcp_server_url: text.optional().describe('What the list of connections shows. Absent: empty.'),
})

/** The bounds of part 8. Characters are counted as JSON Schema counts them. */
const metadata = withRule(textMap, (pairs, report) => {
  const count = Object.keys(pairs).length
  if (count > 20) report([], { found: `an object of ${plural(count, 'pair')}`, allowed: 'at most 20 pairs' })
  for (const [key, value = ''] of Object.entries(pairs)) {
    const [keyLength, length] = [Array.from(key).length, Array.from(value).length]
    if (keyLength < 3 || keyLength > 25) {
      const found = `a key of ${plural(keyLength, 'character')}`
      report([key], { found, allowed: 'keys of 3 to 25 characters', atKey: true })
    }
    if (length < 1 || length > 256) {
      report([key], { found: `a value of ${plural(length, 'character')}`, allowed: 'values of 1 to 256 characters' })
    }
  }
}).meta({
  type: 'object',
  maxProperties: 20,
  propertyNames: { minLength: 3, maxLength: 25 },
  additionalProperties: { type: ['string', 'number', 'boolean'], minLength: 1, maxLength: 256 },
})

const PATTERN_TYPES = [...AUTHORIZATION_TYPES, 'BEARER']

/** An item of `auth_patterns`: free, but for the type of the accounts (G38). */
const authPattern = withRule(jsonObject, ({ type = null }, report) => {
  if (type === null || (typeof type === 'string' && PATTERN_TYPES.includes(type))) return
  const hint = typeof type === 'string' ? didYouMean(type, PATTERN_TYPES) : ''
  report(['type'], { found: `${shown(type)}${hint}`, allowed: PATTERN_TYPES.join(', ') })
})

const provider = strict({
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
  metadata: metadata.optional().describe('At most 20 pairs: keys of 3 to 25 characters, values of 1 to 256.'),
  proxy_enabled: z.boolean().optional().describe('Kept and returned. Absent: false.'),
  proxy_url: z
    .string()
    .regex(/^https:\/\/[^\s\p{Cc}]+$/u, { error: 'a URL that starts with https://' })
    .optional()
    .describe('A URL that starts with https://; kept and returned, never called.'),
})

const authorizationDetails = strict({
  oauth_token: strict({
    access_token: text.optional().describe('The access token.'),
    refresh_token: text.optional().describe('The refresh token.'),
    scopes: z.array(text).optional().describe('The scopes of the token.'),
    domain: text.optional().describe('Workspace or organisation domain of the token.'),
  })
    .optional()
    .describe('Of OAUTH, SMART_FHIR, OAUTH_M2M and TRACKER_OAUTH1.'),
  static_auth: strict({ details: jsonObject.optional().describe('The credentials, by field of the form.') })
    .optional()
    .describe('Of API_KEY, BASIC_AUTH, BASIC, BEARER_TOKEN and CUSTOM.'),
  workspace_dwd: strict({ subject: text.optional().describe('Whom the service acts for. Absent: identifier.') })
    .optional()
    .describe('Of WORKSPACE_DWD.'),
  trusted_idp: strict({ db_user: text.optional().describe('The user of the database.') })
    .optional()
    .describe('Of TRUSTED_IDP.'),
})

const scope = {
  organization_id: text.default('').describe('The organization that the account belongs to.'),
  user_id: text.default('').describe('The user that the account belongs to.'),
}
const status = z.enum(ACCOUNT_STATUSES).default('ACTIVE').describe('The state at the start.')

const account = strict({
  id: z
    .string()
    .regex(/^ca_./, { error: 'an id that starts with ca_' })
    .optional()
    .describe('An id that starts with ca_. Absent: a generated one.'),
  connector: nonEmpty.describe('The connector, or the identifier of a custom provider.'),
  identifier: nonEmpty.describe('Whose account it is, in the words of your application: an e-mail address, an id.'),
  ...scope,
  status,
  authorization_type: z.enum(AUTHORIZATION_TYPES).optional().describe("The connector's own type. Absent: the same."),
  api_config: jsonObject.default({}).describe('Settings of the account that templates see.'),
  authorization_details: authorizationDetails
    .optional()
    .describe(
      'Its credentials. Absent: generated ones that the third party accepts, unless the status is PENDING_AUTH.',
    ),
  token_expires_at: instantText.optional().describe('When the access token expires. Absent: after its lifetime.'),
  last_used_at: instantText.optional().describe('When a tool was last executed. Absent: never.'),
  collections: collectionItems
    .optional()
    .describe(
      'Items of its collections, by name, in place of all that the connector file gives, generated ones among them.',
    ),
})

const accounts = withRule(unique(account, 'id'), (list, report) => {
  const first = new Map<string, number>()
  for (const [index, item] of list.entries()) {
    if (!isJsonObject(item)) continue
    const scope = ['organization_id', 'user_id'].map((field) => own(item, field) ?? '')
    const key = JSON.stringify([own(item, 'connector'), own(item, 'identifier'), ...scope])
    const before = first.get(key)
    if (before === undefined) first.set(key, index)
    else {
      const found = `the identifier of accounts[${before}] for the second time`
      report([index, 'identifier'], { found, allowed: 'each identifier once for each connector and scope' })
    }
  }
})

const generate = strict({
  accounts: z.int().min(1).max(1_000_000).describe('How many.'),
  connector: nonEmpty.describe('Their connector.'),
  ...scope,
  status,
})

/** A seed file (`spec/schemas/seed.schema.json`): what a new environment starts with. */
export const seedSchema = strict({
  $schema: schemaReference,
  clients: unique(client, 'client_id')
    .min(1)
    .optional()
    .describe('Client credentials. Absent: test_client with test_secret.'),
  settings: settings
    .optional()
    .describe('Lifetimes and ways of an environment; the last seed file that sets one wins.'),
  connectors: withRule(z.array(z.union([connectorName, connectorSchema])), (connectors, report) => {
    const names = new Set<unknown>()
    for (const [index, item] of connectors.entries()) {
      const name = isJsonObject(item) ? own(item, 'connector') : item
      const path = isJsonObject(item) ? [index, 'connector'] : [index]
      if (typeof name !== 'string') continue
      if (names.has(name)) report(path, { found: `${quote(name)} for the second time`, allowed: 'each connector once' })
      names.add(name)
    }
  })
    .optional()
    .describe('Connectors in their order: names of connector files beside this seed, or connectors written out here.'),
  connections: unique(connection, 'key_id', 'id')
    .optional()
    .describe('Connections beside those that connectors have, or other fields of those.'),
  providers: unique(provider, 'identifier', 'id').optional().describe('Custom providers.'),
  accounts: accounts.optional().describe('Connected accounts that are there from the start.'),
  generate: z
    .union([generate, z.array(generate)])
    .optional()
    .describe('Many accounts with invented identifiers: one such object, or a list of them.'),
  collections: z
    .array(
      strict({
        connector: nonEmpty.describe('The connector whose file has the collection.'),
        collection: nonEmpty.describe('The name of the collection.'),
        items: z.array(jsonObject).describe('Its items, as they are: no templates, no fields.'),
      }),
    )
    .optional()
    .describe(
      'Items of collections that accounts share, in place of all that the connector file gives, generated ones among them.',
    ),
})

export type ParsedSeed = z.output<typeof seedSchema>

/** The seed that a valid document describes; `files` are the connectors that its list may name. */
export function toBundle(document: ParsedSeed, files: readonly Connector[]): SeedBundle {
  const named = new Map(files.map((connector) => [connector.connector, connector]))
  return {
    clients: (document.clients ?? []).map(({ client_id, client_secret }) => ({ id: client_id, client_secret })),
    settings: present(document.settings ?? {}),
    connectors: (document.connectors ?? []).flatMap((item) =>
      typeof item === 'string' ? (named.get(item) ?? []) : [toConnector(item)],
    ),
    connections: (document.connections ?? []).map(present),
    providers: (document.providers ?? []).map(present),
    accounts: (document.accounts ?? []).map(toAccount),
    generate: document.generate === undefined ? [] : [document.generate].flat(),
    ...(document.collections && { collections: document.collections }),
  }
}

function toAccount({ authorization_type: _checked, ...document }: ParsedAccount): SeedAccount {
  const { authorization_details: details, ...rest } = document
  return { ...present(rest), ...(details && { authorization_details: toPatch(details) }) }
}

function toPatch({ oauth_token, static_auth, workspace_dwd, trusted_idp }: ParsedDetails): CredentialsPatch {
  return {
    ...(oauth_token && { oauth_token: present(oauth_token) }),
    ...(static_auth && { static_auth: present(static_auth) }),
    ...(workspace_dwd && { workspace_dwd: present(workspace_dwd) }),
    ...(trusted_idp && { trusted_idp: present(trusted_idp) }),
  }
}

type ParsedAccount = NonNullable<ParsedSeed['accounts']>[number]
type ParsedDetails = NonNullable<ParsedAccount['authorization_details']>
