import { z } from 'zod'
import { AUTHORIZATION_TYPES } from '../model/domain/authorization-type.ts'
import type { Connector } from '../model/domain/connector.ts'
import type { CredentialsPatch } from '../model/domain/credentials.ts'
import { isJsonObject, ownMember, withoutUndefined } from '../model/domain/json.ts'
import type { SeedAccount, SeedBundle } from '../model/domain/seed.ts'
import { quote } from '../model/domain/text.ts'
import { connectorName, repeatedNames, schemaReference, strict, uniqueList, withRule } from '../model/schema/parts.ts'
import {
  accountFields,
  connectionFields,
  credentialsPatch,
  generateFields,
  providerFields,
  seedShape,
  settingsFields,
  sharedItemsFields,
} from '../model/schema/tables.ts'
import { webhookList } from '../model/schema/seed-values.ts'
import { collectionItems } from '../model/schema/collections.ts'
import { connectorSchema, toConnector } from './connector.ts'

/** Lines of a shell, of a log and of a header have them. */
const credential = z.string().regex(/^[^\p{Cc}]+$/u, { error: 'a text without control characters, not empty' })

const client = strict({
  client_id: credential.describe('Its id, or a pattern such as ci-*: each matching id gets an environment of its own.'),
  client_secret: credential.describe('What token requests with this id must send.'),
})

const generate = strict(generateFields)

const { id, connector, identifier, ...otherFields } = seedShape(accountFields)

const account = strict({
  id,
  connector,
  identifier,
  ...otherFields,
  authorization_type: z.enum(AUTHORIZATION_TYPES).optional().describe("The connector's own type. Absent: the same."),
  authorization_details: credentialsPatch
    .optional()
    .describe(
      'Its credentials. Absent: generated ones that the third party accepts, unless the status is PENDING_AUTH.',
    ),
  collections: collectionItems
    .optional()
    .describe(
      'Items of its collections, by name, in place of all that the connector file gives, generated ones among them.',
    ),
})

const accounts = withRule(uniqueList(account, 'id'), (list, report) => {
  const places = list.map((item: unknown) => {
    if (!isJsonObject(item)) return undefined
    const scope = ['organization_id', 'user_id'].map((field) => ownMember(item, field) ?? '')
    return JSON.stringify([ownMember(item, 'connector'), ownMember(item, 'identifier'), ...scope])
  })
  for (const { index, before } of repeatedNames(places)) {
    const mistake = `the identifier of accounts[${before}] for the second time`
    report([index, 'identifier'], { found: mistake, allowed: 'each identifier once for each connector and scope' })
  }
})

export const seedSchema = strict({
  $schema: schemaReference,
  clients: uniqueList(client, 'client_id')
    .min(1)
    .optional()
    .describe('Client credentials. Absent: test_client with test_secret.'),
  settings: strict(seedShape(settingsFields))
    .optional()
    .describe('Lifetimes and ways of an environment; the last seed file that sets one wins.'),
  connectors: withRule(z.array(z.union([connectorName, connectorSchema])), (connectors, report) => {
    const names = connectors.map((item: unknown) => (isJsonObject(item) ? ownMember(item, 'connector') : item))
    for (const { name, index } of repeatedNames(names)) {
      const path = isJsonObject(connectors[index]) ? [index, 'connector'] : [index]
      report(path, { found: `${quote(name)} for the second time`, allowed: 'each connector once' })
    }
  })
    .optional()
    .describe('Connectors in their order: names of connector files beside this seed, or connectors written out here.'),
  connections: uniqueList(strict(seedShape(connectionFields)), 'key_id', 'id')
    .optional()
    .describe('Connections beside those that connectors have, or other fields of those.'),
  providers: uniqueList(strict(seedShape(providerFields)), 'identifier', 'id')
    .optional()
    .describe('Custom providers.'),
  accounts: accounts.optional().describe('Connected accounts that are there from the start.'),
  generate: z
    .union([generate, z.array(generate)])
    .optional()
    .describe('Many accounts with invented identifiers: one such object, or a list of them.'),
  collections: z
    .array(strict(sharedItemsFields))
    .optional()
    .describe(
      'Items of collections that accounts share, in place of all that the connector file gives, generated ones among them.',
    ),
  webhooks: webhookList.optional().describe('Where events of accounts are sent.'),
})

export type ParsedSeed = z.output<typeof seedSchema>

/** The seed that a valid document describes; `files` are the connectors that its list may name. */
export function toBundle(document: ParsedSeed, files: readonly Connector[]): SeedBundle {
  const byName = new Map(files.map((connector) => [connector.connector, connector]))
  return {
    clients: (document.clients ?? []).map(({ client_id, client_secret }) => ({ id: client_id, client_secret })),
    settings: withoutUndefined(document.settings ?? {}),
    connectors: (document.connectors ?? []).flatMap((item) =>
      typeof item === 'string' ? (byName.get(item) ?? []) : [toConnector(item)],
    ),
    connections: (document.connections ?? []).map(withoutUndefined),
    providers: (document.providers ?? []).map(withoutUndefined),
    accounts: (document.accounts ?? []).map(toAccount),
    generate: document.generate === undefined ? [] : [document.generate].flat(),
    ...(document.collections && { collections: document.collections }),
    ...(document.webhooks && { webhooks: document.webhooks }),
  }
}

function toAccount({ authorization_type: _checked, ...document }: ParsedAccount): SeedAccount {
  const { authorization_details: details, ...rest } = document
  return { ...withoutUndefined(rest), ...(details && { authorization_details: toPatch(details) }) }
}

function toPatch(details: ParsedDetails): CredentialsPatch {
  return Object.fromEntries(
    Object.entries(withoutUndefined(details)).map(([kind, fields]) => [kind, withoutUndefined(fields)]),
  )
}

type ParsedAccount = NonNullable<ParsedSeed['accounts']>[number]
type ParsedDetails = NonNullable<ParsedAccount['authorization_details']>
