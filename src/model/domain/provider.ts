import { type AuthorizationType, type ConnectionType, isAuthorizationType, TRAITS } from './authorization-type.ts'
import type { Provider } from './generated/tables.ts'
import { isJsonObject, type JsonObject, ownMember } from './json.ts'
import type { Ids } from './ports.ts'

export type { Provider }

/** What a provider is where nothing else is said. */
export const NEW_PROVIDER = {
  description: '',
  icon_src: '',
  auth_patterns: [],
  categories: [],
  coming_soon: false,
  display_priority: 0,
  is_custom: true,
  is_custom_mcp: false,
  metadata: {},
  proxy_enabled: false,
  proxy_url: '',
} satisfies Partial<Provider>

/** A provider as it is answered (2.4). */
export function providerView({ created_as: _created, ...provider }: Provider): Provider {
  return provider
}

/** The authorization type of a provider's accounts: that of its first pattern, else `CUSTOM` (G38). */
export function authorizationTypeOf(patterns: readonly JsonObject[]): AuthorizationType {
  const type = patterns[0] && ownMember(patterns[0], 'type')
  if (type === 'BEARER') return 'BEARER_TOKEN'
  return typeof type === 'string' && isAuthorizationType(type) ? type : 'CUSTOM'
}

/** `is_mcp: true` in any pattern makes a custom provider an MCP-based one (G38). */
export function isMcp(patterns: readonly JsonObject[]): boolean {
  return patterns.some((pattern) => isJsonObject(pattern) && ownMember(pattern, 'is_mcp') === true)
}

/** The type of the connection of a custom provider (G38). */
export function connectionType({ auth_patterns }: Pick<Provider, 'auth_patterns'>): ConnectionType {
  return TRAITS[authorizationTypeOf(auth_patterns)].connectionType
}

/** The identifier of a new custom provider: made of its display name, and unique (G37). */
export function newIdentifier(displayName: string, ids: Ids): string {
  return `${slug(displayName)}-${ids.id('p').slice(-8)}`
}

/** The readable part of a generated identifier: lower-case letters, digits and hyphens of the display name (G37). */
export function slug(displayName: string): string {
  const words = displayName.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.join('-').slice(0, 40) || 'provider'
}
