import { dirname } from 'node:path'
import type { JsonObject } from '../../domain/json.ts'
import { type FileSystem, writeFully } from '../wal/file-system.ts'
import { JournalFile, segmentPath, segmentsOf } from '../wal/wal-file.ts'
import { encodeLine, type Identity, identityOf } from '../wal/wal-record.ts'
import { isMigratable, migrated, type Migration, STATE_VERSION } from './migrations.ts'
import { replayRaw } from '../wal/raw-replay.ts'
import { type JournalContent, readJournal } from './recovery.ts'
import { readDocument, stateFault, VersionError } from './state-check.ts'
import { StateFile } from './state-file.ts'
import type { StateImage } from '../model/state-image.ts'
import { pathText } from './shape.ts'
import { StateError } from '../wal/state-errors.ts'

type Migrations = ReadonlyMap<number, Migration>

/** A state file of an older version, with its journal, in the form of the present one. */
export interface OlderState {
  version: number
  image: StateImage
  identity: Identity
  journal: JournalContent
}

/**
 * Replaces a state file of an older version, and its journal, by one of the present version; the older ones are kept beside
 * it first.
 * @returns what the start has to say
 * @throws StateError when there is no way from that version; then nothing was touched
 */
export async function migrateState(fileSystem: FileSystem, file: string, migrations: Migrations): Promise<string[]> {
  const { version, image, identity, journal } = await readOlder(fileSystem, file, migrations)
  const backup = await backUp(fileSystem, file, version)
  const { lastLine, end, notices } = journal
  const journalFile = new JournalFile(fileSystem, file, { follows: identity, end })
  const prepared = await new StateFile(fileSystem, file).write(image, async (next) => {
    if (!journalFile.exists) return
    const checkpointed = { ...next, upto: lastLine }
    await journalFile.append([encodeLine({ n: lastLine + 1, synced: lastLine, checkpointed })])
  })
  await journalFile.removeAll(prepared)
  return [
    ...notices,
    `${file}: migrated from version ${version} to ${STATE_VERSION}; the former file is kept as ${backup}`,
  ]
}

/** Reads and migrates, and changes nothing. @throws StateError */
export async function readOlder(fileSystem: FileSystem, file: string, migrations: Migrations): Promise<OlderState> {
  const bytes = (await fileSystem.read(file)) ?? Buffer.alloc(0)
  const state = readDocument(bytes, file)
  const { version = null } = state
  if (!isMigratable(version, migrations)) throw new VersionError(file, version)
  const identity = identityOf(bytes)
  const journal = await readJournal(fileSystem, file, identity)
  const image = soundImage(migrated(replayRaw(state, journal.commits), migrations), file, version)
  return { version, image, identity, journal }
}

function soundImage(state: JsonObject, file: string, version: number): StateImage {
  const fault = stateFault(state)
  if (!fault) return state as unknown as StateImage
  const { path, found, allowed } = fault
  throw new StateError(
    `${file}: it is of version ${version} and cannot be migrated: at ${pathText(path)} there would be ${found}; ` +
      `allowed is ${allowed}. Nothing was changed; use another --state file, or --fresh to replace this one`,
  )
}

/** Copies the file and its journal to a name that is free, on disk before this ends. */
async function backUp(fileSystem: FileSystem, file: string, version: number): Promise<string> {
  const name = `${file}.v${version}.backup`
  let backup = name
  for (let number = 2; await fileSystem.read(backup); number++) backup = `${name}.${number}`
  await copy(fileSystem, file, backup)
  for (const segment of await segmentsOf(fileSystem, file))
    await copy(fileSystem, segmentPath(file, segment), segmentPath(backup, segment))
  await fileSystem.syncDirectory(dirname(file))
  return backup
}

async function copy(fileSystem: FileSystem, from: string, to: string): Promise<void> {
  const bytes = await fileSystem.read(from)
  if (!bytes) return
  const file = await fileSystem.create(to)
  try {
    await writeFully(file, bytes, 0)
    await file.sync()
  } finally {
    await file.close()
  }
}
