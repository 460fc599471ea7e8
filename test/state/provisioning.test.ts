import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { ThirdParty } from '../../src/model/domain/ports.ts'
import { emptyBundle, type SeedBundle } from '../../src/model/domain/seed.ts'
import type { EnvironmentRegistry } from '../../src/state/environment-registry.ts'
import { EnvironmentProvisioner } from '../../src/state/provisioning.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { it } from '../support/mock-fixture.ts'
import { openTestRegistry } from '../support/registry.ts'
import { seedAccount } from '../support/rows.ts'

const connection = (key_id: string): SeedBundle['connections'][number] => ({ key_id, type: 'API_KEY' })
const account = (identifier: string) => seedAccount('app', { identifier, status: 'PENDING_AUTH' })
const SERVER: SeedBundle = {
  ...emptyBundle(),
  clients: [{ id: 'c', client_secret: 's' }],
  connections: [connection('app')],
  accounts: [account('ada')],
}
const ADDED: SeedBundle = {
  ...emptyBundle(),
  clients: [{ id: 'ci-*', client_secret: 'ci' }],
  providers: [{ display_name: 'Acme' }],
  accounts: [account('grace')],
}

function provisioner(registry: EnvironmentRegistry, seed = SERVER): EnvironmentProvisioner {
  const thirdParty = { accept: () => undefined } as unknown as ThirdParty
  return new EnvironmentProvisioner({ registry, thirdParty: () => thirdParty, seed: () => Promise.resolve(seed) })
}

function identifiers(registry: EnvironmentRegistry, name = 'default'): string[] {
  return [...(registry.environment(name)?.model.tables.accounts.values() ?? [])].map(({ identifier }) => identifier)
}

describe('the seed of an environment', () => {
  it('is restored by a reset after a restart with any options, including its ids', async ({ file }) => {
    const disk = new MemoryDisk()
    const registry = await openTestRegistry({ file, fileSystem: disk })
    const first = provisioner(registry)
    const { environment } = await first.createDefault('default')
    await first.add(environment, ADDED)
    const { accounts, providers } = environment.model.tables
    const made = [...accounts.values(), ...providers.values()].map(({ id }) => id)
    await registry.close()

    const again = await openTestRegistry({ file, fileSystem: new MemoryDisk([[file, disk.file(file)!]]) })
    const restarted = again.environment('default')!
    restarted.model.transact(() => restarted.model.tables.accounts.remove(made[0] ?? ''))
    const second = provisioner(again, { ...emptyBundle(), clients: SERVER.clients })
    await second.reset(restarted)
    expect(identifiers(again)).toEqual(['ada', 'grace'])
    const { tables } = restarted.model
    expect([...tables.accounts.values(), ...tables.providers.values()].map(({ id }) => id)).toEqual(made)
    const arrived = await second.createForClient('ci-7', 'ci')
    expect(arrived?.environment.name).toBe('ci-7')
    expect([...(arrived?.environment.model.tables.accounts.values() ?? [])]).toHaveLength(2)
    await again.close()
  })

  it.each<[string, (first: () => Promise<unknown>, second: () => Promise<unknown>) => Promise<unknown>]>([
    ['right before', (create, reseed) => Promise.all([create(), reseed()])],
    ['right after', (create, reseed) => Promise.all([reseed(), create()])],
  ])('is that of the server as it was read again, where the environment is asked for %s', async (_, run) => {
    const registry = await openTestRegistry()
    const environments = provisioner(registry)
    await environments.createDefault('default')
    const seed = { ...SERVER, accounts: [account('grace')] }
    await run(
      () => environments.create({ name: 'other' }),
      () => environments.reseed(seed, 'default'),
    )
    expect(identifiers(registry, 'other')).toContain('grace')
    await environments.reset(registry.environment('other')!)
    expect(identifiers(registry, 'other')).toContain('grace')
  })

  it('does not change by a seed that the disk refuses', async ({ directory }) => {
    const disk = new MemoryDisk()
    const registry = await openTestRegistry({ file: join(directory, 'state.json'), fileSystem: disk })
    const environments = provisioner(registry)
    const { environment } = await environments.createDefault('default')
    await registry.durable()
    disk.fails = () => new Error('EIO: i/o error')
    await environments.add(environment, ADDED)
    await expect(registry.durable()).rejects.toThrow('nothing was changed')
    disk.fails = () => undefined
    expect(await environments.createForClient('ci-7', 'ci')).toBeUndefined()
    await environments.reset(environment)
    expect(identifiers(registry)).toEqual(['ada'])
    await registry.close()
  })
})

describe('the environment of a client id that fits a pattern', () => {
  const many = Array.from({ length: 3000 }, (_, at) => account(`user-${at}`))
  const seed = { ...SERVER, clients: [...SERVER.clients, ...ADDED.clients], accounts: many }

  it('has another name when another request takes the name while it is made', async ({ directory }) => {
    const registry = await openTestRegistry({ file: join(directory, 'state.json'), fileSystem: new MemoryDisk() })
    const environments = provisioner(registry, seed)
    const arriving = Promise.all([
      environments.createForClient('ci-7', 'ci'),
      environments.createForClient('ci-7', 'ci'),
    ])
    await environments.create({ name: 'ci-7', seed: { ...SERVER, clients: [] } })
    const [one, other] = await arriving
    expect(one?.environment.name).toMatch(/^ci-7-[0-9a-f]{8}$/)
    expect(other?.environment).toBe(one?.environment)
    await registry.close()
  })

  it('is the one that another request has made for the client id meanwhile', async ({ directory }) => {
    const registry = await openTestRegistry({ file: join(directory, 'state.json'), fileSystem: new MemoryDisk() })
    const environments = provisioner(registry, seed)
    const arriving = environments.createForClient('ci-7', 'ci')
    const client = { id: 'ci-7', client_secret: 'ci' }
    const made = await environments.create({ name: 'mine', seed: { ...SERVER, clients: [] }, client })
    expect((await arriving)?.environment).toBe(made.environment)
    await registry.close()
  })
})
