import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { type Crash, MemoryDisk } from '../support/memory-disk.ts'
import { it } from '../support/mock-fixture.ts'
import { accountIds, addAccount, createEnvironment, openTestRegistry } from '../support/registry.ts'

const CRASHES: Crash[] = ['killed', 'power-lost', 'power-lost-names-kept', 'power-lost-removals-kept']

type Step = 'commit' | 'commits' | 'checkpoint' | 'checkpoint while committing'
const steps = fc.array(fc.constantFrom<Step>('commit', 'commits', 'checkpoint', 'checkpoint while committing'), {
  minLength: 1,
  maxLength: 12,
})
/** The numbers of the disk operations that fail. */
const failures = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 20 })

/** A write and its removal fail before a checkpoint that fails; a log file that could not be made stays. */
const EXAMPLES: [Step[], number[]][] = [
  [
    ['commit', 'commit', 'checkpoint', 'commit'],
    [7, 8, 13],
  ],
  [
    ['commit', 'commit', 'checkpoint', 'commit', 'commit'],
    [4, 15, 16, 19, 20],
  ],
]

/** Runs the steps; returns the identifiers of the acknowledged accounts, which must never be lost. */
async function runSteps(disk: MemoryDisk, file: string, given: readonly Step[]): Promise<string[]> {
  const registry = await openTestRegistry({ file, fileSystem: disk })
  const acknowledged: string[] = []
  let next = 0
  const commit = async (): Promise<void> => {
    if (!registry.environment('default')) createEnvironment(registry, 'default')
    const { identifier } = addAccount(registry, 'default', { identifier: `${next++}@example.com` })
    await registry.durable()
    acknowledged.push(identifier)
  }
  const work: { [Name in Step]: () => Promise<unknown> } = {
    commit,
    commits: () => Promise.allSettled([commit(), commit(), commit()]),
    checkpoint: () => registry.checkpoint(),
    'checkpoint while committing': () => Promise.allSettled([registry.checkpoint(), commit()]),
  }
  for (const step of given) await work[step]().catch(() => undefined)
  return acknowledged
}

describe('a disk that refuses again and again', () => {
  it('loses no acknowledged commit, and the next start accepts its files', async ({ directory }) => {
    let run = 0
    await fc.assert(
      fc.asyncProperty(steps, failures, async (given, failing) => {
        const file = join(directory, `${run++}.json`)
        const disk = new MemoryDisk()
        disk.fails = (operation) => (failing.includes(operation) ? new Error('EIO: i/o error') : undefined)
        const acknowledged = await runSteps(disk, file, given)
        for (const crash of CRASHES) {
          const left = disk.after(crash)
          const files = left.paths().map((path) => [path.replace(file, `${file}2`), left.file(path)!] as const)
          const registry = await openTestRegistry({ file: `${file}2`, fileSystem: new MemoryDisk(files) })
          const accounts = registry.environment('default')?.model.tables.accounts
          const found = [...(accounts?.values() ?? [])].map(({ identifier }) => identifier)
          expect(found).toEqual(expect.arrayContaining(acknowledged))
          expect(accountIds(registry)).toEqual([...new Set(accountIds(registry))])
          await registry.close()
        }
      }),
      { numRuns: 200, examples: EXAMPLES },
    )
  }, 60_000)
})

describe('a write that a crash cut short', () => {
  it('does not prevent recovery from a checkpoint that another crash cuts short', async ({ file }) => {
    const disk = new MemoryDisk()
    await runSteps(disk, file, ['commit', 'commit'])
    const log = disk.file(`${file}.wal.0`)!
    const torn = (): MemoryDisk => new MemoryDisk([[`${file}2.wal.0`, log.subarray(0, -20)]])
    const whole = torn()
    const registry = await openTestRegistry({ file: `${file}2`, fileSystem: whole })
    await registry.checkpoint()
    await registry.close()
    for (let stopAt = 1; stopAt <= whole.operations; stopAt++) {
      const stopping = torn()
      stopping.fails = (operation) => (operation >= stopAt ? new Error('the machine has stopped') : undefined)
      const checkpointing = await openTestRegistry({ file: `${file}2`, fileSystem: stopping })
      await checkpointing.checkpoint().catch(() => undefined)
      await checkpointing.close().catch(() => undefined)
      const again = await openTestRegistry({ file: `${file}2`, fileSystem: stopping.after('killed') })
      expect(accountIds(again)).toEqual(['ca_1'])
      await again.close()
    }
  })
})
