import { basename, resolve } from 'node:path'
import { plural } from '../../model/domain/text.ts'
import { readStored } from '../../state/disk-store.ts'
import { readRegistry } from '../../state/environment-registry.ts'
import type { StateContent } from '../../state/model/state-image.ts'
import { newState, writeNewState } from './new-state.ts'
import { StateFile } from '../../state/state-file/state-file.ts'
import { checkState } from '../../state/state-report.ts'
import { type FileSystem, nodeFileSystem } from '../../state/wal/file-system.ts'
import { StateError } from '../../state/wal/state-errors.ts'
import { Database, STATE_NAME } from './database.ts'
import { databaseFiles } from './database-files.ts'
import { Lease } from './lease.ts'

const WAIT_MS = 30_000

/** Writes the state of a database into a new state file, also while replicas serve it. @returns what was written */
export async function exportState(url: string, schema: string, out: string): Promise<string> {
  return withDatabase(url, schema, async (database) => {
    const place = `${database.place}/${STATE_NAME}`
    // All of it is read in one statement, so that it is of one moment.
    const files = await database.everything()
    if (files.size === 0) throw new StateError(`${database.place}: there is no state in it yet`)
    const copy = {
      ...databaseFiles(database),
      read: (path: string) => Promise.resolve(files.get(basename(path))),
      list: () => Promise.resolve([...files.keys()]),
    }
    const { content, size } = await writeNewState(nodeFileSystem, resolve(out), () => contentAt(copy, place))
    return sizeText(content, size)
  })
}

/** Writes a state file, with its write-ahead log, into a database that has no state. @returns what was written */
export async function importState(file: string, url: string, schema: string): Promise<string> {
  const report = await checkState(file)
  if (report.kind !== 'valid') throw new StateError(report.message)
  return withDatabase(url, schema, async (database) => {
    const lease = await Lease.take(database, { id: 'import', url: null }, WAIT_MS)
    const { url: active } = await database.leader()
    if (!lease) {
      throw new StateError(
        `${database.place}: the replica at ${active ?? '?'} serves it; stop all replicas first, nothing was changed`,
      )
    }
    try {
      const fileSystem = databaseFiles(database, lease)
      if ((await fileSystem.list('')).length > 0) {
        throw new StateError(
          `${database.place}: there is a state in it, which stays as it is; name other tables by --state-schema`,
        )
      }
      const content = await contentAt(nodeFileSystem, await nodeFileSystem.realPath(file))
      const size = await new StateFile(fileSystem, `${database.place}/${STATE_NAME}`).write(newState(content))
      return sizeText(content, size)
    } finally {
      await lease.release()
    }
  })
}

async function withDatabase<R>(url: string, schema: string, work: (database: Database) => Promise<R>): Promise<R> {
  const database = new Database(url, schema, WAIT_MS)
  try {
    await database.open()
    return await work(database)
  } finally {
    await database.close()
  }
}

async function contentAt(fileSystem: FileSystem, place: string): Promise<StateContent> {
  return readRegistry(await readStored(fileSystem, place)).image(true)
}

function sizeText({ environments }: StateContent, size: number): string {
  return `${plural(Object.keys(environments).length, 'environment')}, ${size} bytes`
}
