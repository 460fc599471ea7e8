import { dirname } from 'node:path'
import { systemCode } from '../domain/system-error.ts'
import { RandomIds } from './model/time-and-ids.ts'
import type { StateContent, StateImage } from './model/state-image.ts'
import { StateFile } from './state-file/state-file.ts'
import type { StateLock } from './state-file/state-lock.ts'
import type { FileSystem } from './wal/file-system.ts'
import { LogFile, removeLogs } from './wal/log-file.ts'
import type { LoggedCommit } from './wal/log-lines.ts'
import { readLogs } from './wal/recovery.ts'
import { StateError, StorageError } from './wal/state-errors.ts'
import { type Durability, WriteAheadLog } from './wal/write-ahead-log.ts'

export interface DiskOptions {
  file: string
  fresh: boolean
  durability: Durability
  /** Bytes of log from which on it is checkpointed. */
  checkpointAt: number
  fileSystem: FileSystem
  /** Takes the exclusive right to use the state file. @throws StateError naming who has it */
  lock: (file: string) => Promise<StateLock>
  /** Called between two slices of the reading, which what it throws ends. */
  between: () => void
}

/** What was on disk at the start: the state file, and the commits after it. */
export interface Stored {
  image: StateImage | undefined
  commits: LoggedCommit[]
  notices: string[]
}

/** What there is to store at one moment; `isLast` when nothing comes after it. */
export type Capture = (isLast: boolean) => StateContent

/** Files that were read at a start and that this process has the right to use. */
export interface OpenedDisk {
  readonly stored: Stored
  /** Removes the logs below that of the state file, which holds what they say. Only when all that was read is valid. */
  removeOldLogs(): Promise<void>
  /** Stores commits from now on; checkpoints take the whole model from `capture`. */
  store(capture: Capture): DiskStore
  /** Gives the files back without writing anything. */
  abandon(): Promise<void>
}

interface DiskParts {
  readonly lock: StateLock
  readonly stateFile: StateFile
  readonly logFile: LogFile
  readonly stateId: string
  readonly durability: Durability
  readonly checkpointAt: number
}

/** The state file and its write-ahead log. Commits go into the log, and from time to time a checkpoint puts all into the file. */
export class DiskStore {
  readonly log: WriteAheadLog
  readonly #parts: DiskParts
  readonly #capture: Capture
  /** Bytes of log from which on a checkpoint is made. */
  #fullAt: number
  #checkpointing: Promise<void> | undefined
  #closed = false

  /** @param size bytes of the state file */
  constructor(parts: DiskParts, capture: Capture, size: number) {
    this.#parts = parts
    this.#capture = capture
    this.#fullAt = Math.max(parts.checkpointAt, size)
    this.log = new WriteAheadLog(parts.logFile, parts.durability, () => this.#checkpointFull())
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
      await this.#parts.logFile.close().catch(() => undefined)
      await this.#parts.lock.release()
    }
  }

  async #checkpoint(isLast: boolean): Promise<void> {
    const { logFile, stateFile } = this.#parts
    try {
      await this.#writeState(isLast)
    } catch (error) {
      const cause = error instanceof StorageError ? error.cause : error
      if (await logFile.isThere()) {
        throw new StorageError('the state file could not be written and its write-ahead log is kept beside it', cause)
      }
      const left = (await stateFile.exists())
        ? 'the state file is that of its last checkpoint'
        : 'there is no state file either'
      throw new StorageError('the state could not be written', cause, `the write-ahead log is gone, and ${left}`)
    }
  }

  async #writeState(isLast: boolean): Promise<void> {
    const { logFile, stateFile, stateId, checkpointAt } = this.#parts
    // What the disk refuses is rolled back, and no part of the checkpoint.
    await this.log.flushed()?.catch(() => undefined)
    if (!logFile.exists) return
    const { captured, result: generation } = await this.log.cut(
      () => this.#capture(isLast),
      () => (isLast ? logFile.nextGeneration() : logFile.rotate()),
    )
    const size = await stateFile.write({ ...captured, state_id: stateId, generation })
    await logFile.removeBelow(generation)
    this.#fullAt = Math.max(checkpointAt, size)
  }

  #checkpointFull(): void {
    const { size } = this.#parts.logFile
    if (size < this.#fullAt || this.#closed || this.#checkpointing) return
    // When the disk refuses, nothing is lost: the log goes on, and a checkpoint is tried again once it has doubled.
    this.#fullAt = 2 * size
    this.checkpoint().catch(() => undefined)
  }
}

/** @throws StateError when the file cannot be used; then nothing was touched */
export async function openDisk(options: DiskOptions): Promise<OpenedDisk> {
  const { fileSystem } = options
  try {
    await fileSystem.makeDirectory(dirname(options.file))
    const file = await fileSystem.realPath(options.file)
    const lock = await options.lock(file)
    try {
      return await openLocked({ ...options, file }, lock)
    } catch (error) {
      await lock.release()
      throw error
    }
  } catch (error) {
    if (!(error instanceof Error) || systemCode(error) === undefined) throw error
    throw new StateError(`${options.file}: it cannot be used as state file: ${error.message}`)
  }
}

async function openLocked(options: DiskOptions, lock: StateLock): Promise<OpenedDisk> {
  const { file, fileSystem, durability, between } = options
  if (options.fresh) await removeState(fileSystem, file)
  const stateFile = new StateFile(fileSystem, file, between)
  const { stored, logs, size } = await readStored(fileSystem, file, { stateFile, between })
  const stateId = logs.stateId ?? new RandomIds().id('state')
  const logFile = new LogFile(fileSystem, file, stateId, logs.end)
  const { checkpointAt } = options
  const parts = { lock, stateFile, logFile, stateId, durability, checkpointAt }
  const from = stored.image?.generation ?? 0
  return {
    stored,
    // One that cannot be removed does no harm: no start replays it.
    removeOldLogs: () => removeLogs(fileSystem, file, (generation) => generation < from).catch(() => undefined),
    store: (capture) => new DiskStore(parts, capture, size),
    abandon: () => lock.release(),
  }
}

/** Reads a state file and its logs, and changes nothing. @throws StateError */
export async function readStored(
  fileSystem: FileSystem,
  file: string,
  { stateFile = new StateFile(fileSystem, file), between }: { stateFile?: StateFile; between?: () => void } = {},
) {
  const read = await stateFile.read()
  const logs = await readLogs(fileSystem, file, read?.image, between)
  const stored: Stored = { image: read?.image, commits: logs.commits, notices: logs.notices }
  return { stored, logs, size: read?.size ?? 0 }
}

/** The logs go first: a log without its state file would be refused, a state file without its log not. */
async function removeState(fileSystem: FileSystem, file: string): Promise<void> {
  await removeLogs(fileSystem, file, () => true)
  await fileSystem.remove(file)
  await fileSystem.syncDirectory(dirname(file))
}
