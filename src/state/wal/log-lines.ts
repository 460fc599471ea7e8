import { basename, dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { jsonText, type JsonValue, parsedJson } from '../../model/domain/json.ts'
import type { Snapshot, TableName } from '../model/model.ts'
import type { EnvironmentBasics } from '../model/state-image.ts'
import type { Change, Row } from '../model/table.ts'
import type { FileSystem } from './file-system.ts'

/* `state.json.wal.7` follows the state file of generation 7. A line is a batch: a crash leaves all of it or nothing. */

/** The first line of a log. */
export interface LogHeader {
  /** The state that it belongs to, as in the state file. */
  state_id: string
  generation: number
}

/** What a commit does to one environment. */
export interface EnvironmentChange {
  environment: string
  /** The environment as it was made; null when it was removed. */
  record?: EnvironmentBasics | null | undefined
  /** Up to where its seeded ids are reserved. */
  ids?: number
  changes?: readonly Change[]
}

/** The position up to which the ids of requests are reserved, by their use. */
export interface RequestIdsChange {
  request_ids: Readonly<Record<string, number>>
}

export type CommitEntry = EnvironmentChange | RequestIdsChange

export type WalChange = { put: string; row: Row } | { remove: string; id: string }

/** A commit as a log holds it. */
export type LoggedCommit =
  | (Omit<EnvironmentChange, 'changes'> & {
      /** In the log of an earlier build: the tables that lose all their rows before the changes. */
      emptied?: readonly TableName[]
      changes?: WalChange[]
    })
  | RequestIdsChange

export function headerLine(header: LogHeader): string {
  return framedLine(jsonText(header))
}

export function batchLine(entries: readonly CommitEntry[]): string {
  const logged = entries.map((entry) =>
    'changes' in entry ? { ...entry, changes: entry.changes.map(walChange) } : entry,
  )
  return framedLine(jsonText(logged))
}

function walChange({ table, id, after }: Change): WalChange {
  if (!after) return { remove: table, id }
  if (table !== 'snapshots') return { put: table, row: after }
  // Replay takes a snapshot again where one was taken, so that a snapshot of many accounts is a short line.
  const { taken_at, ids } = after as Snapshot
  const row: Pick<Snapshot, 'id' | 'taken_at' | 'ids'> = { id, taken_at, ids }
  return { put: table, row }
}

const FRAME = /^\{"crc":"(?<crc>[0-9a-f]{8})","line":$/
const FRAME_START = '{"crc":"'

/** A line of JSON has its checksum in front: `{"crc":"…","line":…}`. */
function framedLine(json: string): string {
  return `${FRAME_START}${hex(crc32(json))}","line":${json}}\n`
}

const FRAME_LENGTH = framedLine('').length - 2

/** What a line without its line break says; undefined when it is not what was written. */
export function decodeLine(bytes: Buffer): JsonValue | undefined {
  const { crc } = FRAME.exec(bytes.toString('latin1', 0, FRAME_LENGTH))?.groups ?? {}
  const json = bytes.subarray(FRAME_LENGTH, -1)
  if (crc !== hex(crc32(json)) || bytes.at(-1) !== 0x7d) return undefined
  return parsedJson(json.toString('utf8'))
}

/** Whether these bytes can be what a crash left of the first line: a part of it, and zeros where the disk did not get to it. */
export function isBegunLine(bytes: Buffer): boolean {
  const text = bytes.toString('latin1').replace(/\0+$/, '')
  return text.startsWith(FRAME_START) || FRAME_START.startsWith(text)
}

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0')
}

export function logPath(stateFile: string, generation: number): string {
  return `${stateFile}.wal.${generation}`
}

/** The generations of the logs beside a state file, ascending. */
export async function logGenerations(fileSystem: FileSystem, stateFile: string): Promise<number[]> {
  const prefix = `${basename(stateFile)}.wal.`
  const names = await fileSystem.list(dirname(stateFile))
  return names
    .filter((name) => name.startsWith(prefix) && /^(?:0|[1-9]\d{0,14})$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b)
}
