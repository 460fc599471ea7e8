import type { Connection } from './generated/tables.ts'

export type { Connection }

export const CONNECTION_STATUSES = ['DRAFT', 'IN_PROGRESS', 'COMPLETED'] as const

/** A connection as it is made for a name, which identifies its connector (G41). */
export function newConnection(id: string, keyId: string, type: Connection['type']): Connection {
  return {
    id,
    key_id: keyId,
    organization_id: '',
    organization_name: '',
    domains: [],
    enabled: true,
    provider: 'CUSTOM',
    provider_key: keyId,
    status: 'COMPLETED',
    type,
    mcp_server_url: '',
  }
}
