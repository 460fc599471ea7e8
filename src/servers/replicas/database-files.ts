import { basename } from 'node:path'
import type { FileSystem, OpenFile } from '../../state/wal/file-system.ts'
import { UnknownOutcomeError } from '../../state/wal/state-errors.ts'
import { type Database, isRefusal, sqlLiteral, databaseFailure, sqlState } from './database.ts'
import type { Lease } from './lease.ts'
import type { Guard } from './schema.ts'

/** Bytes that are gathered before they are written, when nothing asks for them to be durable earlier. */
const CHUNK = 4 * 1024 * 1024

/** Bytes that are read in one round trip. */
const READ_AT_ONCE = 16 * 1024 * 1024

const FOREIGN_KEY_VIOLATION = '23503'

/** The files of the state in two tables. Without a lease they can only be read. */
export function databaseFiles(database: Database, lease?: Lease): FileSystem {
  const write = guardedWrites(database, lease)
  const change = (statements: string): Promise<readonly object[]> =>
    write((guard) => database.change(guard, statements))
  const idOf = async (name: string): Promise<string | undefined> => {
    const [row] = await database.rows<{ id: string }>('select id from $s.files where name = $1', [name])
    return row?.id
  }
  const open = (id: string): OpenFile => openDatabaseFile(database, id, write)
  const create = async (path: string, before: string): Promise<OpenFile> => {
    const rows = await change(`${before}insert into $s.files(name) values (${sqlLiteral(basename(path))}) returning id`)
    return open((rows[0] as { id: string }).id)
  }
  const removal = (path: string): string => `delete from $s.files where name = ${sqlLiteral(basename(path))}; `
  return {
    read: async (path) => {
      const id = await idOf(basename(path))
      return id === undefined ? undefined : readFile(database, id, () => lease?.assertHeld())
    },
    create: (path) => create(path, removal(path)),
    createNew: async (path) => {
      if ((await idOf(basename(path))) !== undefined)
        throw Object.assign(new Error(`${path} is there`), { code: 'EEXIST' })
      return create(path, '')
    },
    reopen: async (path) => {
      const id = await idOf(basename(path))
      if (id === undefined) throw new Error(`${path} is gone`)
      return open(id)
    },
    rename: async (from, to) => {
      await change(
        `${removal(to)}update $s.files set name = ${sqlLiteral(basename(to))} where name = ${sqlLiteral(basename(from))}`,
      )
    },
    remove: async (path) => {
      await change(removal(path))
    },
    list: async () => (await database.rows<{ name: string }>('select name from $s.files')).map(({ name }) => name),
    makeDirectory: () => Promise.resolve(),
    realPath: (path) => Promise.resolve(path),
    syncDirectory: () => Promise.resolve(),
  }
}

type Write = <R>(statement: (guard: Guard) => Promise<R | undefined>) => Promise<R>

/** A statement without an answer may take effect after later ones: the fence is raised before the next one. */
function guardedWrites(database: Database, lease: Lease | undefined): Write {
  let [fence, isUnsure] = [0, false]
  return async (statement) => {
    if (!lease) throw new Error('the state in the database is open for reading only')
    if (!lease.isHeld) throw lease.taken()
    const isRaised = isUnsure
    if (isRaised) fence += 1
    const guard = { epoch: lease.epoch, fence }
    let result
    try {
      const isGuarded = !isRaised || (await database.raiseFence(guard))
      // Others that write at the same time may have raised it too.
      if (isRaised && isGuarded && guard.fence === fence) isUnsure = false
      result = isGuarded ? await statement(guard) : undefined
    } catch (error) {
      if (!isRefusal(error)) isUnsure = true
      throw fileFailure(error)
    }
    if (result !== undefined) return result
    if (guard.fence === fence) throw lease.taken()
    throw new Error('the database did not answer an earlier statement, and this one was not executed')
  }
}

/** What is written becomes one chunk with the next sync: a group of commits is one statement. */
function openDatabaseFile(database: Database, id: string, write: Write): OpenFile {
  let gathered: Uint8Array[] = []
  let [start, length] = [0, 0]
  const flush = async (): Promise<void> => {
    if (length === 0) return
    const bytes = Buffer.concat(gathered, length)
    gathered = []
    length = 0
    await write((guard) => database.append(guard, id, start, bytes))
  }
  return {
    write: async (bytes, position) => {
      if (length > 0 && position !== start + length) await flush()
      if (length === 0) start = position
      gathered.push(bytes)
      length += bytes.length
      if (length >= CHUNK) await flush()
      return bytes.length
    },
    datasync: flush,
    sync: flush,
    truncate: async (to) => {
      gathered = []
      length = 0
      await write((guard) =>
        database.change(
          guard,
          `delete from $s.chunks where file = ${id} and position >= ${to};
           update $s.chunks set bytes = substring(bytes for (${to} - position)::int)
             where file = ${id} and position < ${to} and position + length(bytes) > ${to}`,
        ),
      )
    },
    // A chunk refers to its file: a write into one that was removed fails.
    isAt: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  }
}

/** Into memory that can be given back at once, as from a disk. */
async function readFile(database: Database, id: string, between: () => void): Promise<Buffer> {
  const [total] = await database.rows<{ size: string }>(
    'select coalesce(sum(length(bytes)), 0) as size from $s.chunks where file = $1',
    [id],
  )
  const size = Number(total?.size ?? 0)
  const whole = Buffer.from(new ArrayBuffer(size, { maxByteLength: size }))
  for (let at = 0; at < size;) {
    between()
    const chunks = await database.chunks(id, at, at + READ_AT_ONCE)
    if (chunks.length === 0) return whole.subarray(0, at)
    for (const bytes of chunks) at += bytes.copy(whole, at)
  }
  return whole
}

/** After anything but a refusal of the database it is unknown what has become of a statement. */
function fileFailure(error: unknown): Error {
  if (!isRefusal(error)) return new UnknownOutcomeError(`the database did not answer: ${databaseFailure(error)}`)
  const isGone = sqlState(error) === FOREIGN_KEY_VIOLATION
  return new Error(
    isGone ? 'its file was removed from the database' : `the database refused it: ${databaseFailure(error)}`,
  )
}
