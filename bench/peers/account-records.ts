/** Accounts as records for json-server, which does not know the contract. */
export function accountRecords(accounts: number): object[] {
  return Array.from({ length: accounts }, (_, index) => ({
    id: `ca_${index + 1}`,
    connection_id: 'conn_1',
    connector: 'mail',
    provider: 'MAIL',
    identifier: `person.${index + 1}@example.com`,
    user_id: 'user_1',
    authorization_type: 'OAUTH',
    status: 'ACTIVE',
    token_expires_at: '2026-01-01T01:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    api_config: {},
    authorization_details: { oauth_token: { scopes: ['mail.read', 'mail.send'], domain: '' } },
  }))
}
