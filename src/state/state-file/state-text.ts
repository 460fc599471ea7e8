import { isAscii } from 'node:buffer'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts'
import { DEFAULT_SETTINGS } from '../../domain/settings.ts'
import { inColumnOrder, type Snapshot, type TableName } from '../model/model.ts'
import { STATE_VERSION, type StateImage } from '../model/state-image.ts'

/*
 * The text of the state file: JSON, indented by two spaces, with every row of a table on a line of its own. A diff so
 * shows an account as one line, the file is written and read in small parts, and a repair can read each line by itself.
 */

/** The text of a value, in parts that each take little time to make. `margin` is the indentation of its first line. */
type Part<T = unknown> = (value: T, margin: string, name: string) => Iterable<string>

const ROWS_PER_PART = 128

const line: Part = (value) => [JSON.stringify(value)]

function rowsOf(order: (row: object, name: string) => object): Part<readonly object[]> {
  return function* (all, margin, name) {
    yield '['
    for (let at = 0; at < all.length; at += ROWS_PER_PART) {
      const texts = all.slice(at, at + ROWS_PER_PART).map((row) => `\n${margin}  ${JSON.stringify(order(row, name))}`)
      yield (at > 0 ? ',' : '') + texts.join(',')
    }
    yield all.length > 0 ? `\n${margin}]` : ']'
  }
}

const rows = rowsOf((row) => row) as Part

/** An object or a list with each member on a line of its own, or more: by its name where `parts` has it. */
function members(parts: Readonly<Record<string, Part>>, other: Part = line): Part {
  return function* (value, margin) {
    const [start, end] = Array.isArray(value) ? '[]' : '{}'
    const inside = `${margin}  `
    let count = 0
    for (const [name, member] of Object.entries(value as object) as [string, unknown][]) {
      yield `${count++ > 0 ? ',' : start}\n${inside}${start === '{' ? `${JSON.stringify(name)}: ` : ''}`
      yield* (Object.hasOwn(parts, name) ? (parts[name] ?? other) : other)(member, inside, name)
    }
    yield count > 0 ? `\n${margin}${end}` : `${start}${end}`
  }
}

const IMAGE: Readonly<Record<string, Part>> = {
  settings: (settings) => line({ ...DEFAULT_SETTINGS, ...(settings as object) }, '', ''),
  tables: members({}, rowsOf((row, name) => inColumnOrder(name as TableName, row)) as Part),
}
const image = members(IMAGE)
const NAMED = { id: '', taken_at: '' }
/** A seed may have as many accounts as the tables. */
const seed = members({}, (value, margin, name) => (Array.isArray(value) ? rows : line)(value, margin, name))
const STATE = members({
  environments: members(
    {},
    members({
      ...IMAGE,
      origins: members({}, members({ seed, exact: seed })),
      scenario_definitions: rows,
      scenario_runs: rows,
      // Replay puts the name behind the rest.
      snapshots: members({}, (row, ...place) => image({ ...NAMED, ...(row as Snapshot) }, ...place)),
    }),
  ),
}) as Part<StateImage & { version: number }>

/** The text of a state file, part by part, so that a server answers requests between two parts. */
export function* stateText({ state_id, generation, request_ids, environments }: StateImage): Generator<string> {
  const ids = request_ids ? { request_ids } : {}
  yield* STATE({ version: STATE_VERSION, state_id, generation, ...ids, environments }, '', '')
  yield '\n'
}

/**
 * Reads a text that is too long for a string of Node.js, with rows on lines of their own, which are parsed one by one.
 * Undefined when it is not like that, or no JSON.
 */
export function parseByLine(bytes: Buffer): JsonObject | undefined {
  const rows: JsonValue[] = []
  // The text with the number of a row in the place of each row, behind a sign that other texts do not have.
  let frame = ''
  let used = 0
  try {
    for (const text of linesOf(bytes)) {
      const row = text.trim()
      if (!row.startsWith('{"')) {
        frame += `${text}\n`
        continue
      }
      const comma = row.endsWith(',') ? ',' : ''
      frame += `"\\u0000${rows.push(JSON.parse(comma ? row.slice(0, -1) : row) as JsonValue) - 1}"${comma}`
    }
    const state = JSON.parse(frame, (_, value: JsonValue) => {
      if (typeof value !== 'string' || !value.startsWith('\0')) return value
      used++
      return rows[Number(value.slice(1))] ?? value
    }) as JsonValue
    return isJsonObject(state) && used === rows.length ? state : undefined
  } catch {
    return undefined
  }
}

/** Decoding so much at once takes much less time than decoding each line. */
const DECODED_BYTES = 64 * 1024

export function* linesOf(bytes: Buffer): Generator<string> {
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(0x0a, start + DECODED_BYTES)
    const end = newline < 0 ? bytes.length : newline
    for (const line of decode(bytes.subarray(start, end)).split('\n')) yield line
    start = end + 1
  }
}

/** Decoding ASCII is several times faster than decoding UTF-8, and most of a state file is ASCII. */
export function decode(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8')
}
