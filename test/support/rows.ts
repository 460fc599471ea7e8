import type { Account } from '../../src/model/domain/account.ts'
import type { SeedAccount } from '../../src/model/domain/seed.ts'

/** An account as the tables have it: the first one of the connector mail, without credentials. */
export function accountRow(fields: Partial<Account> = {}): Account {
  return {
    id: 'ca_1',
    sequence: 1,
    organization_id: '',
    user_id: '',
    connection_id: 'conn_1',
    connector: 'mail',
    provider: 'mail',
    identifier: 'ada@example.com',
    authorization_type: 'OAUTH',
    status: 'ACTIVE',
    updated_at: '2026-01-01T00:00:00.000Z',
    api_config: {},
    credentials: {},
    ...fields,
  }
}

/** An account of a seed that gives no more than it has to. */
export function seedAccount(connector: string, fields: Partial<SeedAccount> = {}): SeedAccount {
  return {
    connector,
    identifier: 'ada@example.com',
    organization_id: '',
    user_id: '',
    status: 'ACTIVE',
    api_config: {},
    ...fields,
  }
}
