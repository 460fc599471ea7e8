import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Change } from '../../src/state/model/table.ts'
import { readWal, type WalContent } from '../../src/state/wal/recovery.ts'
import { StorageError } from '../../src/state/wal/state-errors.ts'
import {
  decodeLine,
  type Durability,
  type EnvironmentChange,
  type Identity,
  WalFile,
  type WalLine,
  WriteAheadLog,
} from '../../src/state/wal/write-ahead-log.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { account } from '../support/registry.ts'

const STATE = '/data/state.json'
const PATH = `${STATE}.wal`
const A: Identity = { size: 1, crc: '0000000a' }
const COMMIT: EnvironmentChange = { environment: 'default', ids: 1 }

interface Parts {
  disk: MemoryDisk
  file: WalFile
  log: WriteAheadLog
}

function opened(durability: Durability = 'strict', disk = new MemoryDisk()): Parts {
  const file = new WalFile(disk, PATH, { follows: null, end: undefined })
  return { disk, file, log: new WriteAheadLog(file, 0, durability) }
}

/** Makes a commit and waits until it is durable. */
async function commit(log: WriteAheadLog, entry: EnvironmentChange = COMMIT): Promise<void> {
  log.append(entry)
  await log.flushed()
}

function linesOf(disk: MemoryDisk, path = PATH): WalLine[] {
  const texts = (disk.file(path)?.toString() ?? '').split('\n').slice(1, -1)
  return texts.map((text) => decodeLine(Buffer.from(text)) as unknown as WalLine)
}

const changes = (count: number): Change[] =>
  Array.from({ length: count }, (_, at) => ({
    table: 'accounts',
    id: `ca_${at}`,
    place: at,
    before: undefined,
    after: account(at),
  }))

/** The log that a start after a power loss reads. */
const recovered = (disk: MemoryDisk): Promise<WalContent> => readWal(disk.after('power-lost'), PATH, null)

describe('a commit', () => {
  it('is pending until it is on disk, and not after that', async () => {
    const { disk, log } = opened()
    expect(log.durable()).toBeUndefined()
    log.append(COMMIT)
    await log.durable()
    expect(linesOf(disk)).toEqual([{ n: 1, synced: 0, ...COMMIT }])
    expect(log.durable()).toBeUndefined()
  })

  it('is waited for by a request that arrives while it is being written', async () => {
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

  it('that is made while another is being written is part of the next write', async () => {
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
    expect(linesOf(disk)).toMatchObject([
      { n: 1, synced: 0 },
      { n: 2, synced: 1 },
      { n: 3, synced: 2, more: true },
      { n: 4, synced: 2 },
    ])
    expect(linesOf(disk).map(({ more }) => more)).toEqual([undefined, undefined, true, undefined])
  })

  it('is not waited for with relaxed durability, and written soon', async () => {
    const { disk, log } = opened('relaxed')
    log.append(COMMIT)
    expect(log.durable()).toBeUndefined()
    await expect.poll(() => disk.log).toContain('datasync state.json.wal')
    await log.idle()
    expect((await recovered(disk)).commits).toHaveLength(1)
  })

  it.each([
    [249, [249]],
    [250, [250]],
    [251, [250, 1]],
    [500, [250, 250]],
    [501, [250, 250, 1]],
  ])('of %i changes is written as lines of %j, all or none of which count', async (count, sizes) => {
    const { disk, log } = opened()
    await commit(log, { environment: 'default', record: null, ids: 7, changes: changes(count) })
    const lines = linesOf(disk)
    expect(lines.map((line) => line.changes?.length)).toEqual(sizes)
    expect(lines.map(({ n, synced, environment }) => [n, synced, environment])).toEqual(
      sizes.map((_, at) => [at + 1, 0, 'default']),
    )
    expect(lines.map(({ more }) => more ?? false)).toEqual(sizes.map((_, at) => at < sizes.length - 1))
    // Only the first line has the record and the position of ids.
    expect(lines.map((line) => ['record' in line, 'ids' in line])).toEqual(sizes.map((_, at) => [at === 0, at === 0]))
    expect(lines.flatMap((line) => line.changes ?? [])).toEqual(
      changes(count).map(({ after }) => ({ put: 'accounts', row: after })),
    )
    await commit(log)
    expect(linesOf(disk).at(-1)).toMatchObject({ n: sizes.length + 1, synced: sizes.length })
  })

  it('without changes has none in its line; removed rows are written as ids, and snapshots without their content', async () => {
    const { disk, log } = opened()
    await commit(log, { environment: 'default', changes: [] })
    const snapshot = { id: 'one', taken_at: '2026-01-01T00:00:00.000Z', tables: { accounts: [account(1)] } }
    await commit(log, {
      environment: 'default',
      changes: [
        { table: 'accounts', id: 'ca_1', place: 0, before: account(1), after: undefined },
        { table: 'snapshots', id: 'one', place: 0, before: undefined, after: snapshot },
      ],
    })
    const [none, some] = linesOf(disk)
    expect(none).toEqual({ n: 1, synced: 0, environment: 'default' })
    expect(some?.changes).toEqual([
      { remove: 'accounts', id: 'ca_1' },
      { put: 'snapshots', row: { id: 'one', taken_at: snapshot.taken_at } },
    ])
  })

  it('with a long text is written in parts, so that other requests are served', async () => {
    const { disk, log } = opened()
    let turns = 0
    const over = new AbortController()
    const counting = (async () => {
      for (; !over.signal.aborted; turns++) await nextTurn()
    })()
    log.append({ environment: 'default', changes: changes(6000) })
    await log.flushed()
    over.abort()
    await counting
    const parts = Math.floor((disk.file(PATH)?.length ?? 0) / (256 * 1024))
    expect(parts).toBeGreaterThan(3)
    expect(turns).toBeGreaterThanOrEqual(parts)
    expect((await recovered(disk)).lastLine).toBe(24)
  })

  it('is refused once the log is closed; the note of a checkpoint is not', async () => {
    const { disk, log } = opened()
    await commit(log)
    log.close()
    expect(() => log.append(COMMIT)).toThrow(StorageError)
    expect(() => log.append(COMMIT)).toThrow('the state could not be written: the server is stopping')
    log.append({ checkpointed: { ...A, upto: 1 } })
    await log.flushed()
    expect(linesOf(disk)).toMatchObject([{ n: 1 }, { n: 2, checkpointed: { ...A, upto: 1 } }])
  })
})

describe('a write-ahead log', () => {
  it('is full from its bound on, and not one byte before', async () => {
    const { log, file } = opened()
    const full: number[] = []
    log.onFull = () => full.push(file.size)
    await commit(log)
    const { size } = file
    await commit(log)
    const added = file.size - size
    log.fullAt = file.size + added + 1
    await commit(log)
    expect(full).toEqual([])
    log.fullAt = file.size + added
    await commit(log)
    expect(full).toEqual([file.size])
  })

  it('is idle once what was committed is on disk, or refused', async () => {
    const { disk, log } = opened()
    await log.idle()
    log.append(COMMIT)
    void log.flushed()
    await log.idle()
    expect((await recovered(disk)).lastLine).toBe(1)
  })

  it('is not created by a cut without commits, and can be closed', async () => {
    const { disk, log, file } = opened()
    expect(await log.cut(() => 1, true)).toEqual({ captured: 1, upto: 0, segment: 1 })
    await file.close()
    expect(disk.operations).toBe(0)
  })

  it('does not exist where its folder cannot be read', async () => {
    const { disk, file } = opened()
    disk.list = () => Promise.reject(new Error('no folder'))
    expect(await file.isThere()).toBe(false)
  })
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
    expect(linesOf(disk)).toMatchObject([{ n: 1 }, { n: 2, synced: 1 }])
    await log.idle()
  })

  it('is reported once with relaxed durability, to the next request', async () => {
    const { disk, log } = opened('relaxed')
    disk.fails = () => new Error('no space left')
    log.append(COMMIT)
    await expect(log.flushed()).rejects.toThrow(StorageError)
    await expect(log.durable()).rejects.toThrow(StorageError)
    expect(log.durable()).toBeUndefined()
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
    expect((await recovered(disk)).commits.map(({ environment }) => environment)).toEqual(['default', 'default'])
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

  it('names the state file when that was removed, and creates no log', async () => {
    const disk = new MemoryDisk()
    const file = new WalFile(disk, PATH, { follows: A, end: undefined })
    await expect(file.append(['x'])).rejects.toThrow(`${STATE} is gone`)
    expect([disk.paths(), file.exists]).toEqual([[], false])
    disk.put(STATE, '{}')
    await file.append(['x'])
    expect([disk.paths(), file.exists]).toEqual([[STATE, PATH], true])
  })
})

describe('a cut between two commits', () => {
  it.each([true, false])(
    'waits until everything before it is durable; with another file after it: %s',
    async (rotate) => {
      const { disk, log, file } = opened()
      await commit(log)
      log.append(COMMIT)
      const cut = log.cut(() => 'the model', rotate)
      expect(await cut).toEqual({ captured: 'the model', upto: 2, segment: rotate ? 2 : 1 })
      expect(file.segment).toBe(rotate ? 2 : 1)
      expect((await recovered(disk)).lastLine).toBe(2)
      await commit(log)
      expect(linesOf(disk, rotate ? `${PATH}.2` : PATH).at(-1)).toMatchObject({ n: 3, synced: 2 })
    },
  )

  it('fails when the disk refuses the commits before it, or the file after it', async () => {
    const { disk, log, file } = opened()
    await commit(log)
    disk.fails = () => new Error('no disk')
    log.append(COMMIT)
    await expect(log.cut(() => 1, true)).rejects.toThrow(StorageError)
    await expect(log.cut(() => 1, true)).rejects.toThrow('no disk')
    disk.fails = () => undefined
    await expect(
      log.cut(() => {
        throw new Error('no model')
      }, true),
    ).rejects.toThrow('no model')
    expect(file.segment).toBe(1)
    await commit(log)
    expect((await recovered(disk)).lastLine).toBe(2)
  })
})

describe('the files of a write-ahead log', () => {
  it('are all counted until a state file contains the earlier ones', async () => {
    const { disk, log, file } = opened()
    await file.rotate()
    expect([disk.paths(), file.size, file.exists]).toEqual([[], 0, false])
    const length = (ending = '') => disk.file(PATH + ending)?.length ?? 0
    await commit(log)
    expect([file.size, file.exists]).toEqual([length(), true])
    await log.cut(() => 1, true)
    await commit(log)
    await log.cut(() => 1, true)
    await commit(log)
    expect(file.size).toBe(length() + length('.2') + length('.3'))
    await file.removeBefore(3, A)
    expect([disk.paths(), file.size]).toEqual([[`${PATH}.3`], length('.3')])
    disk.put(STATE, '{}')
    await log.cut(() => 1, true)
    const [first] = (disk.file(`${PATH}.4`)?.toString() ?? '').split('\n')
    expect(decodeLine(Buffer.from(first ?? ''))).toEqual({ toolmock_wal: 1, segment: 4, follows: A })
  })

  it('are all removed when the state file is the whole model, and begin again with the next commit', async () => {
    const { disk, log, file } = opened()
    await commit(log)
    await log.cut(() => 1, true)
    await file.removeAll(A)
    expect([disk.after('power-lost').paths(), file.exists, file.size, file.segment]).toEqual([[], false, 0, 1])
    disk.put(STATE, '{}')
    await commit(log)
    expect(disk.paths()).toEqual([STATE, PATH])
    expect(await readWal(disk, PATH, A)).toMatchObject({ commits: [{ n: 2 }], notices: [] })
  })

  it('continue where a start found their end, without the torn rest', async () => {
    const { disk, log } = opened()
    await commit(log)
    const whole = disk.file(PATH)!
    const torn = new MemoryDisk([[PATH, Buffer.concat([whole, Buffer.from('{"crc":"torn torn torn')])]])
    const { end, lastLine } = await readWal(torn, PATH, null)
    const file = new WalFile(torn, PATH, { follows: null, end })
    expect([file.exists, file.size, file.segment]).toEqual([true, whole.length, 1])
    const again = new WriteAheadLog(file, lastLine, 'strict')
    await commit(again, { environment: 'x' })
    expect(linesOf(torn)).toMatchObject([{ n: 1 }, { n: 2, synced: 1, environment: 'x' }])
    expect(torn.file(PATH)!.length).toBe(file.size)
  })

  it('begin again in one whose first line is incomplete', async () => {
    const disk = new MemoryDisk([[PATH, Buffer.from('{"crc":"')]])
    const { end, lastLine } = await readWal(disk, PATH, null)
    const file = new WalFile(disk, PATH, { follows: null, end })
    expect(file.exists).toBe(false)
    await commit(new WriteAheadLog(file, lastLine, 'strict'))
    expect(await recovered(disk)).toMatchObject({ lastLine: 1, notices: [] })
  })

  it('have no bytes after the end of one that another follows', async () => {
    const { disk, log } = opened()
    await commit(log)
    disk.fails = (_, name) => (/^(datasync|truncate)/.test(name) ? new Error('no disk') : undefined)
    log.append(COMMIT)
    await expect(log.flushed()).rejects.toThrow(StorageError)
    disk.fails = () => undefined
    await log.cut(() => 1, true)
    await commit(log)
    expect(await readWal(disk.after('killed'), PATH, null)).toMatchObject({
      lastLine: 2,
      end: { segment: 2 },
      notices: [],
    })
  })

  it('continue after they were closed', async () => {
    const { disk, log, file } = opened()
    await commit(log)
    await file.close()
    disk.put(PATH, Buffer.concat([disk.file(PATH)!, Buffer.alloc(1000, 'rest')]))
    await commit(log)
    expect(await recovered(disk)).toMatchObject({ lastLine: 2, notices: [] })
    expect(file.size).toBe(disk.file(PATH)!.length)
  })

  it('do not continue in one that could not be created', async () => {
    const { disk, log, file } = opened()
    await commit(log)
    for (const failing of ['write state.json.wal.2', 'sync state.json.wal.2', 'sync directory']) {
      disk.fails = (_, name) => (name === failing ? new Error('no disk') : undefined)
      await expect(log.cut(() => 1, true)).rejects.toThrow('no disk')
      disk.fails = () => undefined
      await commit(log)
      expect([disk.paths(), file.segment]).toEqual([[PATH], 1])
    }
    expect(await recovered(disk)).toMatchObject({ lastLine: 4, notices: [] })
  })
})
