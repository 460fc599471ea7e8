import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repairState } from '../../src/state/state-repair.ts'
import { takeSnapshot } from '../../src/state/snapshots.ts'
import { checkState } from '../../src/state/state-report.ts'
import type { EnvironmentRegistry } from '../../src/state/environment-registry.ts'
import { nodeFileSystem } from '../../src/state/wal/file-system.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { accountIds, addAccount, createEnvironment, openTestRegistry, withDirectory } from '../support/registry.ts'

const CLIENT = { id: 'client_ada', client_secret: 's' }

interface Place {
  file: string
  out: string
}

function inDirectory(work: (place: Place) => Promise<void>): () => Promise<void> {
  return () =>
    withDirectory((directory) => work({ file: join(directory, 'state.json'), out: join(directory, 'saved.json') }))
}

/** A state file with three accounts after a clean stop. */
async function stopped(file: string): Promise<string> {
  const registry = await openTestRegistry({ file })
  createEnvironment(registry, 'default', { idSeed: 3, clients: [CLIENT] })
  for (let each = 0; each < 3; each++) addAccount(registry)
  await registry.close()
  return readFile(file, 'utf8')
}

/** A state file with one account and a write-ahead log with two more, as kill -9 leaves them. */
async function killed(file: string): Promise<void> {
  const disk = new MemoryDisk()
  const registry = await openTestRegistry({ file, fileSystem: disk })
  createEnvironment(registry, 'default', { clients: [CLIENT] })
  addAccount(registry)
  await registry.checkpoint()
  for (let each = 0; each < 3; each++) {
    addAccount(registry)
    await registry.durable()
  }
  const after = disk.after('killed')
  await registry.close()
  for (const path of after.paths()) await writeFile(path, after.file(path) ?? '')
}

async function opened<R>(file: string, look: (registry: EnvironmentRegistry) => R): Promise<R> {
  const registry = await openTestRegistry({ file })
  try {
    return look(registry)
  } finally {
    await registry.close()
  }
}

/** The message with which a start refuses the file. */
async function refusal(file: string): Promise<string> {
  const registry = await openTestRegistry({ file }).catch((error: unknown) => error as Error)
  if (registry instanceof Error) return registry.message
  await registry.close()
  return 'it was accepted'
}

/** Without what tells one state from another. */
const contentOf = (text: string): string => text.replace(/"state_id": .+\n *"generation": \d+/, '')

const logOf = (file: string): string => `${file}.wal.1`

describe('a check of a state file', () => {
  it(
    'accepts a valid one with its log, and changes no file',
    inDirectory(async ({ file }) => {
      await killed(file)
      const before = [await stat(file), await stat(logOf(file))].map(({ mtimeMs }) => mtimeMs)
      expect(await checkState(file)).toEqual({ kind: 'valid', notices: [], holds: '1 environment, 4 accounts' })
      expect([await stat(file), await stat(logOf(file))].map(({ mtimeMs }) => mtimeMs)).toEqual(before)
    }),
  )

  it(
    'reports a last record that was cut short as a start does, and does not remove it',
    inDirectory(async ({ file }) => {
      await killed(file)
      const log = await readFile(logOf(file))
      await writeFile(logOf(file), log.subarray(0, -5))
      const report = await checkState(file)
      expect(report).toMatchObject({ kind: 'valid', holds: '1 environment, 3 accounts' })
      expect(report).toMatchObject({ notices: [expect.stringContaining('cut short')] })
      expect((await readFile(logOf(file))).length).toBe(log.length - 5)
    }),
  )

  it.each([
    [
      'no JSON',
      (text: string) => text.replace('"identifier"', 'identifier'),
      /state\.json:\d+:\d+: it is not JSON: unexpected "i"/,
    ],
    [
      'another version',
      (text: string) => text.replace('"version": 3', '"version": 9'),
      /it is of version 9, and this toolmock reads state files of version 3 only/,
    ],
    ['a foreign file', () => '{"name": "x"}', /not a state file of toolmock/],
    [
      'a byte order mark',
      (text: string) => `\ufeff${text}`,
      /state\.json:1:1: .+ unexpected byte order mark \(U\+FEFF\)/,
    ],
    ['invisible bytes', (text: string) => text.replace('{', '\u0000'), /state\.json:1:1: .+ unexpected U\+0000/],
    [
      'an object that is too deep to be written again',
      (text: string) => text.replace('"api_config":{}', `"api_config":{"a":${'['.repeat(9000)}${']'.repeat(9000)}}`),
      /accounts\[0\]\.api_config` is an object; allowed: an object of at most 1000 levels/,
    ],
    [
      'an environment of another name',
      (text: string) => text.replace('"default"', '"a/b"'),
      /is the name "a\/b"; allowed: a name of 1 to 64 letters/,
    ],
    [
      'a row of another shape',
      (text: string) => text.replace('"status":"ACTIVE"', '"status":"GONE"'),
      /state\.json:\d+:\d+: `environments\.default\.tables\.accounts\[0\]\.status` is a text; allowed: ACTIVE/,
    ],
    [
      'two rows that contradict each other',
      (text: string) => text.replace('"sequence":2', '"sequence":1'),
      /state\.json:\d+:\d+: `environments\.default\.tables\.accounts\[1\]\.sequence` is the same for the second time/,
    ],
  ])('reports the same as the start that refuses %s', (_, damage, message) =>
    withDirectory(async (directory) => {
      const file = join(directory, 'state.json')
      const text = damage(await stopped(file))
      await writeFile(file, text)
      const said = await refusal(file)
      expect(said).toMatch(message)
      expect(await checkState(file)).toEqual({ kind: 'refused', message: said })
      const line = Number(/state\.json:(\d+)/.exec(said)?.[1] ?? 1)
      if (/tables/.test(said)) expect(text.split('\n')[line - 1]).toMatch(/GONE|"ca_2","sequence":1|\[\[/)
      expect(await readFile(file, 'utf8')).toBe(text)
    }),
  )

  it(
    'reports the same as the start that refuses a write-ahead log damaged in its middle',
    inDirectory(async ({ file }) => {
      await killed(file)
      const log = await readFile(logOf(file))
      log[log.indexOf(0x0a) + 40] = 0
      await writeFile(logOf(file), log)
      const said = await refusal(file)
      expect(said).toMatch(/state\.json\.wal\.1:2: the log is damaged here/)
      expect(await checkState(file)).toEqual({ kind: 'refused', message: said })
    }),
  )

  it(
    'fails for a file that is missing, is a folder or is in use',
    inDirectory(async ({ file, out }) => {
      expect(await checkState(file)).toMatchObject({ kind: 'unreadable', message: expect.stringContaining('no such') })
      expect(await checkState(join(file, '..'))).toMatchObject({ kind: 'unreadable' })
      const registry = await openTestRegistry({ file: out })
      createEnvironment(registry, 'default')
      await registry.durable()
      expect(await checkState(out)).toMatchObject({ kind: 'unreadable', message: expect.stringContaining('in use by') })
      await registry.close()
    }),
  )
})

describe('a repair of a state file', () => {
  it(
    'copies a valid one together with its log, and changes neither',
    inDirectory(async ({ file, out }) => {
      await killed(file)
      const before = await readFile(logOf(file))
      expect(await repairState(file, out)).toMatchObject({ leftOut: [] })
      expect(await readFile(logOf(file))).toEqual(before)
      expect(await opened(out, accountIds)).toEqual(['ca_1', 'ca_2', 'ca_3', 'ca_4'])
      expect(await opened(file, accountIds)).toEqual(['ca_1', 'ca_2', 'ca_3', 'ca_4'])
      expect(contentOf(await readFile(out, 'utf8'))).toBe(contentOf(await readFile(file, 'utf8')))
    }),
  )

  it(
    'keeps every row but the one that cannot be read',
    inDirectory(async ({ file, out }) => {
      const text = await stopped(file)
      await writeFile(file, text.replace('"identifier":"user2', 'identifier":"user2'))
      const { leftOut } = await repairState(file, out)
      expect(leftOut).toEqual([expect.stringMatching(/^line \d+: what cannot be read$/)])
      expect(await opened(out, accountIds)).toEqual(['ca_1', 'ca_3'])
      expect(await opened(out, (registry) => registry.byClient.get(CLIENT.id)?.client)).toEqual(CLIENT)
      expect(await opened(out, (registry) => registry.environment('default')?.idsPosition)).toBe(0)
    }),
  )

  it.each([
    ['a row', '"id":"ca_2"', ['ca_1', 'ca_3']],
    ['the beginning of the tables', '"tables": {', ['ca_1', 'ca_2', 'ca_3']],
    ['the beginning of the environments', '"environments": {', ['ca_1', 'ca_2', 'ca_3']],
  ])('keeps every other row of the table when %s is overwritten', (_, found, expected) =>
    withDirectory(async (directory) => {
      const [file, out] = [join(directory, 'state.json'), join(directory, 'saved.json')]
      const lines = (await stopped(file)).split('\n')
      const at = lines.findIndex((line) => line.includes(found))
      await writeFile(file, lines.with(at, '<<<<<<< mine').join('\n'))
      expect((await repairState(file, out)).leftOut).toEqual([`line ${at + 1}: what cannot be read`])
      expect(await opened(out, accountIds)).toEqual(expected)
    }),
  )

  it(
    'keeps the snapshots of a damaged file',
    inDirectory(async ({ file, out }) => {
      const registry = await openTestRegistry({ file })
      takeSnapshot(createEnvironment(registry, 'default', { clients: [CLIENT] }), 'empty')
      addAccount(registry)
      await registry.close()
      const text = await readFile(file, 'utf8')
      await writeFile(file, text.replace('"grants": []', '"grants": ['))
      expect((await repairState(file, out)).leftOut).toEqual([])
      const names = ({ byClient }: EnvironmentRegistry) =>
        byClient.get(CLIENT.id)?.environment.model.tables.snapshots.ids()
      expect(await opened(out, names)).toEqual(['empty'])
    }),
  )

  it.each<[string, (line: string) => string]>([
    ['is overwritten', () => '<<<<<<<'],
    ['has lost its beginning', (line) => line.slice(12)],
    ['has lost its end', (line) => line.slice(0, -1)],
  ])('reports every lost row, whichever line %s', (_, damage) =>
    withDirectory(async (directory) => {
      const file = join(directory, 'state.json')
      const text = await stopped(file)
      const lines = text.split('\n')
      for (let at = 0; at < lines.length - 1; at++) {
        await writeFile(file, lines.with(at, damage(lines[at] ?? '')).join('\n'))
        const out = join(directory, `${at}.json`)
        const repaired = await repairState(file, out).catch((error: unknown) => String(error))
        if (typeof repaired === 'string') expect(repaired).toContain('nothing was written')
        else if (repaired.leftOut.length === 0)
          expect(contentOf(await readFile(out, 'utf8')), lines[at]).toBe(contentOf(text))
      }
    }),
  )

  it.each<[string, (text: string) => string]>([
    ['a byte order mark', (text) => `\ufeff${text}`],
    ['line breaks of Windows', (text) => text.replaceAll('\n', '\r\n')],
  ])('keeps the complete rows of a damaged file that an editor has given %s', (_, edit) =>
    withDirectory(async (directory) => {
      const [file, out] = [join(directory, 'state.json'), join(directory, 'saved.json')]
      const text = edit(await stopped(file))
      await writeFile(file, text.replace('"identifier":"user2', 'identifier":"user2'))
      const { leftOut } = await repairState(file, out)
      expect(leftOut).toEqual([expect.stringMatching(/^line \d+: what cannot be read$/)])
      expect(await opened(out, accountIds)).toEqual(['ca_1', 'ca_3'])
    }),
  )

  it(
    'reports unknown fields and missing tables',
    inDirectory(async ({ file, out }) => {
      const text = (await stopped(file)).replace('"version": 3,', '"version": 3, "extra": true,')
      await writeFile(
        file,
        text.replace('"grants": []', '"things": [{"id": "t"}]').replace('"ids"', '"more": 1, "ids"'),
      )
      const { leftOut } = await repairState(file, out)
      expect(leftOut).toEqual([
        '`extra` is an unknown key',
        '`environments.default.tables.grants` is required; allowed: a list; an empty table replaces it',
        expect.stringContaining('`environments.default.tables.things` is an unknown key'),
        expect.stringContaining('`environments.default.more` is an unknown key'),
      ])
      expect(await opened(out, accountIds)).toEqual(['ca_1', 'ca_2', 'ca_3'])
    }),
  )

  it(
    'saves the beginning of a file that was cut anywhere',
    inDirectory(async ({ file, out }) => {
      const text = await stopped(file)
      const first = text.indexOf('"ca_2"')
      for (let cut = first; cut < text.length; cut += 97) {
        await writeFile(file, text.slice(0, cut))
        const { leftOut } = await repairState(file, `${out}${cut}`)
        expect(await opened(`${out}${cut}`, accountIds)).toContain('ca_1')
        if (cut < text.indexOf('"account_sequence"')) expect(leftOut.join()).toContain('account_sequence is raised')
      }
    }),
    30_000,
  )

  it(
    'leaves out rows of another shape, duplicates and rows that are not UTF-8, each with its place',
    inDirectory(async ({ file, out }) => {
      const text = await stopped(file)
      await writeFile(file, text.replace('"status":"ACTIVE"', '"status":"GONE"').replace('"id":"ca_3"', '"id":"ca_2"'))
      const { leftOut } = await repairState(file, out)
      expect(leftOut).toEqual([
        expect.stringContaining('`environments.default.tables.accounts[0].status` is a text'),
        expect.stringContaining('`environments.default.tables.accounts[2].id` is the same for the second time'),
      ])
      expect(await opened(out, accountIds)).toEqual(['ca_2'])
      const bytes = Buffer.from(text)
      bytes[bytes.indexOf('user1@')] = 0xff
      await writeFile(file, bytes)
      expect((await repairState(file, `${out}2`)).leftOut).toHaveLength(1)
      expect(await opened(`${out}2`, accountIds)).toEqual(['ca_2', 'ca_3'])
    }),
  )

  it(
    'applies the readable lines of a write-ahead log that is damaged in its middle',
    inDirectory(async ({ file, out }) => {
      await killed(file)
      const log = await readFile(logOf(file))
      log[log.indexOf(0x0a, log.indexOf(0x0a) + 1) + 40] = 0
      await writeFile(logOf(file), log)
      const { leftOut } = await repairState(file, out)
      expect(leftOut).toEqual([expect.stringMatching(/state\.json\.wal\.1:3: a line that cannot be read/)])
      expect(await opened(out, accountIds)).toEqual(['ca_1', 'ca_2', 'ca_4'])
    }),
  )

  it(
    'saves what the log contains of a missing state file',
    inDirectory(async ({ file, out }) => {
      await killed(file)
      await rm(file)
      expect(await refusal(file)).toContain('npx toolmock state repair saves what the log holds')
      const { leftOut } = await repairState(file, out)
      expect(leftOut[0]).toContain('all of it but what its write-ahead log holds, because it is missing')
      expect(await opened(out, accountIds)).toEqual(['ca_2', 'ca_3', 'ca_4'])
    }),
  )

  it(
    'names a log that is missing, for which a start refuses an earlier state file beside a later log',
    inDirectory(async ({ file, out }) => {
      const earlier = await stopped(file)
      const disk = new MemoryDisk([[file, Buffer.from(earlier)]])
      const registry = await openTestRegistry({ file, fileSystem: disk })
      addAccount(registry)
      await registry.checkpoint()
      addAccount(registry)
      await registry.durable()
      const log = disk.file(`${file}.wal.2`) ?? Buffer.alloc(0)
      await registry.close()
      await writeFile(`${file}.wal.2`, log)
      expect(await refusal(file)).toContain('the state file is not the one this log follows')
      const { leftOut } = await repairState(file, out)
      expect(leftOut).toEqual([expect.stringContaining('state.json.wal.1: all of it, because it is missing')])
      expect(await opened(out, accountIds)).toEqual(['ca_1', 'ca_2', 'ca_3', 'ca_5'])
    }),
  )

  it(
    'leaves out the write-ahead log of another state file',
    inDirectory(async ({ file, out }) => {
      await killed(file)
      await writeFile(file, (await readFile(file, 'utf8')).replace('"state_id": "', '"state_id": "another_'))
      const { leftOut } = await repairState(file, out)
      expect(leftOut).toEqual([expect.stringContaining('it follows another state file')])
      expect(await opened(out, accountIds)).toEqual(['ca_1'])
    }),
  )

  it(
    'leaves a file alone that appears at the other path meanwhile',
    inDirectory(async ({ file, out }) => {
      await stopped(file)
      const list = async (folder: string): Promise<string[]> => {
        const names = await nodeFileSystem.list(folder)
        await writeFile(out, 'mine')
        return names
      }
      await expect(repairState(file, out, { ...nodeFileSystem, list })).rejects.toThrow('it is there already')
      expect(await readFile(out, 'utf8')).toBe('mine')
    }),
  )

  it(
    'takes the other path before it reads, and gives it back when nothing can be saved',
    inDirectory(async ({ file, out }) => {
      await writeFile(file, 'nothing')
      const read = async (path: string): Promise<Buffer | undefined> => {
        await expect(writeFile(out, 'mine', { flag: 'wx' })).rejects.toThrow('EEXIST')
        return nodeFileSystem.read(path)
      }
      await expect(repairState(file, out, { ...nodeFileSystem, read })).rejects.toThrow('nothing was written')
      expect(await readdir(join(out, '..'))).toEqual(['state.json'])
    }),
  )

  it(
    'never writes over a file, its own or another, and refuses an empty one',
    inDirectory(async ({ file, out }) => {
      const text = await stopped(file)
      await writeFile(out, 'mine')
      await expect(repairState(file, out)).rejects.toThrow('it is there already')
      await expect(repairState(file, file)).rejects.toThrow('it is there already')
      await expect(repairState(file, join(out, '../none/x.json'))).rejects.toThrow('there is no folder')
      expect(await readFile(out, 'utf8')).toBe('mine')
      expect(await readFile(file, 'utf8')).toBe(text)
      await writeFile(file, 'nothing of ours')
      await expect(repairState(file, `${out}2`)).rejects.toThrow('nothing in it that can be saved')
      await expect(stat(`${out}2`)).rejects.toThrow('ENOENT')
    }),
  )
})
