import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts'
import type { WalLine } from './write-ahead-log.ts'
import { SECTION_NAMES, TABLE_NAMES } from '../model/model.ts'
import type { Row } from '../model/table.ts'

const NO_ROWS: JsonObject = Object.fromEntries(TABLE_NAMES.map((name) => [name, []]))

const NO_SECTIONS: JsonObject = Object.fromEntries(SECTION_NAMES.map((name) => [name, []]))

type Rows = Map<JsonValue | undefined, JsonValue>

/**
 * Applies lines of the log to a state as it is in its file, of any version, damaged or not: the lines are
 * whole rows and whole records.
 */
export function replayJson(state: JsonObject, lines: readonly WalLine[]): JsonObject {
  const environments = new Map(Object.entries(isJsonObject(state['environments']) ? state['environments'] : {}))
  const tables = new Map<string, Map<string, Rows>>()
  for (const line of lines) applyLine(line, environments, tables)
  const whole = [...environments].map(([name, environment]): [string, JsonValue] => {
    return [name, isJsonObject(environment) ? withRows(environment, tables.get(name)) : environment]
  })
  return { ...state, environments: Object.fromEntries(whole) }
}

/** The environment with the rows that the log has changed in place of those of the file. */
function withRows(environment: JsonObject, changed: Map<string, Rows> = new Map()): JsonObject {
  const [tables, sections]: [JsonObject, JsonObject] = [{ ...objectAt(environment, 'tables') }, {}]
  for (const [name, rows] of changed) {
    if (SECTION_NAMES.some((known) => known === name)) sections[name] = [...rows.values()]
    else tables[name] = [...rows.values()]
  }
  return { ...environment, tables, ...sections }
}

function snapshotOf(row: Row, environment: JsonObject, changed: Map<string, Rows> | undefined): JsonObject {
  const { settings = null, clock = null, ids = null, tables = null } = withRows(environment, changed)
  return { ...(row as object), settings, clock, ids, tables }
}

function applyLine(
  { environment: name = '', record, ids, changes = [] }: WalLine,
  environments: Map<string, JsonValue>,
  tables: Map<string, Map<string, Rows>>,
): void {
  if (record === null) {
    environments.delete(name)
    tables.delete(name)
    return
  }
  const before = environments.get(name)
  const present = {
    ...(isJsonObject(before) ? before : { tables: NO_ROWS, ...NO_SECTIONS }),
    ...(record as JsonObject | undefined),
  }
  const seeded = objectAt(present, 'ids')
  if (ids !== undefined && 'seed' in seeded) present['ids'] = { ...seeded, position: ids }
  environments.set(name, present)
  for (const change of changes) {
    const table = rowsOf('put' in change ? change.put : change.remove, present, entryOf(tables, name))
    if ('put' in change && change.put === 'snapshots')
      table.set(change.row.id, snapshotOf(change.row, present, tables.get(name)))
    else if ('put' in change) table.set(change.row.id, change.row as unknown as JsonObject)
    else table.delete(change.id)
  }
}

/** The rows of a table by id, in their order. */
function rowsOf(table: string, environment: JsonObject, known: Map<string, Rows>): Rows {
  const present = known.get(table)
  if (present) return present
  const stored = SECTION_NAMES.some((known) => known === table)
    ? environment[table]
    : objectAt(environment, 'tables')[table]
  const rows: Rows = new Map()
  for (const [at, row] of (Array.isArray(stored) ? stored : []).entries()) {
    // Something that is no row keeps its place, so that the check afterwards can name it.
    const id = isJsonObject(row) ? row['id'] : undefined
    rows.set(id === undefined || rows.has(id) ? `\u0000${at}` : id, row)
  }
  known.set(table, rows)
  return rows
}

function entryOf<Value>(map: Map<string, Map<string, Value>>, name: string): Map<string, Value> {
  const known = map.get(name) ?? new Map<string, Value>()
  map.set(name, known)
  return known
}

function objectAt(object: JsonObject, key: string): JsonObject {
  const value = Object.hasOwn(object, key) ? object[key] : undefined
  return isJsonObject(value) ? value : {}
}
