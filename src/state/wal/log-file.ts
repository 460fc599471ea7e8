import { basename, dirname } from 'node:path'
import { type FileSystem, type OpenFile, writeFully } from './file-system.ts'
import { headerLine, logGenerations, logPath } from './log-lines.ts'
import { UnknownOutcomeError } from './state-errors.ts'

/** Where a log that was read at the start goes on. */
export interface LogEnd {
  generation: number
  /** Bytes that are valid; what follows is the torn rest of a write and is cut off. */
  length: number
  /** Valid bytes of the logs before it. */
  before: number
  /** Whether there is any log on disk. */
  exists: boolean
}

/** The log as it is written: one file at a time, always at the end of what is known to be durable. */
export class LogFile {
  readonly #fileSystem: FileSystem
  readonly #stateFile: string
  readonly #stateId: string
  #file: OpenFile | undefined
  /** The present log: up to where it and those before it are durable. */
  readonly #at: LogEnd
  /** Whether there may be bytes after the end, from a write that failed or was torn. */
  #hasTornTail: boolean

  constructor(fileSystem: FileSystem, stateFile: string, stateId: string, end: LogEnd) {
    this.#fileSystem = fileSystem
    this.#stateFile = stateFile
    this.#stateId = stateId
    this.#at = { ...end }
    this.#hasTornTail = end.exists
  }

  /** Durable bytes in all logs. */
  get size(): number {
    return this.#at.before + this.#at.length
  }

  /** Whether there may be a log on disk. */
  get exists(): boolean {
    return this.#at.exists
  }

  get #path(): string {
    return logPath(this.#stateFile, this.#at.generation)
  }

  /** Whether the log is on disk, where a start looks for it. */
  async isThere(): Promise<boolean> {
    const generations = await logGenerations(this.#fileSystem, this.#stateFile).catch((): number[] => [])
    return generations.includes(this.#at.generation)
  }

  /** Appends a line, which is durable once this has succeeded; when it fails, the log is as it was. */
  async append(line: string): Promise<void> {
    const file = await this.#open()
    if (this.#hasTornTail) await file.truncate(this.#at.length)
    this.#hasTornTail = true
    // The header is durable before anything follows it, so that no crash leaves it damaged in another way than cut short.
    if (this.#at.length === 0)
      await this.#write(file, headerLine({ state_id: this.#stateId, generation: this.#at.generation }))
    await this.#write(file, line)
    this.#hasTornTail = false
  }

  async #write(file: OpenFile, text: string): Promise<void> {
    const bytes = Buffer.from(text)
    try {
      await writeFully(file, bytes, this.#at.length)
      const [isThere] = await Promise.all([file.isAt(this.#path), file.datasync()])
      if (!isThere) throw missingLogError(this.#path)
    } catch (error) {
      // What was written may or may not be on disk: it is cut off now if that works, and before the next write if not.
      const isCut = await file.truncate(this.#at.length).then(
        () => true,
        () => false,
      )
      // What was cut off is known not to be there.
      throw isCut && error instanceof UnknownOutcomeError ? new Error(error.message) : error
    }
    this.#at.length += bytes.length
  }

  /** Goes on in a new log, whose generation the next state file has. The one before has no bytes after its end. */
  async rotate(): Promise<number> {
    const before = await this.#open()
    if (this.#hasTornTail) {
      await before.truncate(this.#at.length)
      await before.datasync()
    }
    const generation = await this.nextGeneration()
    // It stays empty until it is used: one that cannot be used later is no gap and has nothing to replay.
    const file = await this.#fileSystem.createNew(logPath(this.#stateFile, generation))
    try {
      await this.#fileSystem.syncDirectory(dirname(this.#stateFile))
    } catch (error) {
      await file.close().catch(() => undefined)
      throw error
    }
    this.#file = file
    this.#at.generation = generation
    this.#at.before += this.#at.length
    this.#at.length = 0
    this.#hasTornTail = false
    await before.close()
    return generation
  }

  /** A generation that no log has had. */
  async nextGeneration(): Promise<number> {
    const generations = await logGenerations(this.#fileSystem, this.#stateFile)
    return Math.max(this.#at.generation, ...generations) + 1
  }

  /** Removes the logs below a generation, because the state file of that generation holds what they say. */
  async removeBelow(generation: number): Promise<void> {
    await removeLogs(this.#fileSystem, this.#stateFile, (number) => number < generation)
    this.#at.before = 0
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  async #open(): Promise<OpenFile> {
    if (this.#file) return this.#file
    const names = await this.#fileSystem.list(dirname(this.#stateFile))
    const isThere = names.includes(basename(this.#path))
    if (this.#at.exists && this.#at.length > 0 && !isThere) throw missingLogError(this.#path)
    // A log that follows a state file is of no use without it.
    if (!isThere && this.#at.generation > 0 && !names.includes(basename(this.#stateFile)))
      throw missingLogError(this.#stateFile)
    const file = await (isThere ? this.#fileSystem.reopen(this.#path) : this.#fileSystem.createNew(this.#path))
    this.#at.exists = true
    try {
      if (this.#at.length === 0) await this.#fileSystem.syncDirectory(dirname(this.#stateFile))
    } catch (error) {
      await file.close().catch(() => undefined)
      throw error
    }
    return (this.#file = file)
  }
}

/** Removes logs, the latest first: what a crash leaves of them is then without a gap. */
export async function removeLogs(
  fileSystem: FileSystem,
  stateFile: string,
  which: (generation: number) => boolean,
): Promise<void> {
  const generations = (await logGenerations(fileSystem, stateFile)).filter(which)
  for (const generation of generations.toReversed()) await fileSystem.remove(logPath(stateFile, generation))
  if (generations.length > 0) await fileSystem.syncDirectory(dirname(stateFile))
}

function missingLogError(path: string): Error {
  return new Error(`${path} is gone: it, or a folder above it, was removed or moved while the server runs`)
}
