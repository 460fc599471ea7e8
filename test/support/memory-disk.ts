import { basename, dirname } from 'node:path'
import type { FileSystem, OpenFile } from '../../src/state/wal/file-system.ts'

/**
 * What survives a crash. `killed`: every write. The others are crashes of the machine, which lose data that was not synced;
 * of the names changed since the last sync of their directory, none, all, or only the removals survive.
 */
export type Crash = 'killed' | 'power-lost' | 'power-lost-names-kept' | 'power-lost-removals-kept'

interface Inode {
  data: Buffer
  /** The synced data. */
  durable: Buffer
}

/** A disk in memory that knows what is durable, and that fails at a chosen operation. */
export class MemoryDisk implements FileSystem {
  #names: Map<string, Inode>
  #durableNames: Map<string, Inode>
  /** The number of operations so far that change the disk. */
  operations = 0
  /** Names of the operations, in order. */
  readonly log: string[] = []
  /** Every operation waits for this promise, to simulate a slow disk. */
  gate: Promise<void> = Promise.resolve()
  /** Decides by number and name whether an operation fails, and with what. */
  fails: (operation: number, name: string) => Error | undefined = () => undefined

  constructor(files: Iterable<readonly [string, Buffer]> = []) {
    this.#names = new Map([...files].map(([path, data]) => [path, { data, durable: data }]))
    this.#durableNames = new Map(this.#names)
  }

  /** The disk as the next start finds it. */
  after(crash: Crash): MemoryDisk {
    const volatile = crash === 'killed' || crash === 'power-lost-names-kept'
    const names = [...(volatile ? this.#names : this.#durableNames)].filter(
      ([path]) => crash !== 'power-lost-removals-kept' || this.#names.has(path),
    )
    return new MemoryDisk(names.map(([path, inode]) => [path, crash === 'killed' ? inode.data : inode.durable]))
  }

  file(path: string): Buffer | undefined {
    return this.#names.get(path)?.data
  }

  put(path: string, data: Buffer | string): void {
    const bytes = Buffer.from(data)
    this.#names.set(path, { data: bytes, durable: bytes })
    this.#durableNames = new Map(this.#names)
  }

  paths(): string[] {
    return [...this.#names.keys()]
  }

  read(path: string): Promise<Buffer | undefined> {
    return Promise.resolve(this.#names.get(path)?.data)
  }

  async create(path: string): Promise<OpenFile> {
    await this.#operation(`create ${basename(path)}`)
    const inode = this.#names.get(path) ?? { data: Buffer.alloc(0), durable: Buffer.alloc(0) }
    inode.data = Buffer.alloc(0)
    this.#names.set(path, inode)
    return this.#open(inode, basename(path))
  }

  createNew(path: string): Promise<OpenFile> {
    if (this.#names.has(path)) throw Object.assign(new Error(`EEXIST: ${path}`), { code: 'EEXIST' })
    return this.create(path)
  }

  async reopen(path: string): Promise<OpenFile> {
    const inode = this.#names.get(path)
    if (!inode) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' })
    await this.#operation(`reopen ${basename(path)}`)
    return this.#open(inode, basename(path))
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#operation(`rename ${basename(from)}`)
    const inode = this.#names.get(from)
    if (!inode) throw new Error(`ENOENT: ${from}`)
    this.#names.set(to, inode)
    this.#names.delete(from)
  }

  async remove(path: string): Promise<void> {
    if (!this.#names.has(path)) return
    await this.#operation(`remove ${basename(path)}`)
    this.#names.delete(path)
  }

  list(directory: string): Promise<string[]> {
    return Promise.resolve(this.paths().flatMap((path) => (dirname(path) === directory ? [basename(path)] : [])))
  }

  makeDirectory(): Promise<void> {
    return Promise.resolve()
  }

  realPath(path: string): Promise<string> {
    return Promise.resolve(path)
  }

  async syncDirectory(): Promise<void> {
    await this.#operation('sync directory')
    this.#durableNames = new Map(this.#names)
  }

  #open(inode: Inode, name: string): OpenFile {
    const sync = (kind: string) => async (): Promise<void> => {
      await this.#operation(`${kind} ${name}`)
      inode.durable = inode.data
    }
    return {
      write: async (bytes, position) => {
        // A failing write has written half of its bytes.
        const half = Math.ceil(bytes.length / 2)
        await this.#operation(`write ${name}`, () => writeInto(inode, bytes.subarray(0, half), position))
        writeInto(inode, bytes, position)
        return bytes.length
      },
      datasync: sync('datasync'),
      sync: sync('sync'),
      truncate: async (length) => {
        await this.#operation(`truncate ${name}`)
        inode.data = inode.data.subarray(0, length)
      },
      isAt: (path) => Promise.resolve(this.#names.get(path) === inode),
      close: () => Promise.resolve(),
    }
  }

  async #operation(name: string, onFailure: () => void = () => undefined): Promise<void> {
    await this.gate
    this.operations++
    this.log.push(name)
    const error = this.fails(this.operations, name)
    if (!error) return
    onFailure()
    throw error
  }
}

function writeInto(inode: Inode, bytes: Uint8Array, position: number): void {
  const before = inode.data.subarray(0, position)
  const gap = Buffer.alloc(Math.max(0, position - inode.data.length))
  inode.data = Buffer.concat([before, gap, bytes, inode.data.subarray(position + bytes.length)])
}
