import type { AccountStatus, Scope } from './account.ts'
import type { CredentialsPatch } from './credentials.ts'
import type { Client } from './client.ts'
import type { ConnectionType } from './authorization-type.ts'
import type { ConnectionStatus } from './connection.ts'
import type { Connector } from './connector.ts'
import type { Instant } from './instant.ts'
import type { JsonObject } from './json.ts'
import type { Provider } from './provider.ts'
import type { Settings } from './settings.ts'

/**
 * What a new environment starts with: the seed files, checked and with every default filled in. Plain JSON, so that the
 * bundled one can be shipped parsed. Durations are milliseconds.
 */
export interface SeedBundle {
  /** Patterns such as `ci-*` among them; see {@link isClientPattern}. */
  clients: Client[]
  settings: Partial<Settings>
  /** In seed order (G42). */
  connectors: Connector[]
  connections: SeedConnection[]
  providers: SeedProvider[]
  accounts: SeedAccount[]
  generate: SeedGenerate[]
  /** What shared collections hold in place of the items of their connector files; absent when there is nothing. */
  collections?: SeedCollection[]
}

/** A connection of its own, or what a connector's connection has beside its defaults (same `key_id`). */
export interface SeedConnection {
  key_id: string
  id?: string
  organization_id?: string
  organization_name?: string
  domains?: string[]
  enabled?: boolean
  provider?: string
  provider_key?: string
  status?: ConnectionStatus
  /** Absent only for a connector's connection, which has its connector's type (G49). */
  type?: ConnectionType
  mcp_server_url?: string
}

/** A custom provider; `identifier` is generated when absent (G37). */
export type SeedProvider = Partial<Omit<Provider, 'display_name' | 'is_custom' | 'is_custom_mcp' | 'created_as'>> &
  Pick<Provider, 'display_name'>

/** A connected account. Without `authorization_details` it gets generated credentials that its third party accepts. */
export interface SeedAccount extends Scope {
  id?: string
  connector: string
  identifier: string
  status: AccountStatus
  api_config: JsonObject
  authorization_details?: CredentialsPatch
  token_expires_at?: Instant
  last_used_at?: Instant
  /** What its collections hold in place of the items of the connector file, by name. */
  collections?: Record<string, JsonObject[]>
}

/** Accounts with invented identifiers. */
export interface SeedGenerate extends Scope {
  accounts: number
  connector: string
  status: AccountStatus
}

/** The items of a collection that accounts share. */
export interface SeedCollection {
  connector: string
  collection: string
  items: JsonObject[]
}

const DEFAULT_CLIENT: Client = { id: 'test_client', client_secret: 'test_secret' }

export function emptyBundle(): SeedBundle {
  return { clients: [], settings: {}, connectors: [], connections: [], providers: [], accounts: [], generate: [] }
}

/** `ci-*` matches every client id of that form: the first token request makes the environment of that name (1.2). */
export function isClientPattern(clientId: string): boolean {
  return clientId.includes('*')
}

/** One seed after another: connectors, connections and settings of the later one replace those of the same name. */
export function mergeBundles(bundles: readonly SeedBundle[]): SeedBundle {
  const all = <Part extends keyof SeedBundle>(part: Part): SeedBundle[Part][] => bundles.map((bundle) => bundle[part])
  const collections = all('collections').flatMap((each) => each ?? [])
  return {
    clients: byName(all('clients').flat(), (client) => client.id),
    settings: Object.assign({}, ...all('settings')) as Partial<Settings>,
    connectors: byName(all('connectors').flat(), (connector) => connector.connector),
    connections: byName(all('connections').flat(), (connection) => connection.key_id),
    providers: all('providers').flat(),
    accounts: all('accounts').flat(),
    generate: all('generate').flat(),
    ...(collections.length > 0 && { collections: byName(collections, collectionName) }),
  }
}

function collectionName({ connector, collection }: SeedCollection): string {
  return `${connector}/${collection}`
}

/** A seed without clients, or with patterns only, keeps `test_client`. */
export function withDefaultClient(bundle: SeedBundle): SeedBundle {
  if (bundle.clients.some((client) => !isClientPattern(client.id))) return bundle
  return { ...bundle, clients: [DEFAULT_CLIENT, ...bundle.clients] }
}

/** The last of each name, in the place of the first. */
function byName<T>(items: readonly T[], name: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [name(item), item])).values()]
}
