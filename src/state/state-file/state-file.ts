import { dirname } from 'node:path'
import { Low } from 'lowdb'
import { type FileSystem, writeFully } from '../wal/file-system.ts'
import { byName, type StateImage } from '../model/state-image.ts'
import { readImage } from './read-state.ts'
import { stateText } from '../model/state-text.ts'

const EMPTY: StateImage = { state_id: '', generation: 0, environments: byName([]) }

/** Our adapter of lowdb writes a new file, syncs it, and renames it over the old one; later commits are in the log. */
export class StateFile {
  readonly #fileSystem: FileSystem
  readonly #path: string
  /** Bytes of what was read or written last. */
  #size = 0

  constructor(fileSystem: FileSystem, path: string) {
    this.#fileSystem = fileSystem
    this.#path = path
  }

  /** What the file holds, and its size in bytes; undefined when there is none. */
  async read(): Promise<{ image: StateImage; size: number } | undefined> {
    const low = this.#open(EMPTY)
    await low.read()
    return low.data === EMPTY ? undefined : { image: low.data, size: this.#size }
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
    return (await readImage(() => this.#bytes(), this.#path)) ?? null
  }

  async #bytes(): Promise<Buffer | undefined> {
    const bytes = await this.#fileSystem.read(this.#path)
    this.#size = bytes?.length ?? 0
    return bytes
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
      const bytes = Buffer.from(stateText(image))
      await writeFully(file, bytes, 0)
      await file.sync()
      return bytes.length
    } finally {
      await file.close()
    }
  }
}
