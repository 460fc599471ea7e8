import type { ThirdParty } from '../domain/ports.ts'
import { isClientPattern, type SeedBundle } from '../domain/seed.ts'
import type { Environment } from './environment.ts'
import { putAccount } from './seeding/accounts.ts'
import { putConnection, putConnector } from './seeding/connectors.ts'
import { accountGenerator } from './seeding/generated-accounts.ts'
import { putProvider } from './seeding/providers.ts'

/**
 * Puts a checked seed into an environment, in one transaction. What is there already under the same name (client,
 * connector, connection, provider, account in its scope) keeps its id and takes the seed's values. The settings of the
 * bundle are the environment's own, and client patterns are the server's: neither is a row.
 */
export async function applySeed(environment: Environment, thirdParty: ThirdParty, bundle: SeedBundle): Promise<void> {
  const expand = await seedExpander(bundle)
  putSeed(environment, thirdParty, expand(environment))
}

/**
 * What writes out the accounts that a bundle has generated, so that the rest is synchronous and can be one transaction; loads
 * what generates them only when there are some.
 */
export async function seedExpander(bundle: SeedBundle): Promise<(environment: Environment) => SeedBundle> {
  if (bundle.generate.length === 0) return () => bundle
  const generate = await accountGenerator()
  return (environment) => {
    const accounts = [...bundle.accounts, ...generate(bundle, environment)]
    return { ...bundle, accounts, generate: [] }
  }
}

/** The synchronous part of {@link applySeed}, which can be one transaction with other changes; `generate` is not looked at. */
export function putSeed(environment: Environment, thirdParty: ThirdParty, bundle: SeedBundle): void {
  environment.model.transact(() => {
    const { clients } = environment.model.tables
    for (const client of bundle.clients) if (!isClientPattern(client.id)) clients.put(client)
    for (const connector of bundle.connectors) putConnector(environment, connector)
    for (const connection of bundle.connections) putConnection(environment, connection)
    for (const provider of bundle.providers) putProvider(environment, provider)
    for (const account of bundle.accounts) putAccount(environment, thirdParty, account)
  })
}
