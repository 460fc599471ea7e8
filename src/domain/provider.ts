import type { AuthorizationType } from './authorization-type.ts'
import type { JsonObject } from './json.ts'

/** A provider (2.4) as it is stored; `authorization_type` is derived from the first of `auth_patterns` (G38). */
export interface Provider {
  id: string
  identifier: string
  display_name: string
  description: string
  icon_src: string
  auth_patterns: JsonObject[]
  categories: string[]
  coming_soon: boolean
  display_priority: number
  is_custom: boolean
  is_custom_mcp: boolean
  metadata: Record<string, string>
  proxy_enabled: boolean
  proxy_url: string
}

/** `BEARER` and `BASIC` are accepted short forms (G38). */
const SHORT_FORMS: Readonly<Record<string, AuthorizationType>> = { BEARER: 'BEARER_TOKEN' }

export { SHORT_FORMS }
