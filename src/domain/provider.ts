import { type AuthorizationType, isAuthorizationType } from './authorization-type.ts'
import { isJsonObject, type JsonObject, own } from './json.ts'

/** A provider (2.4) as it is stored. */
export interface Provider {
  id: string
  /** System-generated for custom providers (G37); the connector's name for the rest. */
  identifier: string
  display_name: string
  description: string
  icon_src: string
  /** Free-form objects; what the mock reads in them is in G38. */
  auth_patterns: JsonObject[]
  categories: string[]
  coming_soon: boolean
  display_priority: number
  is_custom: boolean
  is_custom_mcp: boolean
  metadata: Record<string, string>
  proxy_enabled: boolean
  proxy_url: string
  /** The display name that it was created with, once it has changed; not answered (G39). */
  created_as?: string
}

/** A provider as it is answered (2.4). */
export function providerView({ created_as: _created, ...provider }: Provider): Provider {
  return provider
}

/** The authorization type of a provider's accounts: that of its first pattern, else `CUSTOM` (G38). */
export function authorizationTypeOf(patterns: readonly JsonObject[]): AuthorizationType {
  const type = patterns[0] && own(patterns[0], 'type')
  if (type === 'BEARER') return 'BEARER_TOKEN'
  return typeof type === 'string' && isAuthorizationType(type) ? type : 'CUSTOM'
}

/** `is_mcp: true` in any pattern makes a custom provider an MCP-based one (G38). */
export function isMcp(patterns: readonly JsonObject[]): boolean {
  return patterns.some((pattern) => isJsonObject(pattern) && own(pattern, 'is_mcp') === true)
}

/** The readable part of a generated identifier: lower-case letters, digits and hyphens of the display name (G37). */
export function slug(displayName: string): string {
  const words = displayName.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.join('-').slice(0, 40) || 'provider'
}
