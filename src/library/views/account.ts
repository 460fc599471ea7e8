/** A connected account as `GET …/details` of the service shows it: without credentials (4.5, G22). */
export interface AccountView {
  readonly id: string
  readonly connection_id: string
  readonly connector: string
  readonly provider: string
  readonly identifier: string
  readonly authorization_type: string
  readonly status: 'ACTIVE' | 'EXPIRED' | 'PENDING_AUTH' | 'PENDING_VERIFICATION' | 'DISCONNECTED'
  readonly token_expires_at?: string
  readonly last_used_at?: string
  readonly updated_at: string
  readonly api_config: Readonly<Record<string, unknown>>
  readonly authorization_details: Readonly<Record<string, unknown>>
}

/** A connection (2.5). */
export interface ConnectionView {
  readonly id: string
  readonly key_id: string
  readonly organization_id: string
  readonly organization_name: string
  readonly domains: readonly string[]
  readonly enabled: boolean
  readonly provider: string
  readonly provider_key: string
  readonly status: 'DRAFT' | 'IN_PROGRESS' | 'COMPLETED'
  readonly type: string
  readonly mcp_server_url: string
}
