import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../src/model/domain/json.ts'
import type { Change } from '../../src/state/model/table.ts'
import { LogFile } from '../../src/state/wal/log-file.ts'
import { decodeLine, type EnvironmentChange } from '../../src/state/wal/log-lines.ts'
import { type LogContent, readLogs } from '../../src/state/wal/recovery.ts'
import { StorageError } from '../../src/state/wal/state-errors.ts'
import { type Durability, WriteAheadLog } from '../../src/state/wal/write-ahead-log.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { account } from '../support/registry.ts'

const STATE = '/data/state.json'
const PATH = `${STATE}.wal.0`
const COMMIT: EnvironmentChange = { environment: 'default', ids: 1 }
const NONE = { generation: 0, length: 0, before: 0, exists: false }

interface Parts {
  disk: MemoryDisk
  file: LogFile
  log: WriteAheadLog
  /** The size of the log after each write. */
  written: number[]
}

function opened(durability: Durability = 'strict', disk = new MemoryDisk(), end = NONE): Parts {
  const file = new LogFile(disk, STATE, 'state_a', end)
  const written: number[] = []
  return { disk, file, log: new WriteAheadLog(file, durability, () => written.push(file.size)), written }
}

/** Makes a commit and waits until it is durable. */
async function commit(log: WriteAheadLog, entry: EnvironmentChange = COMMIT): Promise<void> {
  log.append(entry)
  await log.flushed()
}

/** The lines of a log after its header. */
function linesOf(disk: MemoryDisk, path = PATH): JsonValue[] {
  const lines = (disk.file(path) ?? Buffer.alloc(0)).toString().split('\n').slice(1, -1)
  return lines.map((line) => decodeLine(Buffer.from(line)) ?? 'damaged')
}

function recovered(disk: MemoryDisk): Promise<LogContent> {
  return readLogs(disk.after('power-lost'), STATE, undefined)
}

function changes(count: number): Change[] {
  return Array.from({ length: count }, (_, at) => ({
    table: 'accounts',
    id: `ca_${at}`,
    place: undefined,
    before: undefined,
    after: account(at),
  }))
}

it('a commit is pending until it is on disk, and not after that', async () => {
  const { disk, log } = opened()
  expect(log.durable()).toBeUndefined()
  log.append(COMMIT)
  await log.durable()
  expect(linesOf(disk)).toEqual([[COMMIT]])
  expect(log.durable()).toBeUndefined()
})

it('a commit is waited for by a request that arrives while it is being written', async () => {
  const { disk, log } = opened()
  let open: () => void = () => undefined
  disk.gate = new Promise((resolve) => (open = resolve))
  log.append(COMMIT)
  const first = log.durable()
  await nextTurn()
  await nextTurn()
  const second = log.durable()
  expect(second).toBeDefined()
  expect(await Promise.race([second, nextTurn('pending')])).toBe('pending')
  open()
  await Promise.all([first, second])
  expect((await recovered(disk)).commits).toHaveLength(1)
})

it('a commit: that is made while another is being written is part of the next write', async () => {
  const { disk, log } = opened()
  await commit(log)
  let open: () => void = () => undefined
  disk.gate = new Promise((resolve) => (open = resolve))
  log.append(COMMIT)
  const first = log.durable()
  await nextTurn()
  await nextTurn()
  log.append(COMMIT)
  log.append(COMMIT)
  const second = log.durable()
  open()
  await first
  await second
  expect(linesOf(disk)).toEqual([[COMMIT], [COMMIT], [COMMIT, COMMIT]])
})

it('a commit is not waited for with relaxed durability, and written soon', async () => {
  const { disk, log } = opened('relaxed')
  log.append(COMMIT)
  expect(log.durable()).toBeUndefined()
  await expect.poll(() => disk.log).toContain('datasync state.json.wal.0')
  await log.idle()
  expect((await recovered(disk)).commits).toEqual([COMMIT])
})

it.each([0, 1, 2])('a commit: of %i changes is one line', async (count) => {
  const { disk, log } = opened()
  const given = { environment: 'default', record: null, ids: 7, changes: changes(count) }
  await commit(log, given)
  const rows = changes(count).map(({ after }) => ({ put: 'accounts', row: after }))
  const { changes: _, ...rest } = given
  expect(linesOf(disk)).toEqual([[{ ...rest, changes: rows }]])
})

it('a commit has removed rows as ids, and snapshots without their content', async () => {
  const { disk, log } = opened()
  const snapshot = { id: 'one', taken_at: '2026-01-01T00:00:00.000Z', ids: null, tables: { accounts: [account(1)] } }
  await commit(log, {
    environment: 'default',
    changes: [
      { table: 'accounts', id: 'ca_1', place: 0, before: account(1), after: undefined },
      { table: 'snapshots', id: 'one', place: 0, before: undefined, after: snapshot },
    ],
  })
  const logged = [
    { remove: 'accounts', id: 'ca_1' },
    { put: 'snapshots', row: { id: 'one', taken_at: snapshot.taken_at, ids: null } },
  ]
  expect(linesOf(disk)).toEqual([[{ environment: 'default', changes: logged }]])
})

it('a commit is refused once the log is closed', async () => {
  const { disk, log } = opened()
  await commit(log)
  log.close()
  expect(() => log.append(COMMIT)).toThrow(StorageError)
  expect(() => log.append(COMMIT)).toThrow('the state could not be written: the server is stopping')
  expect(linesOf(disk)).toHaveLength(1)
})

it('a write-ahead log reports its size after each write', async () => {
  const { disk, log, written } = opened()
  await commit(log)
  const length = disk.file(PATH)!.length
  await commit(log)
  expect(written).toEqual([length, disk.file(PATH)!.length])
})

it('a write-ahead log is idle once what was committed is on disk, or refused', async () => {
  const { disk, log } = opened()
  await log.idle()
  log.append(COMMIT)
  void log.flushed()
  await log.idle()
  expect((await recovered(disk)).commits).toEqual([COMMIT])
})

it('a write-ahead log is not created by a cut without commits, and can be closed', async () => {
  const { disk, log, file } = opened()
  expect(
    await log.cut(
      () => 1,
      () => Promise.resolve(2),
    ),
  ).toEqual({ captured: 1, result: 2 })
  await file.close()
  expect([disk.operations, file.exists]).toEqual([0, false])
})

it('a write-ahead log does not exist where its folder cannot be read', async () => {
  const { disk, file } = opened()
  disk.list = () => Promise.reject(new Error('no folder'))
  expect(await file.isThere()).toBe(false)
})

describe('a write that the disk refuses', () => {
  it('rolls back its commits and all later ones, the latest first, and reports it to each request', async () => {
    const { disk, log } = opened()
    await commit(log)
    const undone: number[] = []
    let open: () => void = () => undefined
    disk.gate = new Promise((resolve) => (open = resolve))
    disk.fails = () => new Error('no space left')
    log.append(COMMIT, () => undone.push(1))
    log.append(COMMIT, () => undone.push(2))
    const first = log.durable()
    await nextTurn()
    await nextTurn()
    log.append(COMMIT, () => undone.push(3))
    const second = log.durable()
    open()
    await expect(first).rejects.toThrow('the state could not be written: no space left; nothing was changed')
    await expect(second).rejects.toThrow(StorageError)
    expect(undone).toEqual([3, 2, 1])
    expect(log.durable()).toBeUndefined()
    disk.fails = () => undefined
    await commit(log)
    expect(linesOf(disk)).toEqual([[COMMIT], [COMMIT]])
    await log.idle()
  })

  it('leaves bytes that the next write removes', async () => {
    const { disk, log, file } = opened()
    await commit(log)
    const { size } = file
    disk.fails = (_, name) => (/^(write|truncate)/.test(name) ? new Error('no disk') : undefined)
    log.append({ environment: 'x'.repeat(1000) })
    await expect(log.flushed()).rejects.toThrow(StorageError)
    expect(file.size).toBe(size)
    expect(disk.file(PATH)!.length).toBeGreaterThan(size)
    disk.fails = () => undefined
    await commit(log)
    expect(file.size).toBe(disk.file(PATH)!.length)
    expect((await recovered(disk)).commits).toEqual([COMMIT, COMMIT])
  })

  it('names the file when the log was removed while the server runs', async () => {
    const { disk, log, file } = opened()
    await commit(log)
    expect(await file.isThere()).toBe(true)
    await disk.remove(PATH)
    expect(await file.isThere()).toBe(false)
    log.append(COMMIT)
    await expect(log.flushed()).rejects.toThrow(`${PATH} is gone`)
  })

  it('is refused until what a failed write has left is cut off', async () => {
    const { disk, log } = opened()
    await commit(log)
    disk.fails = (_, name) => (/^(datasync|truncate)/.test(name) ? new Error('no disk') : undefined)
    log.append({ environment: 'x' })
    await expect(log.flushed()).rejects.toThrow(StorageError)
    disk.fails = (_, name) => (name.startsWith('truncate') ? new Error('no disk') : undefined)
    const before = disk.log.length
    log.append({ environment: 'y' })
    await expect(log.flushed()).rejects.toThrow(StorageError)
    expect(disk.log.slice(before)).toEqual(['truncate state.json.wal.0'])
  })

  it('names the state file when that was removed, and creates no log', async () => {
    const { disk, file } = opened('strict', undefined, { ...NONE, generation: 7 })
    await expect(file.append('x')).rejects.toThrow(`${STATE} is gone`)
    expect([disk.paths(), file.exists]).toEqual([[], false])
    disk.put(STATE, '{}')
    await file.append('x')
    expect([disk.paths(), file.exists]).toEqual([[STATE, `${STATE}.wal.7`], true])
  })
})

describe('a cut between two commits', () => {
  it('has the commits before it in the present log, and those after it in the next one', async () => {
    const { disk, log, file } = opened()
    await commit(log)
    log.append(COMMIT)
    const cut = log.cut(
      () => 'the model',
      () => file.rotate(),
    )
    expect(await cut).toEqual({ captured: 'the model', result: 1 })
    expect((await recovered(disk)).commits).toHaveLength(2)
    await commit(log, { environment: 'x' })
    expect(linesOf(disk)).toHaveLength(2)
    expect(linesOf(disk, `${STATE}.wal.1`)).toEqual([[{ environment: 'x' }]])
  })

  it('fails when the disk refuses the commits before it, or the log after it', async () => {
    const { disk, log, file } = opened()
    await commit(log)
    const cut = (capture = (): unknown => 1) => log.cut(capture, () => file.rotate())
    disk.fails = () => new Error('no disk')
    log.append(COMMIT)
    await expect(cut()).rejects.toThrow(StorageError)
    await expect(cut()).rejects.toThrow('no disk')
    disk.fails = () => undefined
    await expect(
      cut(() => {
        throw new Error('no model')
      }),
    ).rejects.toThrow('no model')
    await commit(log)
    expect((await recovered(disk)).commits).toHaveLength(2)
    expect(disk.paths()).toEqual([PATH])
  })
})

it('the files of a write-ahead log are all counted until a state file contains the earlier ones', async () => {
  const { disk, log, file } = opened()
  const length = (generation: number) => disk.file(`${STATE}.wal.${generation}`)?.length ?? 0
  const rotate = () =>
    log.cut(
      () => 1,
      () => file.rotate(),
    )
  await commit(log)
  expect([file.size, file.exists]).toEqual([length(0), true])
  await rotate()
  await commit(log)
  await rotate()
  await commit(log)
  expect(file.size).toBe(length(0) + length(1) + length(2))
  await file.removeBelow(2)
  expect([disk.after('power-lost').paths(), file.size]).toEqual([[`${STATE}.wal.2`], length(2)])
})

it('the files of a write-ahead log: continue where a start found their end, without the torn rest', async () => {
  const { disk, log } = opened()
  await commit(log)
  const whole = disk.file(PATH)!
  const torn = new MemoryDisk([[PATH, Buffer.concat([whole, Buffer.from('{"crc":"torn torn torn')])]])
  const { end } = await readLogs(torn, STATE, undefined)
  const again = opened('strict', torn, end)
  expect([again.file.exists, again.file.size]).toEqual([true, whole.length])
  await commit(again.log, { environment: 'x' })
  expect(linesOf(torn)).toEqual([[COMMIT], [{ environment: 'x' }]])
  expect(torn.file(PATH)!.length).toBe(again.file.size)
})

it('the files of a write-ahead log have no bytes after the end of one that another follows', async () => {
  const { disk, log, file } = opened()
  await commit(log)
  disk.fails = (_, name) => (/^(datasync|truncate)/.test(name) ? new Error('no disk') : undefined)
  log.append(COMMIT)
  await expect(log.flushed()).rejects.toThrow(StorageError)
  await expect(
    log.cut(
      () => 1,
      () => file.rotate(),
    ),
  ).rejects.toThrow('no disk')
  disk.fails = () => undefined
  await log.cut(
    () => 1,
    () => file.rotate(),
  )
  await commit(log)
  expect(await readLogs(disk.after('killed'), STATE, undefined)).toMatchObject({
    commits: [COMMIT, COMMIT],
    end: { generation: 1 },
    notices: [],
  })
})

it('the files of a write-ahead log: continue after they were closed', async () => {
  const { disk, log, file } = opened()
  await commit(log)
  await file.close()
  await commit(log)
  expect(await recovered(disk)).toMatchObject({ commits: [COMMIT, COMMIT], notices: [] })
  expect(file.size).toBe(disk.file(PATH)!.length)
})

it('the files of a write-ahead log: leave no gap where one could not be created', async () => {
  const { disk, log, file } = opened()
  await commit(log)
  for (const failing of ['create state.json.wal.1', 'sync directory']) {
    disk.fails = (_, name) => (name === failing ? new Error('no disk') : undefined)
    await expect(
      log.cut(
        () => 1,
        () => file.rotate(),
      ),
    ).rejects.toThrow('no disk')
    disk.fails = () => undefined
    await commit(log)
  }
  await log.cut(
    () => 1,
    () => file.rotate(),
  )
  await commit(log)
  expect(disk.paths()).toEqual([PATH, `${STATE}.wal.1`, `${STATE}.wal.2`])
  expect(linesOf(disk, `${STATE}.wal.1`)).toEqual([])
  expect(await recovered(disk)).toMatchObject({ commits: [COMMIT, COMMIT, COMMIT, COMMIT], notices: [] })
})
