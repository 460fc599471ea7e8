import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import type { ThirdParty } from '../../src/model/domain/ports.ts'
import { emptyBundle, type SeedBundle } from '../../src/model/domain/seed.ts'
import { sequenceCounterOf } from '../../src/state/collections.ts'
import type { Environment } from '../../src/state/environment.ts'
import type { EnvironmentRegistry } from '../../src/state/environment-registry.ts'
import { EnvironmentProvisioner } from '../../src/state/provisioning.ts'
import { restoreSnapshot, takeSnapshot } from '../../src/state/snapshots.ts'
import { replaceState } from '../../src/state/state-replacement.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { account, addAccount, createEnvironment, openTestRegistry, withDirectory } from '../support/registry.ts'
import { seedAccount } from '../support/rows.ts'
import { during, it as base } from '../support/mock-fixture.ts'

const MANY = 3000
const pending = (identifier: string, connector = 'app') =>
  seedAccount(connector, { identifier, status: 'PENDING_AUTH' })
const SERVER: SeedBundle = {
  ...emptyBundle(),
  clients: [{ id: 'c', client_secret: 's' }],
  connections: [{ key_id: 'app', type: 'API_KEY' }],
  accounts: [pending('ada')],
}
const generating = (accounts: number): SeedBundle => ({
  ...emptyBundle(),
  generate: [{ accounts, connector: 'app', organization_id: '', user_id: '', status: 'PENDING_AUTH' }],
})
const LARGE = generating(MANY)

interface Mock {
  readonly disk: MemoryDisk
  readonly registry: EnvironmentRegistry
  readonly environments: EnvironmentProvisioner
  readonly environment: Environment
  /** What a start after a crash at this moment finds. */
  readonly restarted: () => Promise<Environment>
}

function withMock(work: (mock: Mock) => Promise<void>): Promise<void> {
  return withDirectory(async (directory) => {
    const [file, disk] = [join(directory, 'state.json'), new MemoryDisk()]
    const registry = await openTestRegistry({ file, fileSystem: disk })
    const thirdParty = { accept: () => undefined } as unknown as ThirdParty
    const environments = new EnvironmentProvisioner({
      registry,
      thirdParty: () => thirdParty,
      seed: () => Promise.resolve(SERVER),
    })
    const { environment } = await environments.createDefault('default')
    await registry.flushed()
    let restarts = 0
    const restarted = async (): Promise<Environment> => {
      const name = `restarted-${++restarts}`
      const left = disk.after('power-lost')
      const other = new MemoryDisk(left.paths().map((path) => [path.replace('state', name), left.file(path)!]))
      const again = await openTestRegistry({ file: join(directory, `${name}.json`), fileSystem: other })
      await again.close()
      return again.environment('default')!
    }
    try {
      await work({ disk, registry, environments, environment, restarted })
    } finally {
      await registry.close()
    }
  })
}

const identifiers = ({ model }: Environment): string[] =>
  [...model.tables.accounts.values()].map((row) => row.identifier)
const tablesOf = (environment: Environment): unknown => ({ ...environment.stored(true), ids: null })

const it = base.extend('mock', during(withMock))

describe('a large seed that is added', () => {
  it('lets the sequences of its connectors begin again', async ({
    mock: { environments, environment, registry, restarted },
  }) => {
    const [connector] = environment.connectors.values()
    const [counter, ofAccount] = [sequenceCounterOf('app', 0), sequenceCounterOf('app', 0, 'ca_ada')]
    const ofOther = sequenceCounterOf('app 0', 1, 'ca_ada')
    const responder = { on: {}, answers: [], after_last: 'repeat' } as const
    const seed = { ...LARGE, connectors: [{ ...connector!, responders: [responder] }] } as unknown as SeedBundle
    const count = (): void =>
      environment.model.transact(() => {
        for (const id of [counter, ofAccount, ofOther]) environment.model.count(id)
      })
    count()
    await environments.add(environment, seed)
    expect(environment.model.tables.counters.get(counter)).toBeUndefined()
    expect(environment.model.tables.counters.get(ofAccount)).toBeUndefined()
    expect(environment.model.tables.counters.get(ofOther)).toBeDefined()
    await registry.flushed()
    expect(tablesOf(await restarted())).toEqual(tablesOf(environment))
  })

  it('changes nothing when its last account cannot be put', async ({
    mock: { environments, environment, registry },
  }) => {
    const before = tablesOf(environment)
    const accounts = [...Array.from({ length: MANY }, (_, at) => pending(`user${at}`)), pending('x', 'none')]
    await expect(environments.add(environment, { ...emptyBundle(), accounts })).rejects.toThrow('no connector')
    await registry.flushed()
    expect(tablesOf(environment)).toEqual(before)
    await environments.add(environment, LARGE)
    expect(identifiers(environment)).toHaveLength(MANY + 1)
  })

  it('changes nothing when the disk refuses it', async ({
    mock: { environments, environment, registry, disk, restarted },
  }) => {
    const before = tablesOf(environment)
    disk.fails = () => new Error('ENOSPC: no space left on device')
    await environments.add(environment, LARGE)
    await expect(registry.durable()).rejects.toThrow('no space left')
    expect(tablesOf(environment)).toEqual(before)
    disk.fails = () => undefined
    await environments.add(environment, LARGE)
    await registry.flushed()
    expect(tablesOf(await restarted())).toEqual(tablesOf(environment))
  })

  it('is not there after a crash before it is durable, and all there afterwards', async ({
    mock: { environments, environment, registry, disk, restarted },
  }) => {
    await environments.add(environment, LARGE)
    const crashed: Promise<Environment>[] = []
    let release = (): void => undefined
    disk.gate = new Promise((resolve) => (release = resolve))
    const durable = registry.durable()
    for (let turn = 0; turn < 50; turn++) await nextTurn()
    crashed.push(restarted())
    release()
    await durable
    for (const each of crashed) expect(identifiers(await each)).toEqual(['ada'])
    expect(identifiers(await restarted())).toHaveLength(MANY + 1)
  })

  it('fails when its environment is removed meanwhile', async ({ mock: { environments, environment, registry } }) => {
    const adding = environments.add(environment, { ...LARGE, clients: [{ id: 'later', client_secret: 's' }] })
    registry.remove('default')
    await expect(adding).rejects.toThrow('was removed')
    expect([registry.byClient.get('c'), registry.byClient.get('later')]).toEqual([undefined, undefined])
  })

  it('is not put into the environments that are removed while the seed of the server changes', async ({
    mock: { environments, registry },
  }) => {
    await environments.create({ name: 'removed' })
    await environments.create({ name: 'kept' })
    const accounts = Array.from({ length: MANY }, (_, at) => pending(`user${at}`))
    const changing = environments.reseed({ ...SERVER, accounts }, 'default')
    registry.remove('removed')
    await changing
    expect(identifiers(registry.environment('kept')!)).toHaveLength(MANY + 1)
  })

  it('that no longer names an account keeps it in its place, also after a reset', async ({
    mock: { environments, environment },
  }) => {
    const seed = (...names: string[]): SeedBundle => ({ ...SERVER, accounts: names.map((name) => pending(name)) })
    await environments.reseed(seed('ada', 'grace', 'lin'), 'default')
    await environments.reseed(seed('ada', 'lin', 'new'), 'default')
    expect(identifiers(environment)).toEqual(['ada', 'grace', 'lin', 'new'])
    await environments.reset(environment)
    expect(identifiers(environment)).toEqual(['ada', 'grace', 'lin', 'new'])
  })

  it('that brings a client of another environment changes nothing', async ({
    mock: { environments, environment, registry },
  }) => {
    const clients = [{ id: 'taken', client_secret: 's' }]
    const adding = environments.add(environment, {
      ...LARGE,
      clients: [{ id: 'own', client_secret: 's' }, ...clients],
    })
    createEnvironment(registry, 'other', { clients })
    await expect(adding).rejects.toThrow('belongs to the environment other')
    expect(identifiers(environment)).toEqual(['ada'])
    expect(registry.byClient.get('taken')?.environment.name).toBe('other')
    expect(registry.byClient.get('own')).toBeUndefined()
    expect(registry.byClient.get('c')?.environment).toBe(environment)
  })
})

describe('a state that is put', () => {
  const tablesWith = (environment: Environment, table: string, row: object) => ({
    tables: { ...environment.image().tables, clients: [], [table]: [row] },
  })
  const expires_at = '2099-01-01T00:00:00.000Z'
  const link = { account_id: 'ca_1', oauth_state: 'o', user_verify_url: '', state: null, expires_at }

  it.for([
    ['a bearer token', 'bearer_tokens', { id: 'same', client_id: 'c', expires_at }],
    ['a magic link', 'magic_links', { id: 'same', ...link }],
    ['a key of session tokens', 'mcp_keys', { id: 'same', n: '', e: '', private_key: '' }],
  ] as const)(
    'in two environments at once gives %s to one of them',
    async ([what, table, row], { mock: { environments, environment, registry, restarted } }) => {
      const { environment: other } = await environments.create({ name: 'other' })
      const before = tablesOf(other)
      replaceState(environment, tablesWith(environment, table, row))
      expect(() => replaceState(other, tablesWith(other, table, row))).toThrow(
        `${what} of the state belongs to the environment default`,
      )
      expect(tablesOf(other)).toEqual(before)
      await registry.flushed()
      expect([...(await restarted()).model.tables[table].values()]).toEqual([row])
    },
  )

  it('is not taken back from another environment by a snapshot', async ({
    mock: { environments, environment, registry },
  }) => {
    const row = { id: 'same', ...link }
    replaceState(environment, tablesWith(environment, 'magic_links', row))
    const snapshot = takeSnapshot(environment, 'with-link')
    replaceState(environment, { tables: { ...environment.image().tables, magic_links: [] } })
    const { environment: other } = await environments.create({ name: 'other' })
    replaceState(other, tablesWith(other, 'magic_links', row))
    expect(() => restoreSnapshot(environment, snapshot)).toThrow('belongs to the environment other')
    expect(registry.byMagicLink.get('same')?.environment).toBe(other)
    expect([...environment.model.tables.magic_links.values()]).toEqual([])
  })
})

describe('a reset to a large seed', () => {
  const large = async (mock: Mock): Promise<void> => {
    await mock.environments.add(mock.environment, LARGE)
    await mock.registry.flushed()
  }

  it('drops what was changed but clients and tokens', async ({ mock }) => {
    const { environments, environment, registry, restarted } = mock
    await large(mock)
    const seeded = identifiers(environment)
    addAccount(registry, 'default', { connector: 'app', identifier: 'before' })
    const expires_at = '2027-01-01T00:00:00.000Z'
    environment.model.transact(() => {
      environment.model.tables.bearer_tokens.put({ id: 'token', client_id: 'c', expires_at })
    })
    await environments.reset(environment)
    expect(identifiers(environment)).toEqual(seeded)
    expect(registry.byBearer.get('token')?.environment).toBe(environment)
    await registry.flushed()
    expect(tablesOf(await restarted())).toEqual(tablesOf(environment))
  })

  it('gives no row the place of an earlier one, which page tokens name', async ({
    mock: { environments, environment },
  }) => {
    const places = (): number[] => [...environment.model.tables.connections.placed()].map(([place]) => place)
    const before = places()
    await environments.reset(environment)
    expect(places()).toHaveLength(before.length)
    expect(Math.min(...places())).toBeGreaterThan(Math.max(...before))
  })

  it('brings the same rows back each time, and the state of before when the disk refuses it', async ({ mock }) => {
    const { environments, environment, registry, disk } = mock
    await large(mock)
    const ids = (): string[] => [...environment.model.tables.accounts.values()].map(({ id }) => id)
    const before = ids()
    await environments.reset(environment)
    await registry.flushed()
    expect(ids()).toEqual(before)
    const [first] = before
    environment.model.transact(() => environment.model.tables.accounts.remove(first ?? ''))
    await registry.flushed()
    disk.fails = () => new Error('EIO')
    await environments.reset(environment)
    addAccount(registry)
    expect(ids()).toEqual([...before, 'ca_3002'])
    await expect(registry.durable()).rejects.toThrow('nothing was changed')
    expect(ids()).toEqual(before.slice(1))
    disk.fails = () => undefined
    environment.model.transact(() => environment.model.tables.accounts.put(account(1)))
    expect(environment.model.accountIndex.where({ connector: 'mail', identifier: 'user1@example.com' })).toHaveLength(1)
  })
})

describe('a new environment with a large seed', () => {
  it('is there once it is complete, and a second one of its name is refused', async ({ mock: { environments } }) => {
    const both = [environments.create({ name: 'ci', seed: LARGE }), environments.create({ name: 'ci', seed: LARGE })]
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    await expect(both[1]).rejects.toThrow('there is an environment "ci" already')
  })
})
