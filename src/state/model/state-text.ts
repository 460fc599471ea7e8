import { isAscii, isUtf8 } from 'node:buffer'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts'
import { DEFAULT_SETTINGS } from '../../domain/settings.ts'
import { inColumnOrder, type Origin, type Snapshot, type TableName } from './model.ts'
import { type EnvironmentImage, STATE_VERSION, type StateImage } from './state-image.ts'
import { ROWS_AT_ONCE, type Steps } from './slices.ts'

/*
 * The text of the state file: JSON, indented by two spaces, with every row of a table on a line of its own. A diff so
 * shows an account as one line, the file is written and read in small parts, and a repair can read each line by itself.
 */

/** The text of a value, in parts that each take little time to make. `margin` is the indentation of its first line. */
type Part<T = unknown> = (value: T, margin: string, name: string) => Iterable<string>

const line: Part = (value) => [JSON.stringify(value)]

function rowsOf(order: (row: object, name: string) => object): Part<readonly object[]> {
  return function* (all, margin, name) {
    yield '['
    for (let at = 0; at < all.length; at += ROWS_AT_ONCE) {
      const texts = all.slice(at, at + ROWS_AT_ONCE).map((row) => `\n${margin}  ${JSON.stringify(order(row, name))}`)
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
      if (member === undefined) continue
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
const origin = members({ seed, exact: seed })
const STATE = members({
  environments: members(
    {},
    members({
      ...IMAGE,
      origins: members({}, origin),
      scenario_definitions: rows,
      scenario_runs: rows,
      // Replay puts the name behind the rest.
      snapshots: members({}, (row, ...place) => image({ ...NAMED, ...(row as Snapshot) }, ...place)),
    }),
  ),
}) as Part<StateImage & { version: number }>

export function originText(row: Origin): Iterable<string> {
  return origin(row, '', '')
}

/** The text of the state of one environment, part by part. */
export function* imageText(state: EnvironmentImage): Generator<string> {
  yield* image(state, '', '')
  yield '\n'
}

/** The text of a state file, part by part, so that a server answers requests between two parts. */
export function* stateText({ state_id, generation, request_ids, environments }: StateImage): Generator<string> {
  const ids = request_ids ? { request_ids } : {}
  yield* STATE({ version: STATE_VERSION, state_id, generation, ...ids, environments }, '', '')
  yield '\n'
}

/**
 * Parses JSON with the objects of its outermost lists one by one: that takes much less memory than parsing the whole text, and
 * gives way after some of them. Undefined when the text has lists of another kind there, nests deeper than so many levels, or is
 * no JSON; it then has to be parsed as a whole.
 */
export function* parseRowByRow(bytes: Buffer, levels = Infinity): Steps<JsonObject | undefined> {
  try {
    return withRows(yield* splitLists(bytes, levels))
  } catch {
    return undefined
  }
}

/** A text without its rows. In the place of each run of rows is the number under which `runs` has it. */
interface SplitText {
  frame: string
  runs: JsonValue[][]
}

function withRows({ frame, runs }: SplitText): JsonObject | undefined {
  let used = 0
  const state = JSON.parse(frame, (_, value: JsonValue) => {
    if (!Array.isArray(value) || value.length !== 1 || typeof value[0] !== 'number') return value
    used++
    return runs[value[0]] ?? value
  }) as JsonValue
  return isJsonObject(state) && used === runs.length ? state : undefined
}

const [QUOTE, BACKSLASH, BRACKET, BRACE] = [0x22, 0x5c, 0x5b, 0x7b]

function* splitLists(bytes: Buffer, levels: number): Steps<SplitText> {
  let [frame, start, count] = ['', 0, 0]
  const text = (from: number, end?: number): string => {
    const part = bytes.subarray(from, end)
    if (!isUtf8(part)) throw new TypeError('not UTF-8')
    return decode(part)
  }
  const runs: JsonValue[][] = []
  /** What is open: whether it is a list. Inside a row only how much is open. */
  const open: boolean[] = []
  let [row, inRow] = [0, 0]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (byte === BRACE || byte === BRACKET) {
      if (inRow > 0) inRow++
      else if (byte === BRACKET || !open.at(-1)) open.push(byte === BRACKET)
      else [row, inRow] = [at, 1]
      if (open.length + inRow > levels) throw new RangeError('too deep')
    } else if (byte !== BRACE + 2 && byte !== BRACKET + 2) continue
    else if (inRow === 0) open.pop()
    else if (--inRow === 0) {
      const between = text(start, row)
      if (!/^[ \t\n\r]*,[ \t\n\r]*$/.test(between)) frame += `${between}${runs.push([]) - 1}`
      start = at + 1
      runs.at(-1)?.push(JSON.parse(text(row, start)) as JsonValue)
      if (++count % ROWS_AT_ONCE === 0) yield
    }
  }
  return { frame: frame + text(start), runs }
}

/** Where a string ends that begins at a quote. */
function endOfString(bytes: Buffer, begin: number): number {
  let at = begin + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

/** Decoding ASCII is several times faster than decoding UTF-8, and most of a state file is ASCII. */
export function decode(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8')
}
