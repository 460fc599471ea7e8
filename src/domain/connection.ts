import type { ConnectionType } from './authorization-type.ts'

export const CONNECTION_STATUSES = ['DRAFT', 'IN_PROGRESS', 'COMPLETED'] as const
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number]

/** A connection (2.5) as it is stored and as it is returned. */
export interface Connection {
  id: string
  key_id: string
  organization_id: string
  organization_name: string
  domains: string[]
  enabled: boolean
  provider: string
  provider_key: string
  status: ConnectionStatus
  type: ConnectionType
  mcp_server_url: string
}
