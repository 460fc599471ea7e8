import { isJsonObject } from '../domain/json.ts'
import { inColumnOrder, type TableName, TABLE_NAMES } from './model/model.ts'
import type { EnvironmentImage } from './model/state-image.ts'
import type { Row } from './model/table.ts'

/** A row by its name. */
export interface EntityName {
  table: TableName
  id: string
}

/** A row that is there in one of two images only, as it is there. */
export interface EntityRow extends EntityName {
  row: Record<string, unknown>
}

/** One field that differs; a side without it has no such key. `credentials.oauth_token.access_token` names the place. */
export interface FieldChange {
  field: string
  before?: unknown
  after?: unknown
}

/**
 * The differences between two images of an environment. Tables are in the order of the state file, rows in that of their
 * table.
 */
export interface StateDiff {
  added: EntityRow[]
  removed: EntityRow[]
  changed: (EntityName & { fields: FieldChange[] })[]
  settings: FieldChange[]
}

/** How a difference shows what may be a secret. */
export interface Masks {
  id(table: TableName, id: string): string
  /** The path leads from the row to the value: `credentials`, `oauth_token`, `access_token`. */
  value(table: TableName, path: readonly string[], value: unknown): unknown
}

export function diffStates(before: EnvironmentImage, after: EnvironmentImage, masks: Masks): StateDiff {
  const diff: StateDiff = {
    added: [],
    removed: [],
    changed: [],
    settings: changesBetween(before.settings, after.settings, (_path, value) => value),
  }
  // Counters are the model's own book-keeping, and no entities.
  const entities = TABLE_NAMES.filter((table) => table !== 'counters')
  for (const table of entities) {
    diffTable(diff, table, { before: before.tables[table], after: after.tables[table], masks })
  }
  return diff
}

function diffTable(
  diff: StateDiff,
  table: TableName,
  { before, after, masks }: { before: readonly Row[]; after: readonly Row[]; masks: Masks },
): void {
  const entity = (id: string): EntityName => ({ table, id: masks.id(table, id) })
  const shown: Show = (path, value) => masks.value(table, path, value)
  const whole = (row: Row): EntityRow => {
    const fields = Object.entries(inColumnOrder(table, row)).filter(([, value]) => value !== undefined)
    const masked = fields.map(([name, value]) => [name, name === 'id' ? masks.id(table, row.id) : shown([name], value)])
    return { ...entity(row.id), row: Object.fromEntries(masked) as EntityRow['row'] }
  }
  const former = new Map(before.map((row) => [row.id, row]))
  const present = new Set(after.map((row) => row.id))
  for (const row of before) if (!present.has(row.id)) diff.removed.push(whole(row))
  for (const row of after) {
    const old = former.get(row.id)
    if (!old) diff.added.push(whole(row))
    // Rows are immutable: one that is the same object has not changed.
    else if (old !== row) {
      const fields = changesBetween(old, row, shown)
      if (fields.length > 0) diff.changed.push({ ...entity(row.id), fields })
    }
  }
}

/** The fields that differ, in the order of their names; objects are compared field by field, lists as a whole. */
function changesBetween(before: object, after: object, show: Show, base: readonly string[] = []): FieldChange[] {
  const [old, fresh] = [new Map(Object.entries(before)), new Map(Object.entries(after))] as [Fields, Fields]
  const names = [...new Set([...old.keys(), ...fresh.keys()])].sort()
  return names.flatMap((name): FieldChange[] => {
    const [from, to] = [old.get(name), fresh.get(name)]
    const path = [...base, name]
    if (isJsonObject(from) && isJsonObject(to)) return changesBetween(from, to, show, path)
    if (JSON.stringify(from) === JSON.stringify(to)) return []
    return [
      {
        field: path.join('.'),
        ...(from !== undefined && { before: show(path, from) }),
        ...(to !== undefined && { after: show(path, to) }),
      },
    ]
  })
}

type Show = (path: readonly string[], value: unknown) => unknown
type Fields = Map<string, unknown>
