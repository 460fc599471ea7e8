import { isAscii } from 'node:buffer'
import { isJsonObject, type JsonObject } from '../domain/json.ts'
import { TABLE_NAMES } from './model.ts'

/** Bytes of rows that are parsed at a time. */
const PART_BYTES = 1024 * 1024
/** Smaller files are not worth the trouble. */
const WHOLE_BYTES = 4 * PART_BYTES

const TABLE_END = '\n        ]'
const ROW_END = '\n          },'
const MARK = 'rows cut out'

/**
 * Parses a state file in the layout of `snapshot-text.ts` without ever holding all of its text, which would double the
 * memory of a start: the rows of each table are cut out and parsed part by part. Undefined when the file is small, or
 * laid out in another way, which is no fault.
 */
export function parseInParts(bytes: Buffer): unknown {
  if (bytes.length < WHOLE_BYTES) return undefined
  try {
    const { frame, cuts } = cutTables(bytes)
    const state: unknown = JSON.parse(frame)
    return isJsonObject(state) && putBack(state, bytes, cuts) === cuts.length ? state : undefined
  } catch {
    return undefined
  }
}

interface Cut {
  start: number
  end: number
}

/** The text without the rows of its tables, which are marked by their number. */
function cutTables(bytes: Buffer): { frame: string; cuts: Cut[] } {
  const cuts: Cut[] = []
  let frame = ''
  let from = 0
  for (let table = nextTable(bytes, 0); table; table = nextTable(bytes, from)) {
    const end = bytes.indexOf(TABLE_END, table.start)
    if (end < 0) break
    frame += decode(bytes.subarray(from, table.start)) + JSON.stringify([MARK, cuts.length]).slice(1, -1)
    cuts.push({ start: table.start, end })
    from = end
  }
  return { frame: frame + decode(bytes.subarray(from)), cuts }
}

/** The first table that begins at or after `from` and has rows. */
function nextTable(bytes: Buffer, from: number): { start: number } | undefined {
  for (let at = bytes.indexOf('": [\n          {', from); at >= 0; at = bytes.indexOf('": [\n          {', at + 1)) {
    const lineStart = bytes.lastIndexOf('\n', at) + 1
    const name = /^ {8}"(?<name>\w+)$/.exec(bytes.toString('latin1', lineStart, at))?.groups?.['name']
    if (TABLE_NAMES.some((known) => known === name)) return { start: at + '": [\n'.length }
  }
  return undefined
}

/** Puts the rows where their marks are, and answers how many marks were where a table is. */
function putBack(state: JsonObject, bytes: Buffer, cuts: readonly Cut[]): number {
  let found = 0
  for (const environment of isJsonObject(state['environments']) ? Object.values(state['environments']) : []) {
    const tables = isJsonObject(environment) && isJsonObject(environment['tables']) ? environment['tables'] : {}
    for (const name of TABLE_NAMES) {
      const rows = Object.hasOwn(tables, name) ? tables[name] : undefined
      const cut = Array.isArray(rows) && rows[0] === MARK ? cuts[Number(rows[1])] : undefined
      if (!cut) continue
      tables[name] = parseRows(bytes, cut)
      found++
    }
  }
  return found
}

function parseRows(bytes: Buffer, { start, end }: Cut): JsonObject[] {
  const rows: JsonObject[] = []
  for (let from = start; from < end;) {
    const near = from + PART_BYTES < end ? bytes.indexOf(ROW_END, from + PART_BYTES) : -1
    const to = near < 0 || near > end ? end : near + ROW_END.length - 1
    for (const row of JSON.parse(`[${decode(bytes.subarray(from, to))}]`) as JsonObject[]) rows.push(row)
    from = to + 1
  }
  return rows
}

/** Decoding ASCII is several times faster than decoding UTF-8, and most of a state file is ASCII. */
export function decode(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8')
}
