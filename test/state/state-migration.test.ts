import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isJsonObject, type JsonObject } from '../../src/domain/json.ts'
import type { Migration } from '../../src/state/state-file/migrations.ts'
import { checkState } from '../../src/state/state-report.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { accountIds, addAccount, openTestRegistry, withDirectory } from '../support/worlds.ts'

/*
 * No released toolmock wrote a version before 1. The tests stand in a version 0 for it: without the table of authorization
 * codes, and with accounts that say "state" for "status".
 */

const MIGRATIONS: ReadonlyMap<number, Migration> = new Map([[0, fromVersion0]])

function fromVersion0(state: JsonObject): JsonObject {
  const environments = Object.entries(state['environments'] as Record<string, JsonObject>).map(
    ([name, environment]) => {
      const tables = environment['tables'] as Record<string, JsonObject[]>
      const accounts = (tables['accounts'] ?? []).map(({ state: status = 'ACTIVE', ...account }) => ({
        ...account,
        status,
      }))
      const migrated: JsonObject = { ...environment, tables: { ...tables, accounts, authorization_codes: [] } }
      return [name, migrated] as const
    },
  )
  return { ...state, environments: Object.fromEntries(environments) }
}

const toVersion0 = (text: string): string =>
  text
    .replace('"version": 1', '"version": 0')
    .replaceAll('"status": "ACTIVE"', '"state": "ACTIVE"')
    .replace(/,\s+"authorization_codes": \[\]/, '')

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

describe('a state file of an older version', () => {
  it(
    'is migrated at the start, after a backup beside it, and the start says so',
    inDirectory(async (file) => {
      const old = toVersion0(await stopped(file, new MemoryDisk()))
      const disk = new MemoryDisk([[file, Buffer.from(old)]])
      const registry = await openTestRegistry({ file, fileSystem: disk, migrations: MIGRATIONS })
      expect(registry.notices).toEqual([
        `${file}: migrated from version 0 to 1; the former file is kept as ${file}.v0.backup`,
      ])
      expect(accountIds(registry)).toEqual(['ca_1', 'ca_2'])
      expect(disk.file(`${file}.v0.backup`)?.toString()).toBe(old)
      expect(isJsonObject(JSON.parse(disk.file(file)?.toString() ?? ''))).toBe(true)
      await registry.close()
      const again = await openTestRegistry({ file, fileSystem: disk })
      expect(again.notices).toEqual([])
      expect(accountIds(again)).toEqual(['ca_1', 'ca_2'])
      await again.close()
    }),
  )

  it(
    'is migrated with its journal, and a crash at any step of it loses nothing',
    inDirectory(async (file) => {
      const [old, journal] = await withJournal(file)
      const files = [
        [file, old],
        [`${file}.journal`, journal],
      ] as const
      const whole = new MemoryDisk(files)
      await (await openTestRegistry({ file, fileSystem: whole, migrations: MIGRATIONS })).close()
      expect(whole.operations).toBeGreaterThan(8)
      for (let stopAt = 1; stopAt <= whole.operations + 1; stopAt++) {
        for (const crash of ['killed', 'power-lost', 'power-lost-names-kept', 'power-lost-removals-kept'] as const) {
          const disk = new MemoryDisk(files)
          disk.fails = (operation) => (operation >= stopAt ? new Error('the machine has stopped') : undefined)
          const registry = await openTestRegistry({ file, fileSystem: disk, migrations: MIGRATIONS }).catch(
            () => undefined,
          )
          await registry?.close().catch(() => undefined)
          const again = await openTestRegistry({ file, fileSystem: disk.after(crash), migrations: MIGRATIONS })
          expect(accountIds(again)).toEqual(['ca_1', 'ca_2', 'ca_3'])
          await again.close()
        }
      }
    }),
    30_000,
  )

  it(
    'is refused and left alone where there is no way to the present version, or it leads to no sound state',
    inDirectory(async (file) => {
      const old = toVersion0(await stopped(file, new MemoryDisk()))
      const disk = new MemoryDisk([[file, Buffer.from(old)]])
      await expect(openTestRegistry({ file, fileSystem: disk })).rejects.toThrow(
        'its version is 0; this toolmock reads version 1',
      )
      const unsound = new Map([[0, (state: JsonObject) => state]])
      await expect(openTestRegistry({ file, fileSystem: disk, migrations: unsound })).rejects.toThrow(
        'cannot be migrated: at environments.default.tables.accounts[0]',
      )
      expect(disk.operations).toBe(0)
    }),
  )

  it(
    'is told of by a check, which touches nothing',
    inDirectory(async (file) => {
      const old = toVersion0(await stopped(file, new MemoryDisk()))
      await writeFile(file, old)
      expect(await checkState(file, { migrations: MIGRATIONS })).toEqual({
        kind: 'sound',
        notices: [`${file}: of version 0; a start migrates it to 1 and keeps the former file beside it`],
        holds: '1 environment, 2 accounts',
      })
      expect(await readFile(file, 'utf8')).toBe(old)
    }),
  )
})

/** A file of version 0 with two accounts, and a journal of that version with a third. */
async function withJournal(file: string): Promise<[Buffer, Buffer]> {
  const text = await stopped(file, new MemoryDisk())
  const old = Buffer.from(toVersion0(text))
  // The journal is written by a world that takes the old bytes for its own, so that it follows them.
  const disk = new MemoryDisk([[file, old]])
  const registry = await openTestRegistry({ file, fileSystem: new MemoryDisk([[file, Buffer.from(text)]]) })
  await registry.close()
  const { JournalFile } = await import('../../src/state/wal/wal-file.ts')
  const { encodeLine, identityOf } = await import('../../src/state/wal/wal-record.ts')
  const journal = new JournalFile(disk, file, { follows: identityOf(old), end: undefined })
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
  return [old, disk.file(`${file}.journal`) ?? Buffer.alloc(0)]
}
