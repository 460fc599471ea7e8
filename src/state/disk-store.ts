import { dirname } from 'node:path'
import type { TimeSource } from './model/clock.ts'
import { CommitLog, type CommitSink, type Durability } from './wal/commit-log.ts'
import type { FileSystem } from './wal/file-system.ts'
import { JournalFile, segmentPath, segmentsOf } from './wal/wal-file.ts'
import type { Entry, JournalLine } from './wal/wal-record.ts'
import { readJournal } from './state-file/recovery.ts'
import { StateFile } from './state-file/state-file.ts'
import { VersionError } from './state-file/read-state.ts'
import { STATE_VERSION, type StateImage } from './model/state-image.ts'
import { lockState, type StateLock } from './state-file/state-lock.ts'
import { StateError, StorageError } from './wal/state-errors.ts'

export interface DiskOptions {
  file: string
  fresh: boolean
  durability: Durability
  /** Bytes of journal at which it is folded into the state file. */
  checkpointAt: number
  fileSystem: FileSystem
  time: TimeSource
}

/** What was on disk at the start: the state file, and the commits after it. */
export interface Stored {
  image: StateImage | undefined
  commits: JournalLine[]
  notices: string[]
}

interface DiskParts {
  lock: StateLock
  stateFile: StateFile
  journal: JournalFile
  log: CommitLog
}

/** The state file and its journal: commits go into the journal, and from time to time all of it into the file. */
export class DiskStore implements CommitSink {
  /** The whole model as it is now; set before the first commit. */
  capture: () => StateImage = () => ({ version: STATE_VERSION, environments: {} })
  readonly #lock: StateLock
  readonly #stateFile: StateFile
  readonly #journal: JournalFile
  readonly #log: CommitLog
  readonly #checkpointAt: number
  #nextCheckpointAt: number
  #checkpointing: Promise<void> | undefined
  #closed = false

  constructor({ lock, stateFile, journal, log }: DiskParts, checkpointAt: number) {
    this.#lock = lock
    this.#stateFile = stateFile
    this.#journal = journal
    this.#log = log
    this.#checkpointAt = checkpointAt
    this.#nextCheckpointAt = checkpointAt
    log.onWritten = () => this.#checkpointWhenGrown()
  }

  append(entry: Entry, undo: () => void): void {
    if (this.#closed) throw new StorageError('the state could not be written', new Error('the server is stopping'))
    this.#log.append(entry, undo)
  }

  durable(): Promise<void> | undefined {
    return this.#log.durable()
  }

  /** As `settled`, whatever the durability. */
  flushed(): Promise<void> | undefined {
    return this.#log.flushed()
  }

  /** Writes the whole model into the state file, while commits go on; the journal begins anew. */
  checkpoint(): Promise<void> {
    this.#checkpointing ??= this.#checkpoint(true).finally(() => (this.#checkpointing = undefined))
    return this.#checkpointing
  }

  /** After this the state file alone is the whole model. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    try {
      await this.#checkpointing?.catch(() => undefined)
      await this.#checkpoint(false)
    } finally {
      await this.#log.idle()
      await this.#journal.close().catch(() => undefined)
      await this.#lock.release()
    }
  }

  /** Lets go of the file without writing anything. */
  async abandon(): Promise<void> {
    this.#closed = true
    await this.#lock.release()
  }

  async #checkpoint(goesOn: boolean): Promise<void> {
    try {
      await this.#writeFile(goesOn)
    } catch (error) {
      const cause = error instanceof StorageError ? error.cause : error
      throw new StorageError('the journal could not be folded into the state file and is kept beside it', cause)
    }
  }

  async #writeFile(goesOn: boolean): Promise<void> {
    await this.#log.flushed()?.catch(() => undefined)
    if (!this.#journal.exists) return
    const { captured, upto, segment } = await this.#log.cut(() => this.capture(), goesOn)
    const identity = await this.#stateFile.write(captured, async (prepared) => {
      this.#log.append({ checkpointed: { ...prepared, upto } })
      await this.#log.flushed()
    })
    if (goesOn) await this.#journal.removeBefore(segment, identity)
    else await this.#journal.removeAll(identity)
    this.#nextCheckpointAt = Math.max(this.#checkpointAt, identity.size)
  }

  #checkpointWhenGrown(): void {
    if (this.#closed || this.#checkpointing || this.#journal.size < this.#nextCheckpointAt) return
    // When the disk refuses, nothing is lost: the journal goes on, and folding is tried again once it has doubled.
    this.#nextCheckpointAt = 2 * this.#journal.size
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
  const migration: string[] = []
  const snapshot = await stateFile.read().catch(async (error: unknown) => {
    if (!(error instanceof VersionError)) throw error
    const { migrateState } = await import('./state-file/migration.ts')
    migration.push(...(await migrateState(fileSystem, file)))
    return stateFile.read()
  })
  const { commits, end, lastLine, notices } = await readJournal(fileSystem, file, snapshot?.identity ?? null)
  const journal = new JournalFile(fileSystem, file, { follows: snapshot?.identity ?? null, end })
  const log = new CommitLog(journal, lastLine, options.durability)
  const checkpointAt = Math.max(options.checkpointAt, snapshot?.identity.size ?? 0)
  const store = new DiskStore({ lock, stateFile, journal, log }, checkpointAt)
  return { store, stored: { image: snapshot?.image, commits, notices: [...migration, ...notices] } }
}

/** The journal goes first: a journal without its state file would be refused, a state file without its journal not. */
async function removeState(fileSystem: FileSystem, file: string): Promise<void> {
  for (const segment of await segmentsOf(fileSystem, file)) await fileSystem.remove(segmentPath(file, segment))
  await fileSystem.remove(file)
  await fileSystem.syncDirectory(dirname(file))
}
