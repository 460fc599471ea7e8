import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../src/domain/errors.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import type { StateImage } from '../../src/state/model/state-image.ts'
import type { World } from '../../src/state/environment-registry.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { account, accountIds, addAccount, openTestWorld, withDirectory } from '../support/worlds.ts'

const ADA = { id: 'client_ada', client_secret: 's' }

/** A disk with a state file and a journal of some commits, each in a group of its own. */
async function journaled(file: string, commits: number): Promise<MemoryDisk> {
  const disk = new MemoryDisk()
  const world = await openTestWorld({ file, fileSystem: disk })
  world.create('default', { clients: [ADA] })
  for (let each = 0; each < commits; each++) {
    addAccount(world)
    await world.settled()
  }
  const killed = disk.after('power-lost')
  await world.close()
  return killed
}

function inDirectory(work: (file: string) => Promise<void>): () => Promise<void> {
  return () => withDirectory((directory) => work(join(directory, 'state.json')))
}

async function reopened(file: string, disk: MemoryDisk, work: (world: World) => void): Promise<void> {
  const world = await openTestWorld({ file, fileSystem: disk })
  try {
    work(world)
  } finally {
    await world.close()
  }
}

describe('the journal', () => {
  it(
    'cut at any byte of its last line, or with that line scrambled, drops it, says so and keeps the rest',
    inDirectory(async (file) => {
      const disk = await journaled(file, 3)
      const whole = disk.file(`${file}.journal`) ?? Buffer.alloc(0)
      const lastLine = whole.lastIndexOf(0x0a, -2) + 1
      for (let cut = lastLine; cut < whole.length; cut++) {
        const torn = new MemoryDisk([[`${file}.journal`, whole.subarray(0, cut)]])
        await reopened(file, torn, (world) => {
          expect(accountIds(world)).toEqual(['ca_1', 'ca_2'])
          expect(world.notices).toHaveLength(cut === lastLine ? 0 : 1)
          addAccount(world)
          expect(accountIds(world)).toEqual(['ca_1', 'ca_2', 'ca_3'])
        })
        const scrambled = Buffer.from(whole)
        scrambled[cut] = (whole[cut] ?? 0) ^ 1
        const damaged = new MemoryDisk([[`${file}.journal`, scrambled]])
        await reopened(file, damaged, (world) => {
          expect(accountIds(world)).toEqual(['ca_1', 'ca_2'])
          expect(world.notices).toHaveLength(1)
        })
      }
    }),
    60_000,
  )

  it(
    'damaged in its middle is refused, naming the line, and nothing is touched',
    inDirectory(async (file) => {
      const disk = await journaled(file, 3)
      const whole = disk.file(`${file}.journal`) ?? Buffer.alloc(0)
      const secondLine = whole.indexOf(0x0a) + 1
      const thirdLine = whole.indexOf(0x0a, secondLine) + 1
      for (const at of [0, 30, secondLine + 40, thirdLine + 60]) {
        const scrambled = Buffer.from(whole)
        scrambled[at] = 0
        const damaged = new MemoryDisk([[`${file}.journal`, scrambled]])
        await expect(openTestWorld({ file, fileSystem: damaged })).rejects.toThrow(
          /state\.json\.journal:\d.*damaged|not a journal/,
        )
        expect(damaged.operations).toBe(0)
      }
    }),
  )

  it.each<[string, (journal: Buffer) => Buffer | string]>([
    ['is some other text', () => 'a diary\nof mine\n'],
    ['is some other text in one line', () => 'a diary'],
    ['has other line breaks', (journal) => journal.toString().replaceAll('\n', '\r\n')],
    ['has a damaged first line', (journal) => journal.fill('x', 20, 21)],
    ['has lost its first line', (journal) => journal.subarray(journal.indexOf('\n') + 1)],
  ])('that %s is refused and stays as it is', (_, change) =>
    withDirectory(async (directory) => {
      const file = join(directory, 'state.json')
      const path = `${file}.journal`
      const disk = await journaled(file, 2)
      disk.put(path, change(Buffer.from(disk.file(path)!)))
      const before = disk.operations
      await expect(openTestWorld({ file, fileSystem: disk })).rejects.toThrow(`${path}:1: this is not a journal`)
      expect(disk.operations).toBe(before)
    }),
  )

  it.each<[string, (header: Buffer) => Buffer]>([
    ['nothing', () => Buffer.alloc(0)],
    ['a part', (header) => header.subarray(0, 30)],
    ['zeros', (header) => Buffer.alloc(header.length)],
    ['a part and zeros', (header) => Buffer.concat([header.subarray(0, 5), Buffer.alloc(header.length - 5)])],
  ])('of whose first line a crash left %s begins anew', (_, left) =>
    withDirectory(async (directory) => {
      const file = join(directory, 'state.json')
      const path = `${file}.journal`
      const disk = await journaled(file, 1)
      const journal = disk.file(path)!
      disk.put(path, left(journal.subarray(0, journal.indexOf('\n') + 1)))
      await reopened(file, disk, (world) => {
        world.create('default')
        addAccount(world)
      })
      await reopened(file, disk, (world) => expect(accountIds(world)).toEqual(['ca_1']))
    }),
  )

  it(
    'that follows another state file is refused',
    inDirectory(async (file) => {
      const disk = await journaled(file, 1)
      disk.put(file, '{"version":1,"environments":{}}')
      await expect(openTestWorld({ file, fileSystem: disk })).rejects.toThrow('not the one this journal follows')
      expect(disk.operations).toBe(0)
      await reopened(file, disk, () => undefined).catch(() => undefined)
      const fresh = await openTestWorld({ file, fileSystem: disk, fresh: true })
      expect(fresh.environments()).toEqual([])
      await fresh.close()
    }),
  )

  it(
    'whose state file is gone is refused',
    inDirectory(async (file) => {
      const disk = await journaled(file, 1)
      await reopened(file, disk, () => undefined)
      const world = await openTestWorld({ file, fileSystem: disk })
      addAccount(world)
      await world.settled()
      const killed = disk.after('killed')
      await world.close()
      await killed.remove(file)
      await expect(openTestWorld({ file, fileSystem: killed })).rejects.toThrow('the state file is missing')
    }),
  )

  it(
    'is gone after a clean stop, and not made by a start that changes nothing',
    inDirectory(async (file) => {
      const disk = await journaled(file, 2)
      await reopened(file, disk, () => undefined)
      expect(disk.paths()).toEqual([file])
      const operations = disk.operations
      await reopened(file, disk, (world) => expect(accountIds(world)).toEqual(['ca_1', 'ca_2']))
      expect(disk.operations).toBe(operations)
    }),
  )

  it(
    'shares one write and one sync between commits that wait together',
    inDirectory(async (file) => {
      const disk = new MemoryDisk()
      const world = await openTestWorld({ file, fileSystem: disk })
      world.create('default')
      await world.settled()
      const before = disk.log.length
      for (let each = 0; each < 100; each++) addAccount(world)
      await world.settled()
      expect(disk.log.slice(before)).toEqual(['write state.json.journal', 'datasync state.json.journal'])
      await world.close()
    }),
  )

  it(
    'is folded when it has grown past its bound, while commits go on',
    inDirectory(async (file) => {
      const disk = new MemoryDisk()
      const world = await openTestWorld({ file, fileSystem: disk, foldAt: 20_000 })
      world.create('default')
      for (let each = 0; each < 200; each++) {
        addAccount(world)
        await world.settled()
      }
      expect(disk.log.filter((name) => name.startsWith('rename')).length).toBeGreaterThan(0)
      const killed = disk.after('power-lost')
      await world.close()
      await reopened(file, killed, (again) => expect(accountIds(again)).toHaveLength(200))
    }),
  )

  it(
    'holds a commit of thousands of changes, whole or not at all',
    inDirectory(async (file) => {
      const disk = new MemoryDisk()
      const world = await openTestWorld({ file, fileSystem: disk })
      world.create('default')
      await world.settled()
      const { model } = world.environment('default') ?? world.create('default')
      model.transact(() => {
        for (let each = 0; each < 2000; each++) model.tables.accounts.put(account(model.count('account_sequence')))
      })
      await world.settled()
      const killed = disk.after('power-lost')
      await world.close()
      const whole = killed.file(`${file}.journal`) ?? Buffer.alloc(0)
      for (const cut of [whole.length - 1, Math.floor(whole.length / 2), whole.lastIndexOf(0x0a, -2) + 1]) {
        await reopened(file, new MemoryDisk([[`${file}.journal`, whole.subarray(0, cut)]]), (again) => {
          expect(accountIds(again)).toEqual([])
          expect(again.notices).toHaveLength(1)
          addAccount(again)
        })
      }
      await reopened(file, killed, (again) => expect(accountIds(again)).toHaveLength(2000))
    }),
  )

  it(
    'acknowledges at once when relaxed, and tells of a refusal once',
    inDirectory(async (file) => {
      const disk = new MemoryDisk()
      const world = await openTestWorld({ file, fileSystem: disk, durability: 'relaxed' })
      world.create('default')
      expect(world.settled()).toBeUndefined()
      await world.fold()
      disk.fails = () => new Error('EIO')
      addAccount(world)
      await world.settled()
      while (accountIds(world).length > 0) await Promise.resolve().then(() => new Promise(setImmediate))
      await expect(world.settled()).rejects.toThrow(ServiceError)
      await world.settled()
      disk.fails = () => undefined
      addAccount(world)
      await world.close()
      await reopened(file, disk, (again) => expect(accountIds(again)).toEqual(['ca_1']))
    }),
  )

  it(
    'replays to what the model was, after any history',
    inDirectory(async (file) => {
      const step = fc.oneof(
        fc.record({ put: fc.integer({ min: 1, max: 8 }), value: fc.string({ unit: 'binary' }) }),
        fc.record({ remove: fc.integer({ min: 1, max: 8 }) }),
        fc.constantFrom('fold', 'restart', 'freeze', 'configure', 'id', 'other', 'settle'),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const disk = new MemoryDisk()
          let world = await openTestWorld({ file, fileSystem: disk })
          try {
            world.create('default', { idSeed: 7, clients: [ADA] })
            for (const each of steps) {
              if (each === 'restart') {
                await world.close()
                world = await openTestWorld({ file, fileSystem: disk })
              } else await take(world, each)
            }
            await world.settled()
            expect(await imageAfterKill(disk, file)).toEqual(plain(world.image()))
          } finally {
            await world.close()
          }
        }),
        { numRuns: 150 },
      )
    }),
    60_000,
  )
})

type Step = { put: number; value: string } | { remove: number } | string

async function take(world: World, step: Step): Promise<void> {
  const environment = world.environment('default') ?? world.create('default')
  const { accounts } = environment.model.tables
  if (step === 'fold') await world.fold()
  else if (step === 'settle') await world.settled()
  else if (step === 'freeze') environment.clock.freeze()
  else if (step === 'configure') environment.configure({ consent: 'approve' })
  else if (step === 'other' && !world.remove('other'))
    world.create('other', { clients: [{ id: 'o', client_secret: '' }] })
  else if (step === 'id') environment.model.transact(() => environment.model.count(environment.ids.id('x')))
  else if (typeof step === 'object') {
    environment.model.transact(() => {
      environment.model.tables.counters.put({ id: 'account_sequence', value: 8 })
      if ('remove' in step) accounts.remove(`ca_${step.remove}`)
      else
        accounts.put(
          account(step.put, { identifier: step.value, api_config: JSON.parse('{"__proto__": 1}') as JsonObject }),
        )
    })
  }
}

async function imageAfterKill(disk: MemoryDisk, file: string): Promise<unknown> {
  const killed = disk.after('power-lost')
  const files = killed
    .paths()
    .map((path) => [path.replace(file, `${file}2`), killed.file(path) ?? Buffer.alloc(0)] as const)
  const world = await openTestWorld({ file: `${file}2`, fileSystem: new MemoryDisk(files) })
  const image = plain(world.image())
  await world.close()
  return image
}

function plain(image: StateImage): unknown {
  return JSON.parse(JSON.stringify(image)) as unknown
}
