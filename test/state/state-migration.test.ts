import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json.ts'
import { checkState } from '../../src/state/state-report.ts'
import { encodeLine, formerWalPath, identityOf, WalFile, walPath } from '../../src/state/wal/write-ahead-log.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { accountIds, addAccount, openTestRegistry, withDirectory } from '../support/registry.ts'

/** The state as a file of version 1, which has no sections and one field on each line. */
function toVersion1(text: string): string {
  const state = JSON.parse(text) as { environments: Record<string, JsonObject> }
  const environments = Object.entries(state.environments).map(([name, { settings, clock, ids, tables }]) => [
    name,
    { settings, clock, ids, tables },
  ])
  return `${JSON.stringify({ version: 1, environments: Object.fromEntries(environments) as JsonObject }, null, 2)}\n`
}

async function stopped(file: string, disk: MemoryDisk): Promise<string> {
  const registry = await openTestRegistry({ file, fileSystem: disk })
  registry.create('default', { idSeed: 3 })
  addAccount(registry)
  addAccount(registry)
  await registry.close()
  return disk.file(file)?.toString() ?? ''
}

function inDirectory(work: (file: string) => Promise<void>): () => Promise<void> {
  return () => withDirectory((directory) => work(join(directory, 'state.json')))
}

describe('a log by its former name', () => {
  it(
    'is read and replaced where the first start was killed before it wrote a state file',
    inDirectory(async (file) => {
      const first = new MemoryDisk()
      const registry = await openTestRegistry({ file, fileSystem: first })
      registry.create('default')
      addAccount(registry)
      await registry.durable()
      const log = first.file(`${file}.wal`)?.toString() ?? ''
      await registry.close()
      const disk = new MemoryDisk([[`${file}.journal`, version1Log(log)]])
      const again = await openTestRegistry({ file, fileSystem: disk })
      expect([accountIds(again), again.notices]).toEqual([['ca_1'], []])
      expect(disk.paths()).toEqual([file])
      await again.close()
    }),
  )

  it(
    'that a state file contains already is removed',
    inDirectory(async (file) => {
      const disk = new MemoryDisk()
      const text = await stopped(file, disk)
      const former = new WalFile(disk, formerWalPath(file), { follows: null, end: undefined })
      await former.append([
        encodeLine({ n: 1, synced: 0, checkpointed: { ...identityOf(Buffer.from(text)), upto: 0 } }),
      ])
      const left = disk.file(`${file}.journal`)?.toString() ?? ''
      disk.put(`${file}.journal`, version1Log(left))
      await (await openTestRegistry({ file, fileSystem: disk })).close()
      expect(disk.paths()).toEqual([file])
      expect(disk.file(file)?.toString()).toBe(text)
    }),
  )
})

/** The log with the field names of version 1, with their checksums. */
function version1Log(log: string): Buffer {
  const lines = log
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { line: JsonObject }).line)
  const former = lines.map(({ toolmock_wal, checkpointed, ...rest }) =>
    encodeLine({
      ...(toolmock_wal !== undefined && { toolmock_journal: toolmock_wal }),
      ...(checkpointed !== undefined && { folded: checkpointed }),
      ...rest,
    } as unknown as Parameters<typeof encodeLine>[0]),
  )
  return Buffer.from(former.join(''))
}

describe('a state file of version 1', () => {
  it(
    'is migrated at the start, which first makes a copy and reports it',
    inDirectory(async (file) => {
      const text = await stopped(file, new MemoryDisk())
      const old = toVersion1(text)
      const disk = new MemoryDisk([[file, Buffer.from(old)]])
      const registry = await openTestRegistry({ file, fileSystem: disk })
      expect(registry.notices).toEqual([
        `${file}: migrated from version 1 to 2; the former file is kept as ${file}.v1.bak`,
      ])
      expect(accountIds(registry)).toEqual(['ca_1', 'ca_2'])
      expect(disk.file(`${file}.v1.bak`)?.toString()).toBe(old)
      expect(disk.file(file)?.toString()).toBe(text)
      await registry.close()
      const again = await openTestRegistry({ file, fileSystem: disk })
      expect(again.notices).toEqual([])
      expect(accountIds(again)).toEqual(['ca_1', 'ca_2'])
      await again.close()
    }),
  )

  it(
    'is migrated with its write-ahead log, and a crash at any step loses no data',
    inDirectory(async (file) => {
      const files = await withJournal(file)
      const whole = new MemoryDisk(files)
      await (await openTestRegistry({ file, fileSystem: whole })).close()
      expect(whole.operations).toBeGreaterThan(8)
      for (let stopAt = 1; stopAt <= whole.operations + 1; stopAt++) {
        for (const crash of ['killed', 'power-lost', 'power-lost-names-kept', 'power-lost-removals-kept'] as const) {
          const disk = new MemoryDisk(files)
          disk.fails = (operation) => (operation >= stopAt ? new Error('the machine has stopped') : undefined)
          const registry = await openTestRegistry({ file, fileSystem: disk }).catch(() => undefined)
          await registry?.close().catch(() => undefined)
          const again = await openTestRegistry({ file, fileSystem: disk.after(crash) })
          expect(accountIds(again)).toEqual(['ca_1', 'ca_2', 'ca_3'])
          await again.close()
        }
      }
    }),
    30_000,
  )

  it.each([
    [
      'there is no way from its version',
      '"version": 1',
      '"version": 0',
      'its version is 0; this toolmock reads version 2',
    ],
    ['it is not valid', '"ACTIVE"', '"GONE"', 'cannot be migrated: environments.default.tables.accounts[0].status is'],
  ])('is refused and not changed where %s', (_, sound, broken, message) =>
    withDirectory(async (directory) => {
      const file = join(directory, 'state.json')
      const old = toVersion1(await stopped(file, new MemoryDisk())).replace(sound, broken)
      const disk = new MemoryDisk([[file, Buffer.from(old)]])
      await expect(openTestRegistry({ file, fileSystem: disk })).rejects.toThrow(message)
      expect(disk.operations).toBe(0)
    }),
  )

  it(
    'is reported by a check, which changes no file',
    inDirectory(async (file) => {
      const old = toVersion1(await stopped(file, new MemoryDisk()))
      await writeFile(file, old)
      expect(await checkState(file)).toEqual({
        kind: 'valid',
        notices: [`${file}: of version 1; a start migrates it to 2 and keeps the former file beside it`],
        holds: '1 environment, 2 accounts',
      })
      expect(await readFile(file, 'utf8')).toBe(old)
    }),
  )
})

/** A file of version 1 with two accounts, and a write-ahead log of that version with a third. */
async function withJournal(file: string): Promise<(readonly [string, Buffer])[]> {
  const old = Buffer.from(toVersion1(await stopped(file, new MemoryDisk())))
  const disk = new MemoryDisk([[file, old]])
  const journal = new WalFile(disk, walPath(file), { follows: identityOf(old), end: undefined })
  const { tables } = (
    JSON.parse(old.toString()) as { environments: { default: { tables: Record<string, JsonObject[]> } } }
  ).environments.default
  const third = { ...tables['accounts']?.[1], id: 'ca_3', sequence: 3 }
  const counter = { id: 'account_sequence', value: 3 }
  await journal.append([
    encodeLine({
      n: 1,
      synced: 0,
      environment: 'default',
      changes: [
        { put: 'counters', row: counter },
        { put: 'accounts', row: third },
      ],
    }),
  ])
  const written = disk.file(walPath(file))?.toString() ?? ''
  return [
    [file, old],
    [formerWalPath(file), Buffer.from(version1Log(written))],
  ]
}
