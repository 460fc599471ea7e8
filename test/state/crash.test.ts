import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { EnvironmentRegistry } from '../../src/state/environment-registry.ts'
import { batchLine } from '../../src/state/wal/log-lines.ts'
import { type Crash, MemoryDisk } from '../support/memory-disk.ts'
import { it } from '../support/mock-fixture.ts'
import { accountIds, addAccount, createEnvironment, openTestRegistry } from '../support/registry.ts'

const CRASHES: Crash[] = ['killed', 'power-lost', 'power-lost-names-kept', 'power-lost-removals-kept']

const FROZEN = { offset_ms: 0, frozen_at: '2026-01-01T00:00:00.000Z' }

interface Outcome {
  attempted: number
  acknowledged: number
}

/** Makes commits and checkpoints, and stops; returns what was acknowledged before the disk failed. */
async function commitAndStop(disk: MemoryDisk, file: string): Promise<Outcome> {
  const outcome = { attempted: 0, acknowledged: 0 }
  const registry = await openTestRegistry({ file, fileSystem: disk })
  const add = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each++) addAccount(registry)
    outcome.attempted += count
    await registry.durable()
    outcome.acknowledged += count
  }
  try {
    createEnvironment(registry, 'default', { idSeed: 1 })
    await registry.durable()
    await add(1)
    await add(3)
    const checkpointing = registry.checkpoint()
    await Promise.all([add(2), checkpointing])
    await add(1)
    await registry.checkpoint()
    await add(2)
  } catch {
    // The disk has failed: no later commit is acknowledged.
  }
  await registry.close().catch(() => undefined)
  return outcome
}

function firstIds(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `ca_${at + 1}`)
}

/** Asserts that a start finds every acknowledged account, perhaps later ones too, and only complete commits. */
async function expectRecovered(disk: MemoryDisk, file: string, outcome: Outcome): Promise<void> {
  const registry = await openTestRegistry({ file, fileSystem: disk })
  const found = accountIds(registry)
  expect(found).toEqual(firstIds(found.length))
  expect(found.length).toBeGreaterThanOrEqual(outcome.acknowledged)
  expect(found.length).toBeLessThanOrEqual(outcome.attempted)
  await expectUsable(registry, disk, file)
}

async function expectUsable(registry: EnvironmentRegistry, disk: MemoryDisk, file: string): Promise<void> {
  if (!registry.environment('default')) createEnvironment(registry, 'default')
  const before = accountIds(registry).length
  addAccount(registry)
  await registry.durable()
  await registry.close()
  expect(disk.paths()).toEqual([file])
  const again = await openTestRegistry({ file, fileSystem: disk })
  expect(accountIds(again)).toEqual(firstIds(before + 1))
  await again.close()
}

describe.each(CRASHES)('a crash (%s)', (crash) => {
  it('at any operation of commits, checkpoints and stopping loses no acknowledged commit', async ({ file }) => {
    const whole = new MemoryDisk()
    expect(await commitAndStop(whole, file)).toEqual({ attempted: 9, acknowledged: 9 })
    expect(whole.operations).toBeGreaterThan(40)
    for (let stopAt = 1; stopAt <= whole.operations + 1; stopAt++) {
      const disk = new MemoryDisk()
      disk.fails = (operation) => (operation >= stopAt ? new Error('the machine has stopped') : undefined)
      const outcome = await commitAndStop(disk, file)
      await expectRecovered(disk.after(crash), file, outcome)
    }
  }, 60_000)
})

describe('an operation that fails once', () => {
  it('rolls back what was not acknowledged, reports it, and the service continues', async ({ file }) => {
    const whole = new MemoryDisk()
    await commitAndStop(whole, file)
    for (let failing = 1; failing <= whole.operations; failing++) {
      const disk = new MemoryDisk()
      disk.fails = (operation) =>
        operation === failing ? Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' }) : undefined
      const registry = await openTestRegistry({ file, fileSystem: disk })
      const known = new Set<string>()
      for (let round = 0; round < 6; round++) {
        if (!registry.environment('default')) createEnvironment(registry, 'default')
        else known.add(addAccount(registry).id)
        await registry.durable()?.catch(() => known.clear())
        const shown = accountIds(registry)
        for (const id of known) expect(shown).toContain(id)
        if (round % 2 === 1) await registry.checkpoint().catch(() => undefined)
      }
      const shown = accountIds(registry)
      const lost = await reopenedElsewhere(disk, file)
      expect(accountIds(lost)).toEqual(shown)
      await lost.close()
      await registry.close().catch(() => undefined)
      const again = await openTestRegistry({ file, fileSystem: disk.after('power-lost') })
      expect(accountIds(again)).toEqual(shown)
      await again.close()
    }
  }, 60_000)
})

describe('a disk that refuses for a while', () => {
  it('rolls back all later commits in reverse order, answers requests without writes, and is used again when it recovers', async ({
    directory,
  }) => {
    const file = join(directory, 'state.json')
    const disk = new MemoryDisk()
    const registry = await openTestRegistry({ file, fileSystem: disk })
    const { model, clock, ids } = createEnvironment(registry, 'default', { idSeed: 1, clock: FROZEN })
    const kept = addAccount(registry)
    await registry.durable()
    disk.fails = (_, name) => (name.startsWith('sync') ? undefined : new Error('ENOSPC: no space left'))
    model.transact(() => model.tables.accounts.put({ ...kept, identifier: 'first'.repeat(1000) }))
    const first = registry.durable()
    model.transact(() => model.tables.accounts.put({ ...kept, identifier: 'second' }))
    model.transact(() => model.tables.accounts.remove(kept.id))
    clock.advance(1000)
    createEnvironment(registry, 'other')
    registry.remove('default')
    const all = await Promise.allSettled([first, registry.durable()])
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(first).rejects.toMatchObject({ status: 503, errorCode: 'STORAGE_UNAVAILABLE' })
    expect(registry.environments().map(({ name }) => name)).toEqual(['default'])
    expect(model.tables.accounts.get(kept.id)).toBe(kept)
    expect(clock.state).toEqual(FROZEN)
    await registry.durable()
    disk.fails = () => undefined
    const given = ids.id('x')
    addAccount(registry)
    await registry.durable()
    const again = await reopenedElsewhere(disk, file)
    expect(accountIds(again)).toEqual(['ca_1', 'ca_2'])
    expect(again.notices).toEqual([])
    expect(again.environment('default')?.ids.id('x')).not.toBe(given)
    await again.close()
    await registry.close()
  })

  it('keeps the write-ahead log when the state file cannot be written at the stop', async ({ file }) => {
    const disk = new MemoryDisk()
    const registry = await openTestRegistry({ file, fileSystem: disk })
    createEnvironment(registry, 'default')
    addAccount(registry)
    await registry.durable()
    disk.fails = (_, name) => (name.startsWith('rename') ? new Error('EROFS: read-only') : undefined)
    await expect(registry.close()).rejects.toThrow('kept beside it')
    disk.fails = () => undefined
    const again = await openTestRegistry({ file, fileSystem: disk })
    expect(accountIds(again)).toEqual(['ca_1'])
    await again.close()
    expect(disk.paths()).toEqual([file])
  })
})

it('a log of an earlier build, which stores a change of settings or clock with the environment, keeps the rows', async ({
  directory,
}) => {
  const file = join(directory, 'state.json')
  const disk = new MemoryDisk()
  const registry = await openTestRegistry({ file, fileSystem: disk })
  const { settings } = createEnvironment(registry, 'default')
  addAccount(registry)
  await registry.durable()
  const record = { settings: { ...settings, consent: 'deny' as const }, clock: FROZEN, ids: null }
  const line = batchLine([{ environment: 'default', record }])
  disk.put(`${file}.wal.0`, `${String(disk.file(`${file}.wal.0`))}${line}`)
  const again = await reopenedElsewhere(disk, file)
  expect(accountIds(again)).toEqual(['ca_1'])
  expect(again.environment('default')).toMatchObject({ settings: { consent: 'deny' }, clock: { state: FROZEN } })
  await again.close()
  await registry.close()
})

/** Opens the files as they are after a power loss, at another path, because the first registry still has the lock. */
function reopenedElsewhere(disk: MemoryDisk, file: string): Promise<EnvironmentRegistry> {
  const copy = disk.after('power-lost')
  const files = copy
    .paths()
    .map((path) => [path.replace(file, `${file}2`), copy.file(path) ?? Buffer.alloc(0)] as const)
  return openTestRegistry({ file: `${file}2`, fileSystem: new MemoryDisk(files) })
}
