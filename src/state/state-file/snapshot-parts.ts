import { isAscii } from 'node:buffer'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts'
import { AccountTexts } from './account-texts.ts'
import { TABLE_NAMES, type TableName } from '../model/model.ts'
import { RowReader, type RowsRead } from './row-reader.ts'
import { rowShape } from './row-shapes.ts'

/** Bytes of rows that are parsed at a time. */
const PART_BYTES = 1024 * 1024
/** Smaller files are not worth the trouble. */
const WHOLE_BYTES = 4 * PART_BYTES

const TABLE_END = '\n        ]'
const ROW_END = '\n          },'
const MARK = 'rows cut out'

/** A state, and which lists of rows in it are known to have the shape of their table. */
export interface ReadState {
  state: JsonObject
  sound: ReadonlySet<JsonValue>
}

/**
 * Reads a state file in the layout of `snapshot-text.ts` without ever holding all of its text, which would double the
 * memory of a start: the rows of each table are cut out and read by themselves. Undefined when the file is small, laid
 * out in another way, which is no fault, or damaged.
 */
export function readInParts(bytes: Buffer): ReadState | undefined {
  if (bytes.length < WHOLE_BYTES) return undefined
  try {
    const { frame, cuts } = cutTables(bytes)
    const state: unknown = JSON.parse(frame)
    if (!isJsonObject(state) || putBack(state, cuts) !== cuts.length) return undefined
    return { state, sound: new Set(cuts.flatMap(({ rows, isSound }) => (isSound ? [rows] : []))) }
  } catch {
    return undefined
  }
}

interface Cut extends RowsRead {
  table: TableName
}

/** The text without the rows of its tables, which are marked by their number. */
function cutTables(bytes: Buffer): { frame: string; cuts: Cut[] } {
  const cuts: Cut[] = []
  let frame = ''
  let from = 0
  let accounts: readonly JsonObject[] = []
  for (let found = nextTable(bytes, 0); found; found = nextTable(bytes, from)) {
    const { table, start } = found
    const kin = table === 'grants' ? new AccountTexts(accounts) : undefined
    const read = new RowReader(bytes, rowShape(table), kin).read(start) ?? parseRows(bytes, start)
    frame += decode(bytes.subarray(from, start)) + JSON.stringify([MARK, cuts.length]).slice(1, -1)
    cuts.push({ table, ...read })
    if (table === 'accounts') accounts = read.rows
    from = read.end
  }
  return { frame: frame + decode(bytes.subarray(from)), cuts }
}

/** The first table that begins at or after `from` and has rows. */
function nextTable(bytes: Buffer, from: number): { table: TableName; start: number } | undefined {
  for (let at = bytes.indexOf('": [\n          {', from); at >= 0; at = bytes.indexOf('": [\n          {', at + 1)) {
    const lineStart = bytes.lastIndexOf('\n', at) + 1
    const name = /^ {8}"(?<name>\w+)$/.exec(bytes.toString('latin1', lineStart, at))?.groups?.['name']
    const table = TABLE_NAMES.find((known) => known === name)
    if (table) return { table, start: at + '": [\n'.length }
  }
  return undefined
}

/** Puts the rows where their marks are, and answers how many marks were where that table is. */
function putBack(state: JsonObject, cuts: readonly Cut[]): number {
  let found = 0
  for (const environment of isJsonObject(state['environments']) ? Object.values(state['environments']) : []) {
    const tables = isJsonObject(environment) && isJsonObject(environment['tables']) ? environment['tables'] : {}
    for (const name of TABLE_NAMES) {
      const rows = Object.hasOwn(tables, name) ? tables[name] : undefined
      const cut = Array.isArray(rows) && rows[0] === MARK ? cuts[Number(rows[1])] : undefined
      if (cut?.table !== name) continue
      tables[name] = cut.rows
      found++
    }
  }
  return found
}

/** Rows that have little in common, a part of them at a time. */
function parseRows(bytes: Buffer, start: number): RowsRead {
  const rows: JsonObject[] = []
  const end = bytes.indexOf(TABLE_END, start)
  for (let from = start; from < end;) {
    const near = from + PART_BYTES < end ? bytes.indexOf(ROW_END, from + PART_BYTES) : -1
    const to = near < 0 || near > end ? end : near + ROW_END.length - 1
    for (const row of JSON.parse(`[${decode(bytes.subarray(from, to))}]`) as JsonObject[]) rows.push(row)
    from = to + 1
  }
  return { rows, end, isSound: false }
}

/** Decoding ASCII is several times faster than decoding UTF-8, and most of a state file is ASCII. */
export function decode(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8')
}
