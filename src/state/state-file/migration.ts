import { dirname } from 'node:path'
import { isJsonObject, type JsonObject } from '../../domain/json.ts'
import { SECTION_NAMES } from '../model/model.ts'
import { STATE_VERSION, type StateImage } from '../model/state-image.ts'
import { type FileSystem, writeFully } from '../wal/file-system.ts'
import { readWal, type WalContent } from '../wal/recovery.ts'
import { replayJson } from '../wal/replay-json.ts'
import { StateError } from '../wal/state-errors.ts'
import {
  encodeLine,
  formerWalPath,
  type Identity,
  identityOf,
  segmentPath,
  segmentsOf,
  WalFile,
  walPath,
} from '../wal/write-ahead-log.ts'
import { readDocument, VersionError } from './read-state.ts'
import { StateFile } from './state-file.ts'
import { problemText, stateProblem } from './validation.ts'

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

/** An older state, its log included, in the form of the present version. */
export interface OlderState {
  /** Null when there is only a log: a first start that was killed. */
  version: number | null
  image: StateImage
  identity: Identity | null
  log: WalContent
}

/**
 * Replaces a state file of an older version, or one whose log has its former name, by one of the present version. Copies of
 * an older file and its log are kept beside it.
 * @returns what the start has to say
 * @throws StateError when there is no way from that version; then nothing was touched
 */
export async function migrateState(fileSystem: FileSystem, file: string): Promise<string[]> {
  const { version, image, identity, log } = await readOlder(fileSystem, file)
  const { lastLine, end, notices } = log
  const former = new WalFile(fileSystem, formerWalPath(file), { follows: identity, end })
  if (version === STATE_VERSION && log.commits.length === 0) {
    await former.removeAll(identity)
    return notices
  }
  const backup = version === null ? undefined : await backUp(fileSystem, file, version)
  const prepared = await new StateFile(fileSystem, file).write(image, async (next) => {
    if (!former.exists) return
    await former.append([encodeLine({ n: lastLine + 1, synced: lastLine, checkpointed: { ...next, upto: lastLine } })])
  })
  await former.removeAll(prepared)
  if (backup === undefined) return notices
  return [
    ...notices,
    `${file}: migrated from version ${version} to ${STATE_VERSION}; the former file is kept as ${backup}`,
  ]
}

/** Reads and migrates, and changes nothing. @throws StateError */
export async function readOlder(fileSystem: FileSystem, file: string): Promise<OlderState> {
  const bytes = await fileSystem.read(file)
  const state = bytes ? readDocument(bytes, file) : { version: 1, environments: {} }
  const version = Number(state['version'])
  if (!migrated(state)) throw new VersionError(file, state['version'])
  const identity = bytes ? identityOf(bytes) : null
  // A log by its present name follows a file of the present version: an older file was put in its place.
  if (version !== STATE_VERSION) await readWal(fileSystem, walPath(file), identity)
  const log = await readWal(fileSystem, formerWalPath(file), identity)
  const present = migrated(replayJson(state, log.commits))
  const problem = present && stateProblem(present)
  if (present && !problem)
    return { version: bytes ? version : null, image: present as unknown as StateImage, identity, log }
  throw new StateError(
    `${file}: it is of version ${version} and cannot be migrated: ${problem ? problemText(problem) : ''}. ` +
      `Nothing was changed; use another --state file, or --fresh to replace this one`,
  )
}

/** Copies the file and its log to a name that is free, on disk before this ends. */
async function backUp(fileSystem: FileSystem, file: string, version: number): Promise<string> {
  const name = `${file}.v${version}.bak`
  let backup = name
  for (let number = 2; await fileSystem.read(backup); number++) backup = `${name}.${number}`
  await copy(fileSystem, file, backup)
  const [from, to] = [formerWalPath(file), formerWalPath(backup)]
  for (const segment of await segmentsOf(fileSystem, from))
    await copy(fileSystem, segmentPath(from, segment), segmentPath(to, segment))
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
