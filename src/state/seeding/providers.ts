import { TRAITS } from '../../domain/authorization-type.ts'
import { authorizationTypeOf, isMcp, type Provider, slug } from '../../domain/provider.ts'
import type { SeedProvider } from '../../domain/seed.ts'
import type { Environment } from '../environment.ts'
import { connectionNamed, newConnection } from './connectors.ts'

/** Puts a custom provider and its connection, whose `key_id` is its identifier (G38). Only inside a transaction. */
export function putProvider(environment: Environment, seed: SeedProvider): void {
  const { ids, model } = environment
  const before = [...model.tables.providers.values()].find(
    (each) => each.is_custom && each.identifier === seed.identifier,
  )
  const patterns = seed.auth_patterns ?? before?.auth_patterns ?? []
  const provider: Provider = {
    ...(before ?? NO_PROVIDER),
    ...seed,
    id: before?.id ?? seed.id ?? ids.id('prv'),
    identifier: seed.identifier ?? `${slug(seed.display_name)}-${ids.id('p').slice(-8)}`,
    auth_patterns: patterns,
    is_custom: true,
    is_custom_mcp: isMcp(patterns),
  }
  model.tables.providers.put(provider)
  const connection =
    connectionNamed(environment, provider.identifier) ?? newConnection(environment, provider.identifier)
  const type = TRAITS[authorizationTypeOf(patterns)].connectionType
  model.tables.connections.put({ ...connection, provider: 'CUSTOM', type })
}

const NO_PROVIDER = {
  description: '',
  icon_src: '',
  categories: [],
  coming_soon: false,
  display_priority: 0,
  metadata: {},
  proxy_enabled: false,
  proxy_url: '',
} satisfies Partial<Provider>
