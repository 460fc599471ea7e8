import { dirname } from 'node:path'
import { systemCode } from '../model/domain/system-error.ts'
import { RandomIds } from './model/time-and-ids.ts'
import type { StateContent, StateImage } from './model/state-image.ts'
import { StateFile } from './state-file/state-file.ts'
import type { StateLock } from './state-file/state-lock.ts'
import type { FileSystem } from './wal/file-system.ts'
import { LogFile, removeLogs } from './wal/log-file.ts'
import { type LogContent, readLogs } from './wal/recovery.ts'
import { StateError, StorageError } from './wal/state-errors.ts'
import { type Durability, WriteAheadLog } from './wal/write-ahead-log.ts'

export interface DiskOptions {
  file: string
  /** Whether what the file holds is ignored and replaced. */
  fresh: boolean
  durability: Durability
  /** Bytes of log from which on a checkpoint writes the state file; as many as that has, at least. */
  checkpointAt: number
  fileSystem: FileSystem
  /** Takes the exclusive right to use the state file. @throws StateError naming who has it */
  lock: (file: string) => Promise<StateLock>
  /** Called before a state begins where none is, or one is replaced. Nothing has changed when it throws. */
  beforeNew?: (() => Promise<void>) | undefined
  /** Everything there is to store at one moment; `isLast` when nothing comes after it. */
  capture: (isLast: boolean) => StateContent
}

/** What was on disk at the start: the state file, and the logs that follow it. */
export interface Stored extends LogContent {
  image: StateImage | undefined
  /** Bytes of the state file. */
  size: number
}

/** The state file and its write-ahead log. Commits go into the log, and from time to time a checkpoint puts all into the file. */
export class DiskStore {
  readonly log: WriteAheadLog
  readonly #options: DiskOptions
  readonly #lock: StateLock
  readonly #stateFile: StateFile
  readonly #logFile: LogFile
  readonly #stateId: string
  /** Bytes of log from which on a checkpoint is made. */
  #fullAt: number
  #checkpointing: Promise<void> | undefined
  #closed = false

  constructor(options: DiskOptions, lock: StateLock, { stateId, end, size }: Stored) {
    const { fileSystem, file, durability, checkpointAt } = options
    this.#options = options
    this.#lock = lock
    this.#stateFile = new StateFile(fileSystem, file)
    this.#stateId = stateId ?? new RandomIds().id('state')
    this.#logFile = new LogFile(fileSystem, file, this.#stateId, end)
    this.#fullAt = Math.max(checkpointAt, size)
    this.log = new WriteAheadLog(this.#logFile, durability, () => this.#checkpointFull())
  }

  /** Only when all that was read is valid. One that cannot be removed does no harm: no start replays it. */
  async removeOldLogs(from: number): Promise<void> {
    const { fileSystem, file } = this.#options
    await removeLogs(fileSystem, file, (generation) => generation < from).catch(() => undefined)
  }

  /** Gives the files back without writing anything. */
  abandon(): Promise<void> {
    return this.#lock.release()
  }

  /** Writes the whole model into the state file, while commits go on in another log. */
  checkpoint(): Promise<void> {
    this.#checkpointing ??= this.#checkpoint(false).finally(() => (this.#checkpointing = undefined))
    return this.#checkpointing
  }

  /** After this the state file alone is the whole model. */
  close(): Promise<void> {
    return this.#end(async () => {
      await this.#checkpointing?.catch(() => undefined)
      await this.#checkpoint(true)
    })
  }

  /** Gives the files back as they are: what was committed is in the log. A checkpoint that is being made ends as by a crash. */
  leave(): Promise<void> {
    this.#checkpointing?.catch(() => undefined)
    return this.#end(async () => this.log.flushed())
  }

  /** Refuses later commits, writes what there is, and gives the files back. */
  async #end(write: () => Promise<void>): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.log.close()
    try {
      await write()
    } finally {
      await this.log.idle()
      await this.#logFile.close().catch(() => undefined)
      await this.#lock.release()
    }
  }

  async #checkpoint(isLast: boolean): Promise<void> {
    try {
      await this.#writeState(isLast)
    } catch (error) {
      const cause = error instanceof StorageError ? error.cause : error
      if (await this.#logFile.isThere()) {
        throw new StorageError('the state file could not be written and its write-ahead log is kept beside it', cause)
      }
      const left = 'the write-ahead log is gone, and a state file is that of its last checkpoint'
      throw new StorageError('the state could not be written', cause, left)
    }
  }

  async #writeState(isLast: boolean): Promise<void> {
    const logFile = this.#logFile
    // What the disk refuses is rolled back, and no part of the checkpoint.
    await this.log.flushed()?.catch(() => undefined)
    if (!logFile.exists) return
    const { captured, result: generation } = await this.log.cut(
      () => this.#options.capture(isLast),
      () => (isLast ? logFile.nextGeneration() : logFile.rotate()),
    )
    const size = await this.#stateFile.write({ ...captured, state_id: this.#stateId, generation })
    await logFile.removeBelow(generation)
    this.#fullAt = Math.max(this.#options.checkpointAt, size)
  }

  #checkpointFull(): void {
    const { size } = this.#logFile
    if (size < this.#fullAt || this.#closed || this.#checkpointing) return
    // When the disk refuses, nothing is lost: the log goes on, and a checkpoint is tried again once it has doubled.
    this.#fullAt = 2 * size
    this.checkpoint().catch(() => undefined)
  }
}

/** @throws StateError when the file cannot be used; then nothing was touched */
export async function openDisk(options: DiskOptions): Promise<{ disk: DiskStore; stored: Stored }> {
  const { fileSystem } = options
  try {
    await fileSystem.makeDirectory(dirname(options.file))
    const file = await fileSystem.realPath(options.file)
    const lock = await options.lock(file)
    try {
      const onDisk = options.fresh ? undefined : await readStored(fileSystem, file)
      if (!onDisk?.image && !onDisk?.commits.length) await options.beforeNew?.()
      if (options.fresh) await removeState(fileSystem, file)
      const stored = onDisk ?? (await readStored(fileSystem, file))
      return { disk: new DiskStore({ ...options, file }, lock, stored), stored }
    } catch (error) {
      await lock.release()
      throw error
    }
  } catch (error) {
    if (!(error instanceof Error) || systemCode(error) === undefined) throw error
    throw new StateError(`${options.file}: it cannot be used as state file: ${error.message}`)
  }
}

/** Reads a state file and its logs, and changes nothing. @throws StateError */
export async function readStored(fileSystem: FileSystem, file: string): Promise<Stored> {
  const read = await new StateFile(fileSystem, file).read()
  const logs = await readLogs(fileSystem, file, read?.image)
  return { image: read?.image, size: read?.size ?? 0, ...logs }
}

/** The logs go first: a log without its state file would be refused, a state file without its log not. */
async function removeState(fileSystem: FileSystem, file: string): Promise<void> {
  await removeLogs(fileSystem, file, () => true)
  await fileSystem.remove(file)
  await fileSystem.syncDirectory(dirname(file))
}
