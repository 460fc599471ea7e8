import { basename, dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { Low } from 'lowdb'
import { type FileSystem, type OpenFile, release, writeFully } from '../wal/file-system.ts'
import { type Identity, identityOf } from '../wal/write-ahead-log.ts'
import { byName, STATE_VERSION, type StateImage } from '../model/state-image.ts'
import { parseState } from './read-state.ts'
import { stateText } from './state-text.ts'

/** Characters per write. */
const WRITE_SIZE = 64 * 1024

const EMPTY: StateImage = { version: STATE_VERSION, environments: byName([]) }

/**
 * The JSON file. lowdb keeps the contract between the data and the file: `read` and `write` of one document through an
 * adapter. The adapter is our own: it writes a new file beside the old one in parts, syncs it, and renames it over the old
 * one. The commits since then are in the write-ahead log.
 */
export class StateFile {
  readonly #adapter: StateAdapter
  readonly #low: Low<StateImage>

  constructor(fileSystem: FileSystem, path: string) {
    this.#adapter = new StateAdapter(fileSystem, path)
    this.#low = new Low(this.#adapter, EMPTY)
  }

  /** What the file holds; undefined when there is none. */
  async read(): Promise<{ image: StateImage; identity: Identity } | undefined> {
    await this.#low.read()
    const { data: image } = this.#low
    // The model holds the rows; a second reference here would keep removed ones in memory.
    this.#low.data = EMPTY
    return this.#adapter.identity ? { image, identity: this.#adapter.identity } : undefined
  }

  /** Whether there is one on disk now. */
  exists(): Promise<boolean> {
    return this.#adapter.exists()
  }

  /** Replaces the file; `announce` is awaited when the new one is on disk but not yet in its place. */
  async write(image: StateImage, announce: (identity: Identity) => Promise<void>): Promise<Identity> {
    let identity: Identity | undefined
    this.#adapter.announce = async (prepared) => {
      identity = prepared
      await announce(prepared)
    }
    this.#low.data = image
    try {
      await this.#low.write()
    } finally {
      this.#low.data = EMPTY
    }
    if (!identity) throw new Error('lowdb did not write the state file')
    return identity
  }
}

class StateAdapter {
  readonly #fileSystem: FileSystem
  readonly #path: string
  /** Of the file that is in place; null when there is none. */
  identity: Identity | null = null
  announce: (identity: Identity) => Promise<void> = () => Promise.resolve()

  constructor(fileSystem: FileSystem, path: string) {
    this.#fileSystem = fileSystem
    this.#path = path
  }

  async read(): Promise<StateImage | null> {
    const bytes = await this.#fileSystem.read(this.#path)
    if (!bytes) return null
    const image = await parseState(bytes, this.#path)
    this.identity = identityOf(bytes)
    release(bytes)
    return image
  }

  async exists(): Promise<boolean> {
    const names = await this.#fileSystem.list(dirname(this.#path)).catch((): string[] => [])
    return names.includes(basename(this.#path))
  }

  async write(image: StateImage): Promise<void> {
    const temporary = `${this.#path}.tmp`
    try {
      const identity = await this.#writeTo(temporary, image)
      await this.announce(identity)
      await this.#fileSystem.rename(temporary, this.#path)
      this.identity = identity
    } catch (error) {
      await this.#fileSystem.remove(temporary).catch(() => undefined)
      throw error
    }
    await this.#fileSystem.syncDirectory(dirname(this.#path))
  }

  async #writeTo(path: string, image: StateImage): Promise<Identity> {
    const file = await this.#fileSystem.create(path)
    try {
      const identity = await writeParts(file, image)
      await file.sync()
      return identity
    } finally {
      await file.close()
    }
  }
}

/** Each write is a turn of the event loop, so that requests are answered between two of them. */
async function writeParts(file: OpenFile, image: StateImage): Promise<Identity> {
  let [size, crc, text] = [0, 0, '']
  const write = async (): Promise<void> => {
    const bytes = Buffer.from(text)
    text = ''
    await writeFully(file, bytes, size)
    size += bytes.length
    crc = crc32(bytes, crc)
  }
  for (const part of stateText(image)) {
    text += part
    if (text.length > WRITE_SIZE) await write()
  }
  await write()
  return { size, crc: crc.toString(16).padStart(8, '0') }
}
