import { basename, dirname } from 'node:path'
import { Low } from 'lowdb'
import { type FileSystem, type OpenFile, writeFully } from '../wal/file-system.ts'
import { byName, type StateImage } from '../model/state-image.ts'
import { parseState } from './read-state.ts'
import { stateText } from '../model/state-text.ts'

/** Characters per write. */
const WRITE_SIZE = 64 * 1024

const EMPTY: StateImage = { state_id: '', generation: 0, environments: byName([]) }

/**
 * The JSON file. lowdb keeps the contract between the data and the file: `read` and `write` of one document through an
 * adapter. The adapter is our own: it writes a new file beside the old one in parts, syncs it, and renames it over the old
 * one. The commits since then are in the write-ahead log.
 */
export class StateFile {
  readonly #fileSystem: FileSystem
  readonly #path: string
  readonly #between: (() => void) | undefined
  /** Bytes of the file that was read or written last. */
  #size = 0

  /** @param between called between two slices of the reading, which what it throws ends */
  constructor(fileSystem: FileSystem, path: string, between?: () => void) {
    this.#fileSystem = fileSystem
    this.#path = path
    this.#between = between
  }

  /** What the file holds, and its size in bytes; undefined when there is none. */
  async read(): Promise<{ image: StateImage; size: number } | undefined> {
    const low = this.#open(EMPTY)
    await low.read()
    return low.data === EMPTY ? undefined : { image: low.data, size: this.#size }
  }

  /** Whether there is one on disk now. */
  async exists(): Promise<boolean> {
    const names = await this.#fileSystem.list(dirname(this.#path)).catch((): string[] => [])
    return names.includes(basename(this.#path))
  }

  /** Replaces the file. @returns its size in bytes */
  async write(image: StateImage): Promise<number> {
    await this.#open(image).write()
    return this.#size
  }

  /** Not kept: the model has the rows, and a second reference would keep removed ones in memory. */
  #open(image: StateImage): Low<StateImage> {
    return new Low({ read: () => this.#parse(), write: (data) => this.#replace(data) }, image)
  }

  async #parse(): Promise<StateImage | null> {
    const bytes = await this.#fileSystem.read(this.#path)
    if (!bytes) return null
    const image = await parseState(bytes, this.#path, this.#between)
    this.#size = bytes.length
    return image
  }

  async #replace(image: StateImage): Promise<void> {
    const temporary = `${this.#path}.tmp`
    try {
      this.#size = await this.#writeTo(temporary, image)
      await this.#fileSystem.rename(temporary, this.#path)
    } catch (error) {
      await this.#fileSystem.remove(temporary).catch(() => undefined)
      throw error
    }
    await this.#fileSystem.syncDirectory(dirname(this.#path))
  }

  async #writeTo(path: string, image: StateImage): Promise<number> {
    const file = await this.#fileSystem.create(path)
    try {
      const size = await writeParts(file, image)
      await file.sync()
      return size
    } finally {
      await file.close()
    }
  }
}

/** Each write is a turn of the event loop, so that requests are answered between two of them. */
async function writeParts(file: OpenFile, image: StateImage): Promise<number> {
  let [size, text] = [0, '']
  const write = async (): Promise<void> => {
    const bytes = Buffer.from(text)
    text = ''
    await writeFully(file, bytes, size)
    size += bytes.length
  }
  for (const part of stateText(image)) {
    text += part
    if (text.length > WRITE_SIZE) await write()
  }
  await write()
  return size
}
