import type { Faker } from '@faker-js/faker'
import { type Account, accountName, expiryOfIssue, type Issued } from '../model/domain/account.ts'
import { type AuthorizationType, TRAITS } from '../model/domain/authorization-type.ts'
import { collectionNamed, type CollectionPlace, itemKey } from '../model/domain/collection.ts'
import { type Connection, newConnection } from '../model/domain/connection.ts'
import { type Connector, providerOf } from '../model/domain/connector.ts'
import { generatedDetails } from '../model/domain/connector-defaults.ts'
import { areLive, type Credentials, mergeCredentials, takenBy } from '../model/domain/credentials.ts'
import { SEED_ACCOUNT_FIELDS } from '../model/domain/generated/tables.ts'
import { instant } from '../model/domain/instant.ts'
import type { JsonObject } from '../model/domain/json.ts'
import type { ThirdParty } from '../model/domain/ports.ts'
import { isMcp, NEW_PROVIDER, newIdentifier, type Provider, providerView } from '../model/domain/provider.ts'
import {
  isClientPattern,
  type SeedAccount,
  type SeedBundle,
  type SeedConnection,
  type SeedGenerate,
  type SeedProvider,
} from '../model/domain/seed.ts'
import { RequestTrace } from '../model/domain/request-trace.ts'
import { lazyImport } from '../model/domain/once.ts'
import { adoptConnectionTypes, adoptConnectorType, newAccount } from './account-changes.ts'
import { newAuthRequest } from './auth-requests.ts'
import { replaceItems, restartReplaced } from './collections.ts'
import { accountsOf, connectionOf, type Environment, providerNamed } from './environment.ts'
import { ACCOUNT_SEQUENCE } from './model/model.ts'

/**
 * What is there under the same name (an account: in its scope) keeps its id and takes the seed's values. Settings are
 * the environment's own and client patterns the server's: neither is a row. Only inside a transaction.
 */
export function putSeed(
  environment: Environment,
  thirdParty: ThirdParty,
  bundle: SeedBundle,
  trace: RequestTrace = new RequestTrace(),
): void {
  const typeOf = (name: string): AuthorizationType | undefined => environment.connector(name)?.authorization_type
  const { accounts, clients } = environment.model.tables
  // Only accounts that exist follow a change of their connector's type.
  const names = accounts.size === 0 ? [] : connectorNames(bundle)
  const types = new Map(names.map((name) => [name, typeOf(name)]))
  for (const client of bundle.clients) if (!isClientPattern(client.id)) clients.put(client)
  for (const connector of bundle.connectors) putConnector(environment, connector)
  adoptConnectionTypes(
    environment,
    bundle.connectors.filter(({ custom_provider }) => custom_provider === null),
  )
  for (const connection of bundle.connections) putConnection(environment, connection)
  for (const provider of bundle.providers) putProvider(environment, provider)
  for (const [name, type] of types) if (type !== typeOf(name)) adoptConnectorType(environment, thirdParty, name, trace)
  for (const account of bundle.accounts) putAccount(environment, thirdParty, account)
  for (const webhook of bundle.webhooks ?? []) environment.model.tables.webhooks.put(webhook)
  for (const { connector, collection, items } of bundle.collections ?? []) {
    putCollection(environment, { connector, collection, account_id: '' }, items)
  }
}

/** What names its connectors: files, connections and custom providers. */
export function connectorNames({ connectors, connections, providers }: SeedBundle): string[] {
  return [
    ...connectors.map(({ connector }) => connector),
    ...connections.map(({ key_id }) => key_id),
    ...providers.flatMap(({ identifier }) => identifier ?? []),
  ]
}

/** A connector that only serves custom providers has no connection and provider (G47). Only inside a transaction. */
function putConnector(environment: Environment, connector: Connector): void {
  const { connectors, connections, providers } = environment.model.tables
  const before = connectors.get(connector.connector)
  connectors.put({ ...connector, id: connector.connector })
  restartReplaced(environment, connector, before)
  if (before && providerOf(before) !== providerOf(connector)) renameProvider(environment, providerOf(before), connector)
  if (connector.custom_provider !== null) return
  connections.put(connectionFor(environment, connector.connector))
  providers.put(standardProvider(environment, connector))
}

/** Puts a connection, or changes what a connector's connection has beside its defaults. Only inside a transaction. */
export function putConnection(environment: Environment, seed: SeedConnection): Connection {
  const connection = connectionFor(environment, seed.key_id)
  const { connections } = environment.model.tables
  const id = seed.id ?? connection.id
  if (id !== connection.id) connections.remove(connection.id)
  connections.put({ ...connection, ...seed, id })
  const connector = environment.connector(seed.key_id)
  if (connector && connector.connector !== seed.key_id) adoptConnectionTypes(environment, [connector])
  return connectionFor(environment, seed.key_id)
}

function connectionFor(environment: Environment, keyId: string): Connection {
  return connectionOf(environment, keyId) ?? newConnection(environment.ids.id('conn'), keyId, 'API_KEY')
}

/** Each connector is also a provider that is not custom, with its name, or the word that it gives for it, as identifier. */
function standardProvider({ ids, model }: Environment, connector: Connector): Provider {
  const identifier = providerOf(connector)
  const { display_name, description, icon_src, categories } = connector
  const before = providerNamed(model, identifier, false)
  return {
    id: before?.id ?? ids.id('prv'),
    identifier,
    display_name,
    ...NEW_PROVIDER,
    description,
    icon_src,
    auth_patterns: [patternOf(connector)],
    categories,
    is_custom: false,
  }
}

/** Gives the accounts of a connector its new provider, and removes the former one that nothing names any more. */
function renameProvider(environment: Environment, former: string, connector: Connector): void {
  const { accounts, connectors, providers } = environment.model.tables
  const provider = providerOf(connector)
  for (const account of accountsOf(environment, connector.connector)) accounts.put({ ...account, provider })
  if ([...connectors.values()].some((each) => providerOf(each) === former)) return
  for (const each of [...providers.values()])
    if (!each.is_custom && each.identifier === former) providers.remove(each.id)
}

/** What the mock reads in the patterns of custom providers (G38), written for its own. */
function patternOf({ authorization_type: type, display_name, credentials, oauth }: Connector): JsonObject {
  const fields = credentials.fields.map((field): JsonObject => ({ ...field }))
  return {
    type,
    display_name,
    ...(fields.length > 0 && { fields }),
    ...(oauth.scopes.length > 0 && { oauth_config: { scopes: oauth.scopes } }),
  }
}

/** Puts a custom provider and its connection, whose `key_id` is its identifier (G38). Only inside a transaction. */
function putProvider(environment: Environment, seed: SeedProvider): void {
  const { ids, model } = environment
  const before = seed.identifier === undefined ? undefined : providerNamed(model, seed.identifier, true)
  const patterns = seed.auth_patterns ?? before?.auth_patterns ?? []
  const provider: Provider = {
    ...(before ? providerView(before) : NEW_PROVIDER),
    ...seed,
    id: before?.id ?? seed.id ?? ids.id('prv'),
    identifier: seed.identifier ?? newIdentifier(seed.display_name, ids),
    auth_patterns: patterns,
    is_custom: true,
    is_custom_mcp: isMcp(patterns),
  }
  model.tables.providers.put(provider)
  model.tables.connections.put(connectionFor(environment, provider.identifier))
  const connector = environment.connector(provider.identifier)
  if (connector) adoptConnectionTypes(environment, [connector])
}

/**
 * With what its state needs: credentials that its third party accepts when it is `ACTIVE`, none when it is `EXPIRED` or
 * `DISCONNECTED`, a pending auth request when it waits for verification. Only inside a transaction.
 */
function putAccount(environment: Environment, thirdParty: ThirdParty, seed: SeedAccount): void {
  const { model } = environment
  const connector = environment.connector(seed.connector)
  if (!connector) throw new Error(`the seed has an account at ${JSON.stringify(seed.connector)}, which is no connector`)
  const account = accountOfSeed(environment, connector, seed)
  model.tables.accounts.put(account)
  if (seed.status === 'PENDING_VERIFICATION') newAuthRequest(environment, account)
  const accepted = seed.status === 'ACTIVE' ? account.credentials : account.pending?.credentials
  if (accepted && areLive(accepted, account.authorization_type)) thirdParty.accept(connector, account, accepted)
  for (const [collection, items] of Object.entries(seed.collections ?? {})) {
    putCollection(environment, { connector: seed.connector, collection, account_id: account.id }, items)
  }
}

function accountOfSeed(environment: Environment, connector: Connector, seed: SeedAccount): Account {
  const live = issuedBySeed(environment, connector, seed)
  const obtained = TRAITS[connector.authorization_type].source === 'service' ? live.credentials : {}
  const { id, sequence } = accountPlace(environment, seed)
  const issued = seed.status === 'PENDING_VERIFICATION' ? { credentials: obtained, pending: live } : live
  // Assigned, because V8 is slow with objects that are spread into others: a reset makes every account of a seed.
  const account = Object.assign(newAccount(environment, connector, seed, id), { sequence }, issued)
  for (const field of SEED_ACCOUNT_FIELDS)
    if (field !== 'id' && seed[field] !== undefined && seed[field] !== account[field])
      Object.assign(account, { [field]: seed[field] })
  return account
}

/** Puts the items of a collection in place of those that are there. Only inside a transaction. */
function putCollection(environment: Environment, place: CollectionPlace, items: readonly JsonObject[]): void {
  const connector = environment.connector(place.connector)
  const definition = connector && collectionNamed(connector, place.collection)
  if (!definition) throw new Error(`the seed has items for ${place.connector}/${place.collection}, which there is not`)
  replaceItems(
    environment,
    { ...place, connector: connector.connector },
    items.map((item) => [itemKey(definition, item) ?? '', item]),
  )
}

/** The id and place of the account that is there already, or new ones. */
function accountPlace({ ids, model }: Environment, seed: SeedAccount): Pick<Account, 'id' | 'sequence'> {
  const before = model.accountIndex.inScope(seed.connector, seed.identifier, seed)
  if (before) return { id: before.id, sequence: before.sequence }
  const id = seed.id ?? ids.id('ca')
  if (model.tables.accounts.get(id))
    throw new SeedConflictError(`the seed's account id ${JSON.stringify(id)} is another account's`)
  return { id, sequence: model.count(ACCOUNT_SEQUENCE) }
}

function issuedBySeed(environment: Environment, connector: Connector, seed: SeedAccount): Issued {
  const type = connector.authorization_type
  const patch = takenBy(connector, seed.authorization_details ?? {})
  const merged = mergeCredentials({}, patch, type, seed.identifier)
  const at = environment.clock.now()
  // The service obtains these itself (2.2): a token whose time is over makes it do so at the first use.
  if (TRAITS[type].source === 'service') return { credentials: merged, token_expires_at: instant(at) }
  if (seed.status === 'PENDING_AUTH') return { credentials: merged }
  const credentials = areLive(merged, type)
    ? merged
    : mergeCredentials(generatedCredentials(environment, connector, seed.identifier), patch, type, seed.identifier)
  const lifetime = seed.status === 'EXPIRED' ? 0 : connector.oauth.access_token_lifetime
  return expiryOfIssue({ authorization_type: type }, credentials, lifetime, at)
}

/** Credentials as the third party would have issued them, or as a user would have typed them in. */
function generatedCredentials({ ids }: Environment, connector: Connector, identifier: string): Credentials {
  const { kind } = TRAITS[connector.authorization_type]
  if (kind === 'static_auth')
    return { static_auth: { details: generatedDetails(connector.credentials.fields, ids, identifier) } }
  if (kind !== 'oauth_token') return {}
  const { scopes, domain, refresh_token } = connector.oauth
  return {
    oauth_token: {
      access_token: `at_${ids.opaque()}`,
      refresh_token: refresh_token === 'none' ? '' : `rt_${ids.opaque()}`,
      scopes,
      domain,
    },
  }
}

/** A seed does not fit an account of the environment, or what other requests have changed meanwhile. */
export class SeedConflictError extends Error {
  override readonly name = 'SeedConflictError'
}

const loadFaker = lazyImport(() => import('@faker-js/faker/locale/en'))

/** What invents the people of a seed's `generate`; undefined for a seed without any, because it takes long to load. */
export async function fakerFor({ generate }: SeedBundle): Promise<Faker | undefined> {
  if (generate.length === 0) return undefined
  const { faker } = await loadFaker()
  // An instance of its own; importing the class itself would load every locale.
  return new (faker.constructor as typeof Faker)({ locale: faker.rawDefinitions })
}

/** Generated accounts are written out; ids are those that the environment's entities have already, or new ones. */
export function exactSeed(environment: Environment, seed: SeedBundle, faker: Faker | undefined): SeedBundle {
  const { ids, model } = environment
  const expanded = expandSeed(environment, seed, faker)
  const idOf = (account: SeedAccount): string | undefined =>
    model.accountIndex.inScope(account.connector, account.identifier, account)?.id
  const providers = expanded.providers.map((provider) => ({
    ...provider,
    identifier: provider.identifier ?? newIdentifier(provider.display_name, ids),
  }))
  const accounts = expanded.accounts.map((account) => ({
    ...account,
    id: idOf(account) ?? account.id ?? ids.id('ca'),
  }))
  return { ...expanded, providers, accounts }
}

/** No identifier that the environment or the seed has. The same ids give the same people. */
export function expandSeed({ ids, model }: Environment, bundle: SeedBundle, faker: Faker | undefined): SeedBundle {
  if (!faker) return bundle
  const names = new Set(bundle.accounts.map(accountName))
  const isNew = (account: SeedAccount): boolean => {
    const { size } = names
    const isThere = model.accountIndex.inScope(account.connector, account.identifier, account) !== undefined
    return !isThere && names.add(accountName(account)).size > size
  }
  faker.seed(ids.number())
  const accounts = [...bundle.accounts]
  for (const generate of bundle.generate) {
    for (let count = 1; count <= generate.accounts; count++) {
      const person = `${lowerCaseLetters(faker.person.firstName())}.${lowerCaseLetters(faker.person.lastName())}`
      accounts.push(generatedAccount(generate, person, isNew))
    }
  }
  return { ...bundle, accounts, generate: [] }
}

/** `example.com` is reserved (RFC 2606). People of the same name get a number, as in real directories. */
function generatedAccount(
  generate: SeedGenerate,
  person: string,
  isNew: (account: SeedAccount) => boolean,
): SeedAccount {
  const { connector, organization_id, user_id, status } = generate
  for (let number = 1; ; number++) {
    const identifier = `${person}${number === 1 ? '' : String(number)}@example.com`
    const account: SeedAccount = { connector, identifier, organization_id, user_id, status, api_config: {} }
    if (isNew(account)) return account
  }
}

function lowerCaseLetters(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]+/g, '')
}
