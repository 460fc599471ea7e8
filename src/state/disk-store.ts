import { dirname } from 'node:path'
import type { TimeSource } from './model/time-and-ids.ts'
import type { StateImage } from './model/state-image.ts'
import { VersionError } from './state-file/read-state.ts'
import { StateFile } from './state-file/state-file.ts'
import { lockState, type StateLock } from './state-file/state-lock.ts'
import type { FileSystem } from './wal/file-system.ts'
import { readWal } from './wal/recovery.ts'
import { StateError, StorageError } from './wal/state-errors.ts'
import {
  type Durability,
  formerWalPath,
  segmentPath,
  segmentsOf,
  WalFile,
  type WalLine,
  walPath,
  WriteAheadLog,
} from './wal/write-ahead-log.ts'

export interface DiskOptions {
  file: string
  fresh: boolean
  durability: Durability
  /** Bytes of log from which on it is checkpointed. */
  checkpointAt: number
  fileSystem: FileSystem
  time: TimeSource
}

/** What was on disk at the start: the state file, and the commits after it. */
export interface Stored {
  image: StateImage | undefined
  commits: WalLine[]
  notices: string[]
}

interface DiskParts {
  lock: StateLock
  stateFile: StateFile
  walFile: WalFile
  log: WriteAheadLog
}

/** The state file and its write-ahead log. Commits go into the log, and from time to time a checkpoint puts all into the file. */
export class DiskStore {
  readonly log: WriteAheadLog
  /** The whole model as it is now; set before the first commit. */
  capture: () => StateImage = () => {
    throw new Error('a checkpoint before the model was loaded')
  }
  readonly #lock: StateLock
  readonly #stateFile: StateFile
  readonly #walFile: WalFile
  readonly #checkpointAt: number
  #checkpointing: Promise<void> | undefined
  #closed = false

  constructor({ lock, stateFile, walFile, log }: DiskParts, checkpointAt: number) {
    this.log = log
    this.#lock = lock
    this.#stateFile = stateFile
    this.#walFile = walFile
    this.#checkpointAt = checkpointAt
    log.fullAt = checkpointAt
    log.onFull = () => this.#checkpointFull()
  }

  /** Writes the whole model into the state file, while commits go on; the log starts again. */
  checkpoint(): Promise<void> {
    this.#checkpointing ??= this.#checkpoint(true).finally(() => (this.#checkpointing = undefined))
    return this.#checkpointing
  }

  /** After this the state file alone is the whole model. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.log.close()
    try {
      await this.#checkpointing?.catch(() => undefined)
      await this.#checkpoint(false)
    } finally {
      await this.log.idle()
      await this.#walFile.close().catch(() => undefined)
      await this.#lock.release()
    }
  }

  /** Gives the file back without writing anything. */
  async abandon(): Promise<void> {
    this.#closed = true
    await this.#lock.release()
  }

  async #checkpoint(goesOn: boolean): Promise<void> {
    try {
      await this.#writeFile(goesOn)
    } catch (error) {
      const cause = error instanceof StorageError ? error.cause : error
      if (await this.#walFile.isThere()) {
        throw new StorageError('the state file could not be written and its write-ahead log is kept beside it', cause)
      }
      const there = await this.#stateFile.exists()
      const left = there ? 'the state file is that of its last checkpoint' : 'there is no state file either'
      throw new StorageError('the state could not be written', cause, `the write-ahead log is gone, and ${left}`)
    }
  }

  async #writeFile(goesOn: boolean): Promise<void> {
    await this.log.flushed()?.catch(() => undefined)
    if (!this.#walFile.exists) return
    const { captured, upto, segment } = await this.log.cut(() => this.capture(), goesOn)
    const identity = await this.#stateFile.write(captured, async (prepared) => {
      this.log.append({ checkpointed: { ...prepared, upto } })
      await this.log.flushed()
    })
    if (goesOn) await this.#walFile.removeBefore(segment, identity)
    else await this.#walFile.removeAll(identity)
    this.log.fullAt = Math.max(this.#checkpointAt, identity.size)
  }

  #checkpointFull(): void {
    if (this.#closed || this.#checkpointing) return
    // When the disk refuses, nothing is lost: the log goes on, and a checkpoint is tried again once it has doubled.
    this.log.fullAt = 2 * this.#walFile.size
    this.checkpoint().catch(() => undefined)
  }
}

/** @throws StateError when the file cannot be used; then nothing was touched */
export async function openDisk(options: DiskOptions): Promise<{ store: DiskStore; stored: Stored }> {
  const { fileSystem, time } = options
  try {
    await fileSystem.makeDirectory(dirname(options.file))
    const file = await fileSystem.realPath(options.file)
    const lock = await lockState(file, time)
    try {
      return await openLocked({ ...options, file }, lock)
    } catch (error) {
      await lock.release()
      throw error
    }
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    throw new StateError(`${options.file}: it cannot be used as state file: ${error.message}`)
  }
}

async function openLocked(options: DiskOptions, lock: StateLock): Promise<{ store: DiskStore; stored: Stored }> {
  const { file, fileSystem } = options
  if (options.fresh) await removeState(fileSystem, file)
  const stateFile = new StateFile(fileSystem, file)
  const { read, migrated } = await readOrMigrate(fileSystem, file, stateFile)
  const identity = read?.identity ?? null
  const { commits, end, lastLine, notices } = await readWal(fileSystem, walPath(file), identity)
  const walFile = new WalFile(fileSystem, walPath(file), { follows: identity, end })
  const log = new WriteAheadLog(walFile, lastLine, options.durability)
  const store = new DiskStore(
    { lock, stateFile, walFile, log },
    Math.max(options.checkpointAt, read?.identity.size ?? 0),
  )
  return { store, stored: { image: read?.image, commits, notices: [...migrated, ...notices] } }
}

/** A state file of an older version, or a log by its former name, is replaced first. */
async function readOrMigrate(fileSystem: FileSystem, file: string, stateFile: StateFile) {
  const hasFormerLog = (await segmentsOf(fileSystem, formerWalPath(file))).length > 0
  if (!hasFormerLog) {
    try {
      return { read: await stateFile.read(), migrated: [] }
    } catch (error) {
      if (!(error instanceof VersionError)) throw error
    }
  }
  const { migrateState } = await import('./state-file/migration.ts')
  const migrated = await migrateState(fileSystem, file)
  return { read: await stateFile.read(), migrated }
}

/** The logs go first: a log without its state file would be refused, a state file without its log not. */
async function removeState(fileSystem: FileSystem, file: string): Promise<void> {
  for (const path of [walPath(file), formerWalPath(file)])
    for (const segment of await segmentsOf(fileSystem, path)) await fileSystem.remove(segmentPath(path, segment))
  await fileSystem.remove(file)
  await fileSystem.syncDirectory(dirname(file))
}
