import { dirname } from 'node:path'
import { isJsonObject, type JsonObject } from '../../domain/json.ts'
import { SECTION_NAMES } from '../model/model.ts'
import { STATE_VERSION, type StateImage } from '../model/state-image.ts'
import { type FileSystem, writeFully } from '../wal/file-system.ts'
import { replayRaw } from '../wal/raw-replay.ts'
import { StateError } from '../wal/state-errors.ts'
import { JournalFile, segmentPath, segmentsOf } from '../wal/wal-file.ts'
import { encodeLine, type Identity, identityOf } from '../wal/wal-record.ts'
import { readDocument, VersionError } from './read-state.ts'
import { type JournalContent, readJournal } from './recovery.ts'
import { StateFile } from './state-file.ts'
import { faultText, stateFault } from './validation.ts'

/** Makes a state of the next version; by the version that it starts from. A new version adds a line here. */
const MIGRATIONS: ReadonlyMap<number, (state: JsonObject) => JsonObject> = new Map([[1, addSections]])

/** Version 1 had the tables alone. Nothing is known of what its environments were made from. */
function addSections(state: JsonObject): JsonObject {
  const environments = isJsonObject(state['environments']) ? state['environments'] : {}
  const sections = Object.fromEntries(SECTION_NAMES.map((name) => [name, []]))
  const migrated = Object.entries(environments).map(([name, environment]) => [
    name,
    isJsonObject(environment) ? { ...environment, ...sections } : environment,
  ])
  return { ...state, environments: Object.fromEntries(migrated) as JsonObject }
}

/** Takes a state to the present version, step by step; undefined when there is no way from its version. */
export function migrated(state: JsonObject): JsonObject | undefined {
  let current = state
  for (;;) {
    const { version } = current
    if (version === STATE_VERSION) return current
    const migrate = typeof version === 'number' ? MIGRATIONS.get(version) : undefined
    if (!migrate) return undefined
    current = { ...migrate(current), version: Number(version) + 1 }
  }
}

/** A state file of an older version, with its write-ahead log, in the form of the present one. */
export interface OlderState {
  version: number
  image: StateImage
  identity: Identity
  journal: JournalContent
}

/**
 * Replaces a state file of an older version, and its write-ahead log, by one of the present version. Copies of both are
 * kept beside it.
 * @returns what the start has to say
 * @throws StateError when there is no way from that version; then nothing was touched
 */
export async function migrateState(fileSystem: FileSystem, file: string): Promise<string[]> {
  const { version, image, identity, journal } = await readOlder(fileSystem, file)
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
export async function readOlder(fileSystem: FileSystem, file: string): Promise<OlderState> {
  const bytes = (await fileSystem.read(file)) ?? Buffer.alloc(0)
  const state = readDocument(bytes, file)
  const { version } = state
  const identity = identityOf(bytes)
  if (typeof version !== 'number' || version >= STATE_VERSION || !migrated(state)) throw new VersionError(file, version)
  const journal = await readJournal(fileSystem, file, identity)
  const present = migrated(replayRaw(state, journal.commits))
  const fault = present && stateFault(present)
  if (present && !fault) return { version, image: present as unknown as StateImage, identity, journal }
  throw new StateError(
    `${file}: it is of version ${version} and cannot be migrated: ${fault ? faultText(fault) : ''}. ` +
      `Nothing was changed; use another --state file, or --fresh to replace this one`,
  )
}

/** Copies the file and its write-ahead log to a name that is free, on disk before this ends. */
async function backUp(fileSystem: FileSystem, file: string, version: number): Promise<string> {
  const name = `${file}.v${version}.bak`
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
