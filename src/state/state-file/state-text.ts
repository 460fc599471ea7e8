import { isAscii } from 'node:buffer'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts'
import type { SeedBundle } from '../../domain/seed.ts'
import { DEFAULT_SETTINGS } from '../../domain/settings.ts'
import { inColumnOrder, TABLE_NAMES } from '../model/model.ts'
import {
  type EnvironmentImage,
  type EnvironmentRecord,
  STATE_VERSION,
  type StateImage,
  type StoredImage,
} from '../model/state-image.ts'

/*
 * The text of the state file: JSON, indented by two spaces, with every row of a table on a line of its own. A diff so
 * shows an account as one line, the file is written and read in small parts, and a repair can read each line by itself.
 */

/** A value as text, in parts that each take little time to make. `margin` is the indentation of its first line. */
type Part = (margin: string) => Iterable<string>

const ROWS_PER_PART = 128

/** The text of a state file, part by part, so that a server answers requests between two parts. */
export function* stateText(state: StateImage): Generator<string> {
  const environments = Object.entries(state.environments).map(
    ([name, environment]) => [name, environmentPart(environment)] as const,
  )
  yield* object([
    ['version', line(STATE_VERSION)],
    ['state_id', line(state.state_id)],
    ['generation', line(state.generation)],
    ...(state.request_ids ? [['request_ids', line(state.request_ids)] as const] : []),
    ['environments', object(environments)],
  ])('')
  yield '\n'
}

function environmentPart(environment: StoredImage): Part {
  const { origins, scenario_definitions, scenario_runs, snapshots } = environment
  return object([
    ...imageParts(environment),
    [
      'origins',
      list(
        origins.map(({ id, seed, exact, of_server, clock, kept, scenarios, test }) =>
          object([
            ['id', line(id)],
            ['seed', seedPart(seed)],
            ['exact', seedPart(exact)],
            ['of_server', line(of_server)],
            ['clock', line(clock)],
            ['kept', line(kept)],
            ...(scenarios ? [['scenarios', line(scenarios)] as const] : []),
            ...(test ? [['test', line(test)] as const] : []),
          ]),
        ),
      ),
    ],
    ['scenario_definitions', rows(scenario_definitions)],
    ['scenario_runs', rows(scenario_runs)],
    [
      'snapshots',
      list(
        snapshots.map((snapshot) =>
          object([['id', line(snapshot.id)], ['taken_at', line(snapshot.taken_at)], ...imageParts(snapshot)]),
        ),
      ),
    ],
  ])
}

function imageParts({ settings, clock, ids, tables }: EnvironmentRecord & Pick<EnvironmentImage, 'tables'>) {
  return [
    ['settings', line({ ...DEFAULT_SETTINGS, ...settings })],
    ['clock', line(clock)],
    ['ids', line(ids)],
    [
      'tables',
      object(TABLE_NAMES.map((name) => [name, rows(tables[name], (row) => inColumnOrder(name, row))] as const)),
    ],
  ] as const
}

/** A seed may have as many accounts as the tables. */
function seedPart(seed: SeedBundle): Part {
  return object(Object.entries(seed).map(([name, value]) => [name, Array.isArray(value) ? rows(value) : line(value)]))
}

function line(value: unknown): Part {
  return () => [JSON.stringify(value)]
}

function object(members: readonly (readonly [name: string, value: Part])[]): Part {
  return items(
    '{}',
    members.map(([name, value]) => [`${JSON.stringify(name)}: `, value]),
  )
}

function list(values: readonly Part[]): Part {
  return items(
    '[]',
    values.map((value) => ['', value]),
  )
}

function items(brackets: string, values: readonly (readonly [before: string, value: Part])[]): Part {
  return function* (margin) {
    yield brackets.slice(0, 1)
    const inside = `${margin}  `
    for (const [at, [before, value]] of values.entries()) {
      yield `${at > 0 ? ',' : ''}\n${inside}${before}`
      yield* value(inside)
    }
    yield values.length > 0 ? `\n${margin}${brackets.slice(1)}` : brackets.slice(1)
  }
}

function rows(all: readonly object[], ordered: (row: object) => object = (row) => row): Part {
  return function* (margin) {
    yield '['
    for (let at = 0; at < all.length; at += ROWS_PER_PART) {
      const texts = all.slice(at, at + ROWS_PER_PART).map((row) => `\n${margin}  ${JSON.stringify(ordered(row))}`)
      yield (at > 0 ? ',' : '') + texts.join(',')
    }
    yield all.length > 0 ? `\n${margin}]` : ']'
  }
}

/**
 * Reads a text in which rows are on lines of their own, with any indentation. Rows are parsed one by one: that
 * takes less time than parsing the whole text, and much less memory. Undefined when the text is not like that, or no
 * JSON; it then has to be parsed as a whole.
 */
export function parseByLine(bytes: Buffer): JsonObject | undefined {
  try {
    const split = splitRows(bytes)
    if (!split) return undefined
    const { frame, runs } = split
    let used = 0
    const state = JSON.parse(frame, (_, value: JsonValue) => {
      if (!Array.isArray(value) || value.length !== 1 || typeof value[0] !== 'number') return value
      used++
      return runs[value[0]] ?? value
    }) as JsonValue
    return isJsonObject(state) && used === runs.length ? state : undefined
  } catch {
    return undefined
  }
}

/** The text without its rows. In the place of each run of rows is the number under which `runs` has it. */
function splitRows(bytes: Buffer): { frame: string; runs: JsonValue[][] } | undefined {
  let frame = ''
  const runs: JsonValue[][] = []
  let run: JsonValue[] | undefined
  let isMore = false
  for (const text of linesOf(bytes)) {
    const row = text.trim()
    const isRow = row.startsWith('{"')
    // There is a comma between two rows, and nowhere else.
    if (run && isRow !== isMore) return undefined
    if (!isRow) {
      run = undefined
      frame += `${text}\n`
      continue
    }
    if (!run) frame += String(runs.push((run = [])) - 1)
    isMore = row.endsWith(',')
    run.push(JSON.parse(isMore ? row.slice(0, -1) : row) as JsonValue)
  }
  return { frame, runs }
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
