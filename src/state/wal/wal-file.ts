import { basename, dirname } from 'node:path'
import { type FileSystem, type OpenFile, writeFully } from './file-system.ts'
import { encodeLine, type Identity } from './wal-record.ts'

/** Where a journal that was read at the start goes on. */
export interface JournalEnd {
  segment: number
  /** Bytes that are good; whatever follows is the torn rest of a write and is cut off. */
  length: number
}

/** The path of a numbered journal file: `state.json.journal`, `state.json.journal.2`, … */
export function segmentPath(stateFile: string, segment: number): string {
  return segment === 1 ? `${stateFile}.journal` : `${stateFile}.journal.${segment}`
}

/** The numbers of the journal files beside a state file, ascending. */
export async function segmentsOf(fileSystem: FileSystem, stateFile: string): Promise<number[]> {
  const prefix = `${basename(stateFile)}.journal`
  const numbers = (await fileSystem.list(dirname(stateFile))).map((name) => {
    if (name === prefix) return 1
    const number = name.startsWith(`${prefix}.`) ? name.slice(prefix.length + 1) : ''
    return /^[1-9]\d{0,8}$/.test(number) ? Number(number) : 0
  })
  return numbers.filter((number) => number > 0).sort((a, b) => a - b)
}

/** The journal as it is written: one file at a time, always at the end of what is known to be durable. */
export class JournalFile {
  readonly #fileSystem: FileSystem
  readonly #stateFile: string
  /** Identity of the state file that the next journal file follows. */
  #follows: Identity | null
  #file: OpenFile | undefined
  #segment: number
  #exists: boolean
  #end: number
  /** Whether bytes may lie behind the end, from a write that failed or was torn. */
  #untidy: boolean
  /** Durable bytes in the journal files before this one. */
  #sizeBefore = 0
  /** A journal file that could not be made whole, nor removed. */
  #stray: string | undefined

  constructor(
    fileSystem: FileSystem,
    stateFile: string,
    at: { follows: Identity | null; end: JournalEnd | undefined },
  ) {
    this.#fileSystem = fileSystem
    this.#stateFile = stateFile
    this.#follows = at.follows
    this.#segment = at.end?.segment ?? 1
    this.#exists = at.end !== undefined && at.end.length > 0
    this.#end = at.end?.length ?? 0
    this.#untidy = this.#exists
  }

  /** Durable bytes in all journal files. */
  get size(): number {
    return this.#sizeBefore + this.#end
  }

  get segment(): number {
    return this.#segment
  }

  get exists(): boolean {
    return this.#exists
  }

  /** Appends text, which is durable once this has succeeded; when it fails, the journal is as it was. */
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
      await file.datasync()
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
    // Whatever is behind the end of a journal file that another one follows would be taken for damage.
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

  /** Removes the journal files before the present one, which a state file of this identity now holds. */
  async removeBefore(segment: number, follows: Identity): Promise<void> {
    this.#follows = follows
    await this.#remove((number) => number < segment)
    this.#sizeBefore = 0
  }

  /** Removes every journal file: the state file is the whole model. */
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
      this.#file = await this.#fileSystem.reopen(segmentPath(this.#stateFile, this.#segment))
      return this.#file
    }
    const [file, end] = await this.#create(this.#segment)
    this.#exists = true
    this.#end = end
    this.#untidy = false
    return (this.#file = file)
  }

  async #create(segment: number): Promise<[OpenFile, number]> {
    const path = segmentPath(this.#stateFile, segment)
    const header = Buffer.from(encodeLine({ toolmock_journal: 1, segment, follows: this.#follows }))
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

  /** A start would take it for the one that follows, and what is behind the end of the present one for damage. */
  async #removeStray(): Promise<void> {
    if (this.#stray === undefined) return
    await this.#fileSystem.remove(this.#stray)
    await this.#fileSystem.syncDirectory(dirname(this.#stray))
    this.#stray = undefined
  }

  async #remove(which: (segment: number) => boolean): Promise<void> {
    const segments = (await segmentsOf(this.#fileSystem, this.#stateFile)).filter(which)
    for (const segment of segments) await this.#fileSystem.remove(segmentPath(this.#stateFile, segment))
    if (segments.length > 0) await this.#fileSystem.syncDirectory(dirname(this.#stateFile))
  }
}
