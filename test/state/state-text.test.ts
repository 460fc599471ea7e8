import { join } from 'node:path'
import { expect } from 'vitest'
import { restoreSnapshot, takeSnapshot } from '../../src/state/snapshots.ts'
import { type Crash, MemoryDisk } from '../support/memory-disk.ts'
import { it } from '../support/mock-fixture.ts'
import { accountIds, addAccount, createEnvironment, openTestRegistry } from '../support/registry.ts'

const AT = '2026-01-01T00:00:00.000Z'

it.for<Crash | 'stopped'>(['stopped', 'killed', 'power-lost'])(
  'is restored after a server was %s',
  async (end, { directory, file }) => {
    const disk = new MemoryDisk()
    const registry = await openTestRegistry({ file, fileSystem: disk })
    const environment = createEnvironment(registry, 'default', { clock: { offset_ms: 0, frozen_at: AT } })
    addAccount(registry)
    await registry.checkpoint()
    takeSnapshot(environment, 'one')
    addAccount(registry)
    takeSnapshot(environment, 'two')
    const run = {
      id: 'flaky',
      running: true,
      started_manually: true,
      started_at: 5,
      state: 'a',
      rules: [{ matched: 3, hits: 1 }],
    }
    environment.model.transact(() => {
      environment.model.tables.scenario_runs.put(run)
      environment.model.tables.snapshots.remove('two')
    })
    takeSnapshot(environment, 'two')
    addAccount(registry)
    await registry.durable()
    const left = end === 'stopped' ? undefined : disk.after(end)
    const image = environment.stored(true)
    await registry.close()
    const files = (left ?? disk)
      .paths()
      .map((path) => [path.replace('state', 'other'), (left ?? disk).file(path)!] as const)
    const again = await openTestRegistry({ file: join(directory, 'other.json'), fileSystem: new MemoryDisk(files) })
    const restarted = again.environment('default')!
    expect(restarted.stored(true)).toEqual(image)
    const { snapshots } = restarted.model.tables
    expect([...snapshots.values()].map(({ id, tables }) => [id, tables.accounts.length])).toEqual([
      ['one', 1],
      ['two', 2],
    ])
    restoreSnapshot(restarted, snapshots.get('one')!)
    expect(accountIds(again)).toEqual(['ca_1'])
    expect(snapshots.size).toBe(2)
    await again.close()
  },
)

it('is rolled back with a commit that the disk refuses', async ({ file }) => {
  const disk = new MemoryDisk()
  const registry = await openTestRegistry({ file, fileSystem: disk })
  const environment = createEnvironment(registry, 'default')
  await registry.durable()
  disk.fails = () => new Error('EIO: i/o error')
  addAccount(registry)
  takeSnapshot(environment, 'never')
  await expect(registry.durable()).rejects.toThrow('nothing was changed')
  expect(accountIds(registry)).toEqual([])
  expect(environment.model.tables.snapshots.size).toBe(0)
  disk.fails = () => undefined
  await registry.close()
})
