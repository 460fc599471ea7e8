import { collectionName } from './collection.ts'
import type { Client, SeedBundle, Settings } from './generated/tables.ts'

/* Seed files, defaults filled in: plain JSON, so that the bundled one ships parsed. Durations are milliseconds. */

export type { SeedAccount, SeedBundle, SeedConnection, SeedGenerate, SeedProvider } from './generated/tables.ts'

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
  const webhooks = all('webhooks').flatMap((each) => each ?? [])
  return {
    clients: lastOfEachName(all('clients').flat(), (client) => client.id),
    settings: Object.assign({}, ...all('settings')) as Partial<Settings>,
    connectors: lastOfEachName(all('connectors').flat(), (connector) => connector.connector),
    connections: lastOfEachName(all('connections').flat(), (connection) => connection.key_id),
    providers: all('providers').flat(),
    accounts: all('accounts').flat(),
    generate: all('generate').flat(),
    ...(collections.length > 0 && { collections: lastOfEachName(collections, collectionName) }),
    ...(webhooks.length > 0 && { webhooks: lastOfEachName(webhooks, ({ id }) => id) }),
  }
}

/** A seed without clients, or with patterns only, keeps `test_client`. */
export function withDefaultClient(bundle: SeedBundle): SeedBundle {
  if (bundle.clients.some((client) => !isClientPattern(client.id))) return bundle
  return { ...bundle, clients: [DEFAULT_CLIENT, ...bundle.clients] }
}

/** The last of each name, in the place of the first. */
function lastOfEachName<T>(items: readonly T[], name: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [name(item), item])).values()]
}
