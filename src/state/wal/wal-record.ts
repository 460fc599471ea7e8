import { crc32 } from 'node:zlib'
import { type JsonObject, isJsonObject } from '../../domain/json.ts'
import type { EnvironmentRecord } from '../model/state-image.ts'
import type { Snapshot } from '../model/model.ts'
import type { Change, Row } from '../model/table.ts'

/** Tells one content of the state file from another, so that a journal is never applied to a file it does not follow. */
export interface Identity {
  size: number
  crc: string
}

/** The first line of a journal file. */
export interface JournalHeader {
  toolmock_journal: 1
  /** Journal files are numbered in their order. */
  segment: number
  /** The state file that was there when this journal began; null when there was none. */
  follows: Identity | null
}

/** What a commit does to one environment. */
export interface Entry {
  environment: string
  /** The environment as it is from now on; null when it was removed. */
  record?: EnvironmentRecord | null
  /** Where its seeded ids stand. */
  ids?: number
  changes?: readonly Change[]
}

/** One line of a journal. */
export interface JournalLine {
  /** Running number. */
  n: number
  /** Every line up to this number was on disk before this one was written. */
  synced: number
  environment?: string
  record?: EnvironmentRecord | null
  ids?: number
  changes?: JournalChange[]
  /** The commit goes on in the next line. */
  more?: true
  /** A state file with this identity holds everything up to line `upto`. */
  checkpointed?: Identity & { upto: number }
}

export type JournalChange = { put: string; row: Row } | { remove: string; id: string }

/** A commit of more changes than this becomes several lines, so that no single one holds up the event loop. */
const CHANGES_PER_LINE = 250

export function identityOf(bytes: Uint8Array): Identity {
  return { size: bytes.length, crc: hex(crc32(bytes)) }
}

/** A line of JSON with its checksum in front: `{"crc":"…","line":…}`. */
export function encodeLine(line: JournalLine | JournalHeader): string {
  const json = JSON.stringify(line)
  return `{"crc":"${hex(crc32(json))}","line":${json}}\n`
}

const FRAME = /^\{"crc":"(?<crc>[0-9a-f]{8})","line":$/
const BEFORE_LINE = '{"crc":"00000000","line":'.length

/** The line without its line break; undefined when it is not what was written. */
export function decodeLine(bytes: Buffer): JsonObject | undefined {
  const frame = FRAME.exec(bytes.toString('latin1', 0, BEFORE_LINE))?.groups
  const json = bytes.subarray(BEFORE_LINE, -1)
  if (frame?.['crc'] !== hex(crc32(json)) || bytes.at(-1) !== 0x7d) return undefined
  try {
    const line: unknown = JSON.parse(json.toString('utf8'))
    return isJsonObject(line) ? line : undefined
  } catch {
    return undefined
  }
}

/** The lines of a commit, numbered from `n`: nearly always one. */
export function linesOf(entry: Entry, n: number, synced: number): Iterable<JournalLine> {
  const { changes = [], ...rest } = entry
  if (changes.length > CHANGES_PER_LINE) return manyLines(entry, n, synced)
  const line: JournalLine = { n, synced, ...rest }
  if (changes.length > 0) line.changes = changes.map(journalChange)
  return [line]
}

function* manyLines({ changes = [], ...rest }: Entry, n: number, synced: number): Generator<JournalLine> {
  let number = n
  for (let at = 0; at < changes.length; at += CHANGES_PER_LINE) {
    const part = changes.slice(at, at + CHANGES_PER_LINE).map(journalChange)
    yield {
      n: number++,
      synced,
      ...(at === 0 ? rest : { environment: rest.environment }),
      changes: part,
      ...(at + CHANGES_PER_LINE < changes.length ? { more: true } : {}),
    }
  }
}

function journalChange({ table, id, after }: Change): JournalChange {
  if (!after) return { remove: table, id }
  return { put: table, row: table === 'snapshots' ? withoutImage(after as Snapshot) : after }
}

/** Replay takes a snapshot again where one was taken, so that a snapshot of 100,000 accounts is a short line. */
function withoutImage({ id, taken_at }: Snapshot): Row {
  const row: Pick<Snapshot, 'id' | 'taken_at'> = { id, taken_at }
  return row
}

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0')
}
