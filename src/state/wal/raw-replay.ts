import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts'
import type { JournalLine } from './wal-record.ts'
import { TABLE_NAMES } from '../model/model.ts'

const NO_ROWS: JsonObject = Object.fromEntries(TABLE_NAMES.map((name) => [name, []]))

type Rows = Map<JsonValue | undefined, JsonValue>

/**
 * Applies journal lines to a state as it is in its file, of whatever version and whether sound or not: what they say is
 * whole rows and whole records.
 */
export function replayRaw(state: JsonObject, lines: readonly JournalLine[]): JsonObject {
  const environments = new Map(Object.entries(isJsonObject(state['environments']) ? state['environments'] : {}))
  const tables = new Map<string, Map<string, Rows>>()
  for (const line of lines) applyLine(line, environments, tables)
  const whole = [...environments].map(([name, environment]): [string, JsonValue] => {
    const changed = [...(tables.get(name) ?? [])].map(([table, rows]): [string, JsonValue] => [
      table,
      [...rows.values()],
    ])
    if (!isJsonObject(environment)) return [name, environment]
    return [name, { ...environment, tables: { ...objectAt(environment, 'tables'), ...Object.fromEntries(changed) } }]
  })
  return { ...state, environments: Object.fromEntries(whole) }
}

function applyLine(
  { environment: name = '', record, ids, changes = [] }: JournalLine,
  environments: Map<string, JsonValue>,
  tables: Map<string, Map<string, Rows>>,
): void {
  if (record === null) {
    environments.delete(name)
    tables.delete(name)
    return
  }
  const before = environments.get(name)
  const present = { ...(isJsonObject(before) ? before : { tables: NO_ROWS }), ...(record as JsonObject | undefined) }
  const seeded = objectAt(present, 'ids')
  if (ids !== undefined && 'seed' in seeded) present['ids'] = { ...seeded, position: ids }
  environments.set(name, present)
  for (const change of changes) {
    const table = rowsOf('put' in change ? change.put : change.remove, present, entryOf(tables, name))
    if ('put' in change) table.set(change.row.id, change.row as unknown as JsonObject)
    else table.delete(change.id)
  }
}

/** The rows of a table by id, in their order. */
function rowsOf(table: string, environment: JsonObject, known: Map<string, Rows>): Rows {
  const present = known.get(table)
  if (present) return present
  const stored = objectAt(environment, 'tables')[table]
  const rows: Rows = new Map()
  for (const [at, row] of (Array.isArray(stored) ? stored : []).entries()) {
    // A row that is none keeps its place, for whoever has to say so.
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
