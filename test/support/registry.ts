import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account } from '../../src/model/domain/account.ts'
import type { Client } from '../../src/model/domain/generated/tables.ts'
import { DEFAULT_SETTINGS, type Settings } from '../../src/model/domain/settings.ts'
import type { Environment } from '../../src/state/environment.ts'
import { EnvironmentRegistry, type OpenOptions, type RegistryOptions } from '../../src/state/environment-registry.ts'
import type { ClockState } from '../../src/state/model/time-and-ids.ts'
import { accountRow } from './rows.ts'

/** Runs `work` with a directory that is removed afterwards. */
export async function withDirectory<R>(work: (directory: string) => Promise<R>): Promise<R> {
  const directory = await mkdtemp(join(tmpdir(), 'toolmock-test-'))
  try {
    return await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

export const START = Date.parse('2026-01-01T00:00:00.000Z')

/** A registry whose real time does not move. */
export async function openTestRegistry(options: OpenOptions & RegistryOptions = {}): Promise<EnvironmentRegistry> {
  const registry = new EnvironmentRegistry({ time: () => START, ...options })
  await registry.open(options)
  return registry
}

interface Given {
  readonly settings?: Partial<Settings>
  readonly clients?: readonly Client[]
  readonly clock?: ClockState
  readonly idSeed?: number
}

/** Makes an environment with nothing but clients. Its ids are random unless they are seeded. */
export function createEnvironment(registry: EnvironmentRegistry, name: string, given: Given = {}): Environment {
  const { settings, clients = [], clock = { offset_ms: 0, frozen_at: null }, idSeed } = given
  const ids = idSeed === undefined ? null : { seed: idSeed, position: 0 }
  return registry.create(name, { settings: { ...DEFAULT_SETTINGS, ...settings }, clock, ids }, ({ model }) => {
    for (const client of clients) model.tables.clients.put(client)
  })
}

export function account(sequence: number, fields: Partial<Account> = {}): Account {
  return accountRow({
    id: `ca_${sequence}`,
    sequence,
    connection_id: 'conn_mail',
    identifier: `user${sequence}@example.com`,
    ...fields,
  })
}

/** Puts the account with the next sequence into an environment, in a transaction of its own. */
export function addAccount(
  registry: EnvironmentRegistry,
  environment = 'default',
  fields: Partial<Account> = {},
): Account {
  const model = registry.environment(environment)?.model
  if (!model) throw new Error(`there is no environment ${environment}`)
  return model.transact(() => {
    const added = account(model.count('account_sequence'), fields)
    model.tables.accounts.put(added)
    return added
  })
}

export function accountIds(registry: EnvironmentRegistry, environment = 'default'): string[] {
  return [...(registry.environment(environment)?.model.tables.accounts.values() ?? [])].map(({ id }) => id)
}
