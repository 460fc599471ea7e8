import { basename, dirname } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { isJsonObject, type JsonObject } from '../../domain/json.ts'
import type { Snapshot } from '../model/model.ts'
import type { EnvironmentRecord } from '../model/state-image.ts'
import type { Change, Row } from '../model/table.ts'
import { type FileSystem, type OpenFile, writeFully } from './file-system.ts'
import { StorageError } from './state-errors.ts'

/** `strict`: a commit is acknowledged once it is on disk. `relaxed`: at once; the disk follows. */
export type Durability = 'strict' | 'relaxed'

/** A commit, or the note that a state file holds everything up to a line. */
type Entry = EnvironmentChange | { checkpointed: Identity & { upto: number } }

/** A point between two commits. Everything before it is durable and goes into a state file. */
export interface Cut<T> {
  captured: T
  /** The last line before the cut. */
  upto: number
  /** The file that begins after the cut. */
  segment: number
}

/**
 * A commit that no request waits for is written after this time. With `strict` a request waits at its end: all commits of a
 * tool call are then one write, unless its third party takes longer than this or another request waits in the meantime.
 */
const WRITE_WITHIN_MS: Readonly<Record<Durability, number>> = { strict: 500, relaxed: 5 }
/** Longer text is written in parts, with a turn of the event loop between them. */
const TURN_EVERY = 256 * 1024

/** The commits that are to be written together, all or none, and the promise that they are durable. */
class Batch {
  readonly commits: { entry: Entry; undo: () => void }[] = []
  resolve: () => void = () => undefined
  reject: (reason: Error) => void = () => undefined
  readonly durable = new Promise<void>((resolve, reject) => {
    this.resolve = resolve
    this.reject = reject
  })

  constructor() {
    // A refusal that no request waits for is no unhandled rejection.
    this.durable.catch(() => undefined)
  }
}

/**
 * The log of the commits since the state file was written. A commit is written when a request waits for it, or some time
 * after; all commits until then, and while the disk was busy, share one write and one sync. After a crash all of
 * it is there, or nothing.
 */
export class WriteAheadLog {
  readonly #file: WalFile
  readonly #durability: Durability
  #next = new Batch()
  #writing: Batch | undefined
  #running: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  /** Whether the next commits are to be written now. */
  #isDue = false
  #cut: (() => Promise<void>) | undefined
  #lastDurable: number
  /** The refusal that no request has answered with yet (`relaxed`). */
  #refusal: StorageError | undefined
  #closed = false
  /** Bytes of log from which on `onFull` is called after each write. */
  fullAt = Infinity
  onFull: () => void = () => undefined

  constructor(file: WalFile, lastLine: number, durability: Durability) {
    this.#file = file
    this.#lastDurable = lastLine
    this.#durability = durability
  }

  /** Takes a commit that the model already shows. `undo` rolls it back if the disk refuses it. */
  append(entry: Entry, undo: () => void = () => undefined): void {
    if (this.#closed && !('checkpointed' in entry))
      throw new StorageError('the state could not be written', new Error('the server is stopping'))
    this.#next.commits.push({ entry, undo })
    this.#writeSoon()
  }

  /**
   * Resolves once every commit made so far is durable. Undefined when nothing is pending: a request that only reads need
   * not wait a turn of the event loop for that.
   * @throws StorageError when the disk refused; by then the model shows again what is durable
   */
  durable(): Promise<void> | undefined {
    if (this.#durability === 'strict') return this.flushed()
    const refusal = this.#refusal
    if (!refusal) return undefined
    this.#refusal = undefined
    return Promise.reject(refusal)
  }

  /** As `durable`, with every durability. */
  flushed(): Promise<void> | undefined {
    if (this.#next.commits.length === 0) return this.#writing?.durable
    this.#start()
    return this.#next.durable
  }

  /** Calls `capture` between two commits and resolves once everything before that is durable, and the log rotated. */
  cut<T>(capture: () => T, rotate: boolean): Promise<Cut<T>> {
    return new Promise((resolve, reject) => {
      this.#cut = async () => {
        try {
          const captured = capture()
          await this.#write()
          const upto = this.#lastDurable
          if (rotate) await this.#file.rotate()
          resolve({ captured, upto, segment: this.#file.segment })
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      }
      this.#start()
    })
  }

  /** Later commits are refused. */
  close(): void {
    this.#closed = true
  }

  /** Resolves when nothing is being written any more. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => this.#start(), WRITE_WITHIN_MS[this.#durability])
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isDue = true
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    // The commits of all requests of this turn of the event loop share one write.
    await nextTurn()
    while (this.#isDue) {
      this.#isDue = false
      const cut = this.#cut
      this.#cut = undefined
      if (cut) await cut()
      else await this.#write().catch(() => undefined)
    }
    this.#running = undefined
  }

  /** Writes what was committed. When the disk refuses, rolls back that and everything committed since. */
  async #write(): Promise<void> {
    const batch = this.#next
    if (batch.commits.length === 0) return
    this.#writing = batch
    this.#next = new Batch()
    try {
      const { texts, last } = await this.#encode(batch)
      await this.#file.append(texts)
      this.#lastDurable = last
    } catch (cause) {
      throw this.#rollBack(batch, cause)
    }
    this.#writing = undefined
    batch.resolve()
    if (this.#file.size >= this.fullAt) this.onFull()
  }

  async #encode({ commits }: Batch): Promise<{ texts: string[]; last: number }> {
    const synced = this.#lastDurable
    const texts: string[] = []
    let text = ''
    let last: WalLine | undefined
    for (const { entry } of commits) {
      for (const line of pendingLines(entry, (last?.n ?? synced) + 1, synced)) {
        if (last) text += encodeLine(Object.assign(last, { more: true }))
        last = line
        if (text.length < TURN_EVERY) continue
        texts.push(text)
        text = ''
        await nextTurn()
      }
    }
    if (last) text += encodeLine(last)
    return { texts: [...texts, text], last: last?.n ?? synced }
  }

  #rollBack(batch: Batch, cause: unknown): StorageError {
    const error = new StorageError('the state could not be written', cause)
    const since = this.#next
    this.#writing = undefined
    this.#next = new Batch()
    this.#refusal = error
    for (const { undo } of [...batch.commits, ...since.commits].toReversed()) undo()
    batch.reject(error)
    since.reject(error)
    return error
  }
}

function gone(path: string): Error {
  return new Error(`${path} is gone: it, or a folder above it, was removed or moved while the server runs`)
}

function pendingLines(entry: Entry, n: number, synced: number): Iterable<WalLine> {
  return 'checkpointed' in entry ? [{ n, synced, checkpointed: entry.checkpointed }] : linesOf(entry, n, synced)
}

/*
 * The files of the write-ahead log: what their lines say, what they are called, and how they are written so that a crash
 * at any moment leaves whole lines, or a last one that is recognized as incomplete.
 */

/** Identifies one content of the state file, so that a log is never applied to a file it does not follow. */
export interface Identity {
  size: number
  crc: string
}

/** The first line of a log file. */
export interface WalHeader {
  toolmock_wal: 1
  /** Log files are numbered in their order. */
  segment: number
  /** The state file that was there when this log began; null when there was none. */
  follows: Identity | null
}

/** What a commit does to one environment. */
export interface EnvironmentChange {
  environment: string
  /** The environment after the commit; null when it was removed. */
  record?: EnvironmentRecord | null
  /** The position in its sequence of seeded ids. */
  ids?: number
  changes?: readonly Change[]
}

/** One line of a log. */
export interface WalLine {
  /** Running number. */
  n: number
  /** Every line up to this number was on disk before this one was written. */
  synced: number
  environment?: string
  record?: EnvironmentRecord | null
  ids?: number
  changes?: WalChange[]
  /** The next line was written together with this one: a start takes both, or none. */
  more?: true
  /** A state file with this identity holds everything up to line `upto`. */
  checkpointed?: Identity & { upto: number }
}

export type WalChange = { put: string; row: Row } | { remove: string; id: string }

/** A commit of more changes than this becomes several lines, so that no single one blocks the event loop for long. */
const CHANGES_PER_LINE = 250

export function identityOf(bytes: Uint8Array): Identity {
  return { size: bytes.length, crc: hex(crc32(bytes)) }
}

/** A line of JSON with its checksum in front: `{"crc":"…","line":…}`. */
export function encodeLine(line: WalLine | WalHeader): string {
  const json = JSON.stringify(line)
  return `{"crc":"${hex(crc32(json))}","line":${json}}\n`
}

const FRAME = /^\{"crc":"(?<crc>[0-9a-f]{8})","line":$/
const BEFORE_LINE = '{"crc":"00000000","line":'.length

/** The line without its line break; undefined when it is not what was written. */
export function decodeLine(bytes: Buffer): JsonObject | undefined {
  const frame = FRAME.exec(bytes.toString('latin1', 0, BEFORE_LINE))?.groups
  const json = bytes.subarray(BEFORE_LINE, -1)
  if (frame?.['crc'] !== hex(crc32(json)) || bytes.at(-1) !== 0x7d) return undefined
  try {
    const line: unknown = JSON.parse(json.toString('utf8'))
    return isJsonObject(line) ? line : undefined
  } catch {
    return undefined
  }
}

/** The lines of a commit, numbered from `n`: nearly always one. */
function linesOf(change: EnvironmentChange, n: number, synced: number): Iterable<WalLine> {
  const { changes = [], ...rest } = change
  if (changes.length > CHANGES_PER_LINE) return manyLines(change, n, synced)
  const line: WalLine = { n, synced, ...rest }
  if (changes.length > 0) line.changes = changes.map(walChange)
  return [line]
}

function* manyLines({ changes = [], ...rest }: EnvironmentChange, n: number, synced: number): Generator<WalLine> {
  let number = n
  for (let at = 0; at < changes.length; at += CHANGES_PER_LINE) {
    const part = changes.slice(at, at + CHANGES_PER_LINE).map(walChange)
    yield {
      n: number++,
      synced,
      ...(at === 0 ? rest : { environment: rest.environment }),
      changes: part,
    }
  }
}

function walChange({ table, id, after }: Change): WalChange {
  if (!after) return { remove: table, id }
  return { put: table, row: table === 'snapshots' ? withoutImage(after as Snapshot) : after }
}

/** Replay takes a snapshot again where one was taken, so that a snapshot of 100,000 accounts is a short line. */
function withoutImage({ id, taken_at }: Snapshot): Row {
  const row: Pick<Snapshot, 'id' | 'taken_at'> = { id, taken_at }
  return row
}

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0')
}

/** Where a log that was read at the start goes on. */
export interface WalEnd {
  segment: number
  /** Bytes that are valid; what follows is the torn rest of a write and is cut off. */
  length: number
}

/** The path of the log beside a state file. */
export function walPath(stateFile: string): string {
  return `${stateFile}.wal`
}

/** What the log was called while state files had version 1. */
export function formerWalPath(stateFile: string): string {
  return `${stateFile}.journal`
}

/** The path of a numbered file of a log: `state.json.wal`, `state.json.wal.2`, … */
export function segmentPath(path: string, segment: number): string {
  return segment === 1 ? path : `${path}.${segment}`
}

/** The numbers of the files of a log, ascending. No file is called `.1`. */
export async function segmentsOf(fileSystem: FileSystem, path: string): Promise<number[]> {
  const prefix = basename(path)
  const numbers = (await fileSystem.list(dirname(path))).map((name) => {
    if (name === prefix) return 1
    const number = name.startsWith(`${prefix}.`) ? name.slice(prefix.length + 1) : ''
    return /^(?:[2-9]|[1-9]\d{1,8})$/.test(number) ? Number(number) : 0
  })
  return numbers.filter((number) => number > 0).sort((a, b) => a - b)
}

/** The log as it is written: one file at a time, always at the end of what is known to be durable. */
export class WalFile {
  readonly #fileSystem: FileSystem
  readonly #path: string
  /** Identity of the state file that the next log file follows. */
  #follows: Identity | null
  #file: OpenFile | undefined
  #segment: number
  #exists: boolean
  #end: number
  /** Whether there may be bytes after the end, from a write that failed or was torn. */
  #untidy: boolean
  /** Durable bytes in the log files before this one. */
  #sizeBefore = 0
  /** A log file that could be neither made whole nor removed. */
  #stray: string | undefined

  constructor(fileSystem: FileSystem, path: string, at: { follows: Identity | null; end: WalEnd | undefined }) {
    this.#fileSystem = fileSystem
    this.#path = path
    this.#follows = at.follows
    this.#segment = at.end?.segment ?? 1
    this.#exists = at.end !== undefined && at.end.length > 0
    this.#end = at.end?.length ?? 0
    this.#untidy = this.#exists
  }

  /** Durable bytes in all log files. */
  get size(): number {
    return this.#sizeBefore + this.#end
  }

  get segment(): number {
    return this.#segment
  }

  get #present(): string {
    return segmentPath(this.#path, this.#segment)
  }

  /** Whether the log is on disk, where a start looks for it. */
  async isThere(): Promise<boolean> {
    return (await segmentsOf(this.#fileSystem, this.#path).catch(() => [])).length > 0
  }

  get exists(): boolean {
    return this.#exists
  }

  /** Appends text, which is durable once this has succeeded; when it fails, the log is as it was. */
  async append(texts: readonly string[]): Promise<void> {
    const file = await this.#open()
    await this.#removeStray()
    const untidy = this.#untidy
    this.#untidy = true
    if (untidy) await file.truncate(this.#end)
    let end = this.#end
    try {
      for (const text of texts) {
        const bytes = Buffer.from(text)
        await writeFully(file, bytes, end)
        end += bytes.length
      }
      const [isThere] = await Promise.all([file.isAt(this.#present), file.datasync()])
      if (!isThere) throw gone(this.#present)
    } catch (error) {
      // What was written may or may not be on disk: cut it off now if that works, and before the next write if not.
      await file.truncate(this.#end).catch(() => undefined)
      throw error
    }
    this.#end = end
    this.#untidy = false
  }

  /** Goes on in a new file; the ones before it can be removed once a state file holds what they say. */
  async rotate(): Promise<void> {
    if (!this.#exists) return
    const before = await this.#open()
    // A start takes bytes after the end of a log file that another one follows for damage.
    if (this.#untidy) {
      await before.truncate(this.#end)
      await before.datasync()
    }
    const [segment, size] = [this.#segment, this.size]
    const [file, end] = await this.#create(segment + 1)
    this.#file = file
    this.#segment = segment + 1
    this.#end = end
    this.#sizeBefore = size
    this.#untidy = false
    await before.close()
  }

  /** Removes the log files before the present one: a state file of this identity holds what they say. */
  async removeBefore(segment: number, follows: Identity): Promise<void> {
    this.#follows = follows
    await this.#remove((number) => number < segment)
    this.#sizeBefore = 0
  }

  /** Removes every log file: the state file is the whole model. */
  async removeAll(follows: Identity | null): Promise<void> {
    await this.close()
    await this.#remove(() => true)
    this.#follows = follows
    this.#exists = false
    this.#segment = 1
    this.#end = 0
    this.#sizeBefore = 0
    this.#untidy = false
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    this.#untidy = true
    await file?.close()
  }

  async #open(): Promise<OpenFile> {
    if (this.#file) return this.#file
    if (this.#exists) {
      this.#file = await this.#fileSystem.reopen(this.#present)
      return this.#file
    }
    // A log that follows a state file is of no use without it.
    const stateFile = this.#path.slice(0, -walPath('').length)
    if (this.#follows && !(await this.#fileSystem.list(dirname(stateFile))).includes(basename(stateFile)))
      throw gone(stateFile)
    const [file, end] = await this.#create(this.#segment)
    this.#exists = true
    this.#end = end
    this.#untidy = false
    return (this.#file = file)
  }

  async #create(segment: number): Promise<[OpenFile, number]> {
    const path = segmentPath(this.#path, segment)
    const header = Buffer.from(encodeLine({ toolmock_wal: 1, segment, follows: this.#follows }))
    const file = await this.#fileSystem.create(path)
    try {
      await writeFully(file, header, 0)
      await file.sync()
      await this.#fileSystem.syncDirectory(dirname(path))
    } catch (error) {
      await file.close().catch(() => undefined)
      this.#stray = path
      await this.#removeStray().catch(() => undefined)
      throw error
    }
    this.#stray = undefined
    return [file, header.length]
  }

  /** A start would take it for the one that follows, and what is after the end of the present one for damage. */
  async #removeStray(): Promise<void> {
    if (this.#stray === undefined) return
    await this.#fileSystem.remove(this.#stray)
    await this.#fileSystem.syncDirectory(dirname(this.#stray))
    this.#stray = undefined
  }

  async #remove(which: (segment: number) => boolean): Promise<void> {
    const segments = (await segmentsOf(this.#fileSystem, this.#path)).filter(which)
    for (const segment of segments) await this.#fileSystem.remove(segmentPath(this.#path, segment))
    if (segments.length > 0) await this.#fileSystem.syncDirectory(dirname(this.#path))
  }
}
