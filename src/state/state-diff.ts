import { isJsonObject } from '../domain/json.ts'
import { type TableName, TABLE_NAMES } from './model/model.ts'
import type { EnvironmentImage } from './model/state-image.ts'
import type { Row } from './model/table.ts'

/** One row that is there in one of two images only. */
export interface EntityName {
  table: TableName
  id: string
}

/** One field that differs; a side without it has no such key. `credentials.oauth_token.access_token` names the place. */
export interface FieldChange {
  field: string
  before?: unknown
  after?: unknown
}

/** What became of an environment between two images. Tables are in the order of the state file, rows in that of their table. */
export interface StateDiff {
  added: EntityName[]
  removed: EntityName[]
  changed: (EntityName & { fields: FieldChange[] })[]
  settings: FieldChange[]
}

export function diffStates(before: EnvironmentImage, after: EnvironmentImage): StateDiff {
  const diff: StateDiff = {
    added: [],
    removed: [],
    changed: [],
    settings: changesBetween(before.settings, after.settings),
  }
  // Counters are the model's own book-keeping, and no entities.
  const entities = TABLE_NAMES.filter((table) => table !== 'counters')
  for (const table of entities) diffTable(diff, table, before.tables[table], after.tables[table])
  return diff
}

function diffTable(diff: StateDiff, table: TableName, before: readonly Row[], after: readonly Row[]): void {
  const former = new Map(before.map((row) => [row.id, row]))
  const present = new Set(after.map((row) => row.id))
  for (const { id } of before) if (!present.has(id)) diff.removed.push({ table, id })
  for (const row of after) {
    const old = former.get(row.id)
    if (!old) diff.added.push({ table, id: row.id })
    // Rows are immutable: one that is the same object has not changed.
    else if (old !== row) {
      const fields = changesBetween(old, row)
      if (fields.length > 0) diff.changed.push({ table, id: row.id, fields })
    }
  }
}

/** The fields that differ, in the order of their names; objects are compared field by field, lists as a whole. */
function changesBetween(before: object, after: object, prefix = ''): FieldChange[] {
  const [old, fresh] = [new Map(Object.entries(before)), new Map(Object.entries(after))] as [Fields, Fields]
  const names = [...new Set([...old.keys(), ...fresh.keys()])].sort()
  return names.flatMap((name): FieldChange[] => {
    const [from, to] = [old.get(name), fresh.get(name)]
    if (isJsonObject(from) && isJsonObject(to)) return changesBetween(from, to, `${prefix}${name}.`)
    if (JSON.stringify(from) === JSON.stringify(to)) return []
    return [
      {
        field: `${prefix}${name}`,
        ...(from !== undefined && { before: from }),
        ...(to !== undefined && { after: to }),
      },
    ]
  })
}

type Fields = Map<string, unknown>
