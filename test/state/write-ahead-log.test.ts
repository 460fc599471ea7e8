import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect } from 'vitest'
import { ServiceError } from '../../src/model/domain/errors.ts'
import type { JsonObject } from '../../src/model/domain/json.ts'
import type { StateContent } from '../../src/state/model/state-image.ts'
import type { EnvironmentRegistry } from '../../src/state/environment-registry.ts'
import { takeSnapshot } from '../../src/state/snapshots.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { it as base } from '../support/mock-fixture.ts'
import { account, accountIds, addAccount, createEnvironment, openTestRegistry } from '../support/registry.ts'
import { until } from '../support/until.ts'

const ADA = { id: 'client_ada', client_secret: 's' }

/** A disk with a log of some commits, each in a write of its own. */
async function logged(file: string, commits: number): Promise<MemoryDisk> {
  const disk = new MemoryDisk()
  const registry = await openTestRegistry({ file, fileSystem: disk })
  createEnvironment(registry, 'default', { clients: [ADA] })
  for (let each = 0; each < commits; each++) {
    addAccount(registry)
    await registry.durable()
  }
  const killed = disk.after('power-lost')
  await registry.close()
  return killed
}

const it = base.extend('stored', async ({ file }, { onCleanup }) => {
  const disk = new MemoryDisk()
  const registry = await openTestRegistry({ file, fileSystem: disk })
  createEnvironment(registry, 'default')
  onCleanup(() => registry.close())
  return { disk, registry, file }
})

async function reopened(file: string, disk: MemoryDisk, work: (registry: EnvironmentRegistry) => void): Promise<void> {
  const registry = await openTestRegistry({ file, fileSystem: disk })
  try {
    work(registry)
  } finally {
    await registry.close()
  }
}

it('cut at any byte of its last line, or with that line scrambled, drops and reports that line, and keeps the rest', async ({
  file,
}) => {
  const disk = await logged(file, 3)
  const whole = disk.file(`${file}.wal.0`) ?? Buffer.alloc(0)
  const lastLine = whole.lastIndexOf(0x0a, -2) + 1
  for (let cut = lastLine; cut < whole.length; cut++) {
    const torn = new MemoryDisk([[`${file}.wal.0`, whole.subarray(0, cut)]])
    await reopened(file, torn, (registry) => {
      expect(accountIds(registry)).toEqual(['ca_1', 'ca_2'])
      expect(registry.notices).toHaveLength(cut === lastLine ? 0 : 1)
      addAccount(registry)
      expect(accountIds(registry)).toEqual(['ca_1', 'ca_2', 'ca_3'])
    })
    const scrambled = Buffer.from(whole)
    scrambled[cut] = (whole[cut] ?? 0) ^ 1
    const damaged = new MemoryDisk([[`${file}.wal.0`, scrambled]])
    await reopened(file, damaged, (registry) => {
      expect(accountIds(registry)).toEqual(['ca_1', 'ca_2'])
      expect(registry.notices).toHaveLength(1)
    })
  }
}, 60_000)

it.for<[string, (header: Buffer) => Buffer]>([
  ['nothing', () => Buffer.alloc(0)],
  ['a part', (header) => header.subarray(0, 30)],
  ['zeros', (header) => Buffer.alloc(header.length)],
  ['a part and zeros', (header) => Buffer.concat([header.subarray(0, 5), Buffer.alloc(header.length - 5)])],
])('of whose first line a crash left %s is written again', async ([_, left], { file }) => {
  const path = `${file}.wal.0`
  const disk = await logged(file, 1)
  const log = disk.file(path)!
  disk.put(path, left(log.subarray(0, log.indexOf('\n') + 1)))
  await reopened(file, disk, (registry) => {
    createEnvironment(registry, 'default')
    addAccount(registry)
  })
  await reopened(file, disk, (registry) => expect(accountIds(registry)).toEqual(['ca_1']))
})

it('that the state file already holds is removed by a start that succeeds, and by no other', async ({ file }) => {
  const disk = await logged(file, 2)
  const old = disk.file(`${file}.wal.0`)!
  await reopened(file, disk, (registry) => expect(accountIds(registry)).toEqual(['ca_1', 'ca_2']))
  disk.put(`${file}.wal.0`, old)
  disk.put(`${file}.wal.1`, 'a diary')
  await expect(openTestRegistry({ file, fileSystem: disk })).rejects.toThrow('this is not a write-ahead log')
  expect(disk.paths()).toContain(`${file}.wal.0`)
  await disk.remove(`${file}.wal.1`)
  const registry = await openTestRegistry({ file, fileSystem: disk })
  expect([accountIds(registry), disk.paths()]).toEqual([['ca_1', 'ca_2'], [file]])
  await registry.close()
})

it('is removed by a clean stop, and not created by a start without changes', async ({ file }) => {
  const disk = await logged(file, 2)
  await reopened(file, disk, () => undefined)
  expect(disk.paths()).toEqual([file])
  const operations = disk.operations
  await reopened(file, disk, (registry) => expect(accountIds(registry)).toEqual(['ca_1', 'ca_2']))
  expect(disk.operations).toBe(operations)
})

it('shares one write and one sync between commits that wait together', async ({ stored: { disk, registry } }) => {
  await registry.durable()
  const before = disk.log.length
  for (let each = 0; each < 100; each++) addAccount(registry)
  await registry.durable()
  expect(disk.log.slice(before)).toEqual(['write state.json.wal.0', 'datasync state.json.wal.0'])
})

it('shares one write and one sync between commits that come in different turns before a request waits', async ({
  stored: { disk, registry },
}) => {
  await registry.durable()
  const before = disk.log.length
  addAccount(registry)
  await nextTurn()
  expect(disk.log.length).toBe(before)
  addAccount(registry)
  await registry.durable()
  expect(disk.log.slice(before)).toEqual(['write state.json.wal.0', 'datasync state.json.wal.0'])
})

it('is synced with its name before a commit counts as durable, and a state file is synced before it replaces the former', async ({
  stored: { disk, registry },
}) => {
  await registry.durable()
  expect(disk.log).toEqual([
    'create state.json.wal.0',
    'sync directory',
    'write state.json.wal.0',
    'datasync state.json.wal.0',
    'write state.json.wal.0',
    'datasync state.json.wal.0',
  ])
  const before = disk.log.length
  await registry.checkpoint()
  expect(disk.log.slice(before)).toEqual([
    'create state.json.wal.1',
    'sync directory',
    'create state.json.tmp',
    'write state.json.tmp',
    'sync state.json.tmp',
    'rename state.json.tmp',
    'sync directory',
    'remove state.json.wal.0',
    'sync directory',
  ])
})

it('is checkpointed once it has as many bytes as its bound, and not with one byte less', async ({ file }) => {
  const sizeOf = (disk: MemoryDisk) => disk.file(`${file}.wal.0`)?.length ?? 0
  const isCheckpointed = async (checkpointAt: number): Promise<[boolean, number]> => {
    const disk = new MemoryDisk()
    const registry = await openTestRegistry({ file, fileSystem: disk, checkpointAt })
    createEnvironment(registry, 'default', { idSeed: 1 })
    await registry.durable()
    const size = sizeOf(disk)
    // A checkpoint that was due has begun after this turn.
    await nextTurn()
    const begun = disk.log.some((name) => name.includes('.wal.1'))
    await registry.close()
    return [begun, size]
  }
  const [, size] = await isCheckpointed(Infinity)
  expect(await isCheckpointed(size)).toEqual([true, size])
  expect(await isCheckpointed(size + 1)).toEqual([false, size])
})

it('is truncated and synced where a write was torn, before it continues in another file', async ({
  stored: { disk, registry },
}) => {
  await registry.durable()
  addAccount(registry)
  disk.fails = (_operation, name) => (/^(datasync|truncate)/.test(name) ? new Error('no disk') : undefined)
  await expect(registry.durable()).rejects.toThrow()
  disk.fails = () => undefined
  const before = disk.log.length
  await registry.checkpoint()
  expect(disk.log.slice(before, before + 3)).toEqual([
    'truncate state.json.wal.0',
    'datasync state.json.wal.0',
    'create state.json.wal.1',
  ])
})

it('and its state file stay removed once a start has removed them', async ({ file }) => {
  const disk = await logged(file, 2)
  await (await openTestRegistry({ file, fileSystem: disk })).close()
  const fresh = await openTestRegistry({ file, fileSystem: disk, fresh: true })
  const lost = disk.after('power-lost')
  await fresh.close()
  expect(lost.paths()).toEqual([])
})

it('is checkpointed once for concurrent requests, and when the last commits fill it', async ({ file }) => {
  const disk = new MemoryDisk()
  const registry = await openTestRegistry({ file, fileSystem: disk })
  createEnvironment(registry, 'default')
  await registry.durable()
  await Promise.all([registry.checkpoint(), registry.checkpoint()])
  const written = () => disk.log.filter((name) => name === 'create state.json.tmp').length
  expect(written()).toBe(1)
  await registry.close()

  const full = await openTestRegistry({ file, fileSystem: disk, checkpointAt: 1 })
  const before = written()
  for (let each = 0; each < 100; each++) addAccount(full)
  await full.close()
  expect(written() - before).toBe(1)
})

it('is checkpointed next when it is as large as the state file, before a restart and after it', async ({ file }) => {
  const disk = new MemoryDisk()
  const registry = await openTestRegistry({ file, fileSystem: disk, checkpointAt: 1000 })
  createEnvironment(registry, 'default')
  for (let each = 0; each < 100; each++) addAccount(registry)
  await registry.checkpoint()
  const isCheckpointed = async (opened: EnvironmentRegistry, commits: number): Promise<boolean> => {
    const before = disk.log.length
    for (let each = 0; each < commits; each++) {
      addAccount(opened)
      await opened.durable()
    }
    await nextTurn()
    return disk.log.slice(before).some((name) => name === 'create state.json.tmp')
  }
  expect(disk.file(file)!.length).toBeGreaterThan(10_000)
  // Twenty commits are more than a thousand bytes, and fewer than the state file has.
  expect(await isCheckpointed(registry, 20)).toBe(false)
  expect(await isCheckpointed(registry, 200)).toBe(true)
  await registry.close()

  const again = await openTestRegistry({ file, fileSystem: disk, checkpointAt: 1000 })
  expect(await isCheckpointed(again, 20)).toBe(false)
  expect(await isCheckpointed(again, 300)).toBe(true)
  await again.close()
})

it('that cannot be checkpointed is tried again once it has doubled', async ({ file }) => {
  const disk = new MemoryDisk()
  const registry = await openTestRegistry({ file, fileSystem: disk, checkpointAt: 5000 })
  createEnvironment(registry, 'default')
  disk.fails = (_operation, name) => (name === 'create state.json.tmp' ? new Error('no disk') : undefined)
  const sizes: number[] = []
  for (let each = 0; each < 200; each++) {
    const tried = disk.log.length
    addAccount(registry)
    await registry.durable()
    await nextTurn()
    if (disk.log.slice(tried).includes('create state.json.tmp'))
      sizes.push(disk.paths().reduce((sum, path) => sum + (disk.file(path)?.length ?? 0), 0))
  }
  expect(sizes.length).toBeGreaterThan(1)
  // Each attempt leaves the first line of another file.
  for (const [at, size] of sizes.slice(1).entries()) expect(size).toBeGreaterThan(1.9 * sizes[at]!)
  disk.fails = () => undefined
  await registry.close()
})

it('is written soon although no request waits', async ({ stored: { disk } }) =>
  await expect.poll(() => disk.log).toContain('datasync state.json.wal.0'))

it('is checkpointed when it has grown past its bound, during commits', async ({ file }) => {
  const disk = new MemoryDisk()
  const registry = await openTestRegistry({ file, fileSystem: disk, checkpointAt: 20_000 })
  createEnvironment(registry, 'default')
  for (let each = 0; each < 200; each++) {
    addAccount(registry)
    await registry.durable()
  }
  expect(disk.log.filter((name) => name.startsWith('rename')).length).toBeGreaterThan(0)
  const killed = disk.after('power-lost')
  await registry.close()
  await reopened(file, killed, (again) => expect(accountIds(again)).toHaveLength(200))
})

it('has a commit of thousands of changes, completely or not at all', async ({ file }) => {
  const disk = new MemoryDisk()
  const registry = await openTestRegistry({ file, fileSystem: disk })
  createEnvironment(registry, 'default')
  await registry.durable()
  const { model } = registry.environment('default') ?? createEnvironment(registry, 'default')
  model.transact(() => {
    for (let each = 0; each < 2000; each++) model.tables.accounts.put(account(model.count('account_sequence')))
  })
  await registry.durable()
  const killed = disk.after('power-lost')
  await registry.close()
  const whole = killed.file(`${file}.wal.0`) ?? Buffer.alloc(0)
  for (const cut of [whole.length - 1, Math.floor(whole.length / 2), whole.lastIndexOf(0x0a, -2) + 2]) {
    await reopened(file, new MemoryDisk([[`${file}.wal.0`, whole.subarray(0, cut)]]), (again) => {
      expect(accountIds(again)).toEqual([])
      expect(again.notices).toHaveLength(1)
      addAccount(again)
    })
  }
  await reopened(file, killed, (again) => expect(accountIds(again)).toHaveLength(2000))
})

it('acknowledges at once with relaxed durability, and reports a refusal once', async ({ file }) => {
  const disk = new MemoryDisk()
  const registry = await openTestRegistry({ file, fileSystem: disk, durability: 'relaxed' })
  createEnvironment(registry, 'default')
  expect(registry.durable()).toBeUndefined()
  await registry.checkpoint()
  disk.fails = () => new Error('EIO')
  addAccount(registry)
  await registry.durable()
  await until(() => accountIds(registry).length === 0)
  await expect(registry.durable()).rejects.toThrow(ServiceError)
  await registry.durable()
  disk.fails = () => undefined
  addAccount(registry)
  await registry.close()
  await reopened(file, disk, (again) => expect(accountIds(again)).toEqual(['ca_1']))
})

it('replays to the same model, after any changes', async ({ file }) => {
  const step = fc.oneof(
    fc.record({ put: fc.integer({ min: 1, max: 8 }), value: fc.string({ unit: 'binary' }) }),
    fc.record({ remove: fc.integer({ min: 1, max: 8 }) }),
    fc.constantFrom('checkpoint', 'restart', 'freeze', 'configure', 'id', 'other', 'durable', 'snapshot'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const disk = new MemoryDisk()
      let registry = await openTestRegistry({ file, fileSystem: disk })
      try {
        createEnvironment(registry, 'default', { idSeed: 7, clients: [ADA] })
        for (const each of steps) {
          if (each === 'restart') {
            await registry.close()
            registry = await openTestRegistry({ file, fileSystem: disk })
          } else await take(registry, each)
        }
        await registry.durable()
        expect(await imageAfterKill(disk, file)).toEqual(plain(registry.image()))
      } finally {
        await registry.close()
      }
    }),
    { numRuns: 150 },
  )
}, 60_000)

type Step = { put: number; value: string } | { remove: number } | string

async function take(registry: EnvironmentRegistry, step: Step): Promise<void> {
  const environment = registry.environment('default') ?? createEnvironment(registry, 'default')
  const { accounts } = environment.model.tables
  if (step === 'checkpoint') await registry.checkpoint()
  else if (step === 'durable') await registry.durable()
  else if (step === 'snapshot') takeSnapshot(environment, 'one')
  else if (step === 'freeze') environment.clock.freeze()
  else if (step === 'configure') environment.configure({ consent: 'approve' })
  else if (step === 'other' && !registry.remove('other'))
    createEnvironment(registry, 'other', { clients: [{ id: 'o', client_secret: '' }] })
  else if (step === 'id') environment.model.transact(() => environment.model.count(environment.ids.id('x')))
  else if (typeof step === 'object') {
    environment.model.transact(() => {
      environment.model.tables.counters.put({ id: 'account_sequence', value: 8 })
      if ('remove' in step) accounts.remove(`ca_${step.remove}`)
      else
        accounts.put(
          account(step.put, {
            identifier: `${step.put} ${step.value}`,
            api_config: JSON.parse('{"__proto__": 1}') as JsonObject,
          }),
        )
    })
  }
}

/** The same files for another path, because the first registry still has the lock. */
function copied(disk: MemoryDisk, file: string): MemoryDisk {
  const files = disk.paths().map((path) => [path.replace(file, `${file}2`), disk.file(path)!] as const)
  return new MemoryDisk(files)
}

async function imageAfterKill(disk: MemoryDisk, file: string): Promise<unknown> {
  const fileSystem = copied(disk.after('power-lost'), file)
  const registry = await openTestRegistry({ file: `${file}2`, fileSystem })
  const image = plain(registry.image())
  await registry.close()
  return image
}

function plain(image: StateContent): unknown {
  return JSON.parse(JSON.stringify(image)) as unknown
}
