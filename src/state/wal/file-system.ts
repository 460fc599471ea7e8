import type { BigIntStats } from 'node:fs'
import { type FileHandle, open, readdir, readFile, readlink, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { hasCode } from '../../model/domain/system-error.ts'
import { canSyncDirectories, renameOver } from '../../platform/platform.ts'
import { makeDirectory } from '../../platform/disk/make-directory.ts'

/** An open file, written at given positions. */
export interface OpenFile {
  /** Writes some of the bytes, at least one; answers how many. */
  write(bytes: Uint8Array, position: number): Promise<number>
  datasync(): Promise<void>
  sync(): Promise<void>
  truncate(length: number): Promise<void>
  /** Whether the path still leads to this file: it, or a folder above it, may have been removed or moved. */
  isAt(path: string): Promise<boolean>
  close(): Promise<void>
}

/** What the store asks of a disk; tests put one in its place that fails or remembers. */
export interface FileSystem {
  /** Undefined when there is no such file. */
  read(path: string): Promise<Buffer | undefined>
  /** Makes the file, or empties the one that is there. Only its owner may read it: it holds secrets. */
  create(path: string): Promise<OpenFile>
  /** As `create`; fails when the file is there already. */
  createNew(path: string): Promise<OpenFile>
  /** Opens a file that exists, for writing. */
  reopen(path: string): Promise<OpenFile>
  rename(from: string, to: string): Promise<void>
  /** Removes a file, if it is there. */
  remove(path: string): Promise<void>
  list(directory: string): Promise<string[]>
  makeDirectory(path: string): Promise<void>
  /** The path without symbolic links; the file itself need not be there. */
  realPath(path: string): Promise<string>
  /** Makes renames, new and removed files in a directory durable. */
  syncDirectory(path: string): Promise<void>
}

const OWNER_ONLY = 0o600

export const nodeFileSystem: FileSystem = {
  async read(path) {
    try {
      // Opening a pipe would wait for a writer.
      const stats = await stat(path)
      const kind = stats.isDirectory() ? 'a folder' : 'a device, pipe or socket'
      if (!stats.isFile()) throw Object.assign(new Error(`${path} is ${kind}, not a file`), { code: 'EISDIR' })
      return await readFile(path)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    }
  },
  create: async (path) => openFile(await open(path, 'w', OWNER_ONLY)),
  createNew: async (path) => openFile(await open(path, 'wx', OWNER_ONLY)),
  reopen: async (path) => openFile(await open(path, 'r+')),
  rename: (from, to) => renameOver(from, to),
  remove: (path) => rm(path, { force: true }),
  list: (directory) => readdir(directory),
  makeDirectory,
  async realPath(path) {
    try {
      return await realpath(path)
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
      const target = await readlink(path).catch(() => undefined)
      if (target !== undefined) return nodeFileSystem.realPath(resolve(dirname(path), target))
      return join(await realpath(dirname(path)), basename(path))
    }
  },
  async syncDirectory(path) {
    if (!canSyncDirectories()) return
    const directory = await open(path, 'r')
    try {
      await directory.sync()
    } finally {
      await directory.close()
    }
  },
}

export async function writeFully(file: OpenFile, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const written = await file.write(done === 0 ? bytes : bytes.subarray(done), position + done)
    if (written === 0) throw new Error('the disk took no byte of a write')
    done += written
  }
}

function openFile(handle: FileHandle): OpenFile {
  let ownStats: BigIntStats | undefined
  return {
    write: async (bytes, position) => (await handle.write(bytes, 0, bytes.length, position)).bytesWritten,
    datasync: () => handle.datasync(),
    sync: () => handle.sync(),
    truncate: (length) => handle.truncate(length),
    isAt: async (path) => {
      ownStats ??= await handle.stat({ bigint: true })
      const stats = await stat(path, { bigint: true }).catch((error: unknown) => {
        if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
        throw error
      })
      return stats?.ino === ownStats.ino && stats.dev === ownStats.dev
    },
    close: () => handle.close(),
  }
}
