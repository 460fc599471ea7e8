import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { JsonObject } from '../domain/json.ts'
import { type FileSystem, hasCode, nodeFileSystem } from './wal/file-system.ts'
import {
  formerWalPath,
  type Identity,
  identityOf,
  segmentPath,
  segmentsOf,
  type WalLine,
  walPath,
} from './wal/write-ahead-log.ts'
import { replayJson } from './wal/replay-json.ts'
import { rawLines, type RawLine, sameIdentity } from './wal/recovery.ts'
import { migrated } from './state-file/migration.ts'
import { type LeaveOut, salvageRows, salvageText } from './state-file/salvage.ts'
import { stateText } from './state-file/state-text.ts'
import { parseState, readDocument } from './state-file/read-state.ts'
import { STATE_VERSION, type StateImage } from './model/state-image.ts'
import { refuseIfHeld } from './state-file/state-lock.ts'
import { plural } from '../domain/text.ts'
import { StateError } from './wal/state-errors.ts'

/** What a repair wrote and what it could not save. */
export interface Repaired {
  readonly saved: string
  /** One line each. */
  readonly leftOut: readonly string[]
}

/**
 * Saves what can be saved of a state file and its write-ahead log into another file. The former are only read.
 * @throws StateError when there is nothing to read, nothing in it to save, or something at the other path already
 */
export async function repairState(
  path: string,
  out: string,
  fileSystem: FileSystem = nodeFileSystem,
): Promise<Repaired> {
  try {
    const file = await fileSystem.realPath(path)
    await refuseIfHeld(file)
    await refuseTaken(fileSystem, out, file)
    const leftOut: string[] = []
    const image = await salvage(fileSystem, file, (what) => leftOut.push(what))
    const saved = savedOf(image)
    if (Object.keys(image.environments).length === 0) {
      const why = leftOut.length === 0 ? '' : ` (${leftOut.slice(0, 3).join('; ')})`
      throw new StateError(`${path}: there is nothing in it that can be saved${why}; nothing was written`)
    }
    await write(out, image)
    return { saved, leftOut }
  } catch (error) {
    if (error instanceof Error && 'code' in error)
      throw new StateError(`${path}: ${error.message}; nothing was written`)
    throw error
  }
}

async function refuseTaken(fileSystem: FileSystem, out: string, file: string): Promise<void> {
  const target = resolve(out)
  const segments = await segmentsOf(fileSystem, walPath(target)).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT'))
      throw new StateError(`${out}: there is no folder ${dirname(target)}; nothing was written`)
    throw error
  })
  const there = (await fileSystem.read(target)) !== undefined || segments.length > 0 || target === file
  if (there)
    throw new StateError(
      `${out}: it is there already, or its write-ahead log is, and stays as it is; name another file`,
    )
}

async function salvage(fileSystem: FileSystem, file: string, leaveOut: LeaveOut): Promise<StateImage> {
  const bytes = await readText(fileSystem, file)
  const { state, isSound } = bytes ? await readLeniently(bytes, file, leaveOut) : { state: EMPTY, isSound: false }
  const log = (await segmentsOf(fileSystem, walPath(file))).length > 0 ? walPath(file) : formerWalPath(file)
  const raw = await readRaw(fileSystem, log)
  if (!bytes && raw.length === 0) throw new StateError(`${file}: there is no such file`)
  if (!bytes && !belongs(raw, null))
    leaveOut(`${file}: all of it but what its write-ahead log holds, because it is missing`)
  // A damaged file is not the one that its log names any more, and yet the log belongs to it.
  const isForeign = isSound && bytes && raw.length > 0 && !belongs(raw, identityOf(bytes))
  if (isForeign) leaveOut(`${log}: all of it, because it follows another state file`)
  const lines = isForeign ? [] : wholeCommits(log, raw, leaveOut)
  const whole = replayJson(state, lines)
  return salvageRows(migrated(whole) ?? whole, leaveOut)
}

/** With the line breaks that toolmock writes, in place of those of a copy: no text of JSON has one inside. */
async function readText(fileSystem: FileSystem, path: string): Promise<Buffer | undefined> {
  const bytes = await fileSystem.read(path)
  if (!bytes?.includes('\r\n')) return bytes
  return Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
}

const EMPTY: JsonObject = { version: STATE_VERSION, environments: {} }

async function readLeniently(
  bytes: Buffer,
  file: string,
  leaveOut: LeaveOut,
): Promise<{ state: JsonObject; isSound: boolean }> {
  try {
    return { state: (await parseState(bytes, file)) as unknown as JsonObject, isSound: true }
  } catch (error) {
    if (!(error instanceof StateError)) throw error
  }
  try {
    return { state: readDocument(bytes, file), isSound: false }
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    return { state: salvageText(bytes, leaveOut), isSound: false }
  }
}

type PlacedLine = RawLine & { readonly place: string }

async function readRaw(fileSystem: FileSystem, log: string): Promise<PlacedLine[]> {
  const raw: PlacedLine[] = []
  for (const segment of await segmentsOf(fileSystem, log)) {
    const place = segmentPath(log, segment)
    for (const line of rawLines((await readText(fileSystem, place)) ?? Buffer.alloc(0), segment))
      raw.push({ ...line, place: `${place}:${line.lineNumber}` })
  }
  return raw
}

/** Every line of the log that can be read, but for those of a last commit that is not whole. */
function wholeCommits(log: string, raw: readonly PlacedLine[], leaveOut: LeaveOut): WalLine[] {
  const lines: WalLine[] = []
  let expected: number | undefined
  for (const { content, place } of raw) {
    if (!content) leaveOut(`${place}: a line that cannot be read`)
    if (content?.n === undefined) {
      if (!content && expected !== undefined) expected++
      continue
    }
    if (content.n > (expected ?? content.n)) leaveOut(`${place}: what was before it, which is missing`)
    expected = content.n + 1
    if (content.environment !== undefined) lines.push(content as WalLine)
  }
  const whole = lines.findLastIndex(({ more }) => !more) + 1
  if (whole < lines.length) leaveOut(`${log}: the last commit, whose write was cut short`)
  return lines.slice(0, whole)
}

/** Whether a log says that it follows a file, or that the file holds it; lines that cannot be read may have said so. */
function belongs(raw: readonly RawLine[], identity: Identity | null): boolean {
  return raw.some(({ content, segment }) => {
    if (!content) return true
    if (content.checkpointed) return sameIdentity(content.checkpointed, identity)
    return segment === 1 && content.toolmock_wal === 1 && sameIdentity(content.follows ?? null, identity)
  })
}

async function write(out: string, image: StateImage): Promise<void> {
  const file = await open(out, 'wx', 0o600)
  try {
    for (const part of stateText(image)) await file.write(part)
    await file.sync()
  } finally {
    await file.close()
  }
  await nodeFileSystem.syncDirectory(dirname(resolve(out)))
}

function savedOf({ environments }: StateImage): string {
  const images = Object.values(environments)
  const rows = images.flatMap(({ tables }) => Object.values(tables)).reduce((sum, table) => sum + table.length, 0)
  return `${plural(images.length, 'environment')}, ${plural(rows, 'row')}`
}
