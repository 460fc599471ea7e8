import type { components } from '../../model/contract/generated/control-types.ts'
import { isJsonObject, jsonText, type JsonValue } from '../../model/domain/json.ts'
import { maskAt, maskSecret } from '../../model/domain/masking.ts'
import { ownValue } from '../../model/domain/value-match.ts'
import { inColumnOrder, type TableName, TABLE_NAMES } from '../../state/model/model.ts'
import type { EnvironmentImage } from '../../state/model/state-image.ts'
import type { Row } from '../../state/model/table.ts'

type Schemas = components['schemas']

/** Secrets are masked. Tables are in the order of the state file, rows in that of their table. */
export type TableDiffs = Omit<Schemas['StateDiff'], 'snapshot'>

export function diffStates(before: EnvironmentImage, after: EnvironmentImage): TableDiffs {
  const settings = changesBetween(before.settings, after.settings, (_path, value) => value)
  const diff: RowChanges = { added: [], removed: [], changed: [] }
  for (const table of TABLE_NAMES) {
    // Counters are the model's own book-keeping, and no entities.
    if (table !== 'counters') diffTable(diff, table, before.tables[table], after.tables[table])
  }
  return { ...diff, settings }
}

type RowChanges = { [Part in 'added' | 'removed' | 'changed']: TableDiffs[Part][number][] }

function diffTable(diff: RowChanges, table: TableName, before: readonly Row[], after: readonly Row[]): void {
  const idOf = ({ id }: Row): string =>
    table === 'bearer_tokens' || table === 'authorization_codes' ? maskSecret(id) : id
  // `credentials` has fields that are no secrets; `access` of a grant is one.
  const valueText: Show = (path, value) => {
    const place = path.filter((name) => name !== 'credentials')
    return maskAt(table === 'grants' && path[0] === 'access' ? ['access_token'] : place, value as JsonValue)
  }
  const whole = (row: Row): Schemas['Entity'] => {
    const fields = Object.entries(inColumnOrder(table, row)).filter(([, value]) => value !== undefined)
    const visible = fields.map(([name, value]) => [name, name === 'id' ? idOf(row) : valueText([name], value)])
    return { table, id: idOf(row), row: Object.fromEntries(visible) as Schemas['Entity']['row'] }
  }
  const former = new Map(before.map((row) => [row.id, row]))
  const ids = new Set(after.map((row) => row.id))
  for (const row of before) if (!ids.has(row.id)) diff.removed.push(whole(row))
  for (const row of after) {
    const old = former.get(row.id)
    if (!old) diff.added.push(whole(row))
    // Rows are immutable: one that is the same object has not changed.
    else if (old !== row) {
      const fields = changesBetween(old, row, valueText)
      if (fields.length > 0) diff.changed.push({ table, id: idOf(row), fields })
    }
  }
}

type Show = (path: readonly string[], value: unknown) => unknown

/** The fields that differ, in the order of their names; objects are compared field by field, lists as a whole. */
function changesBetween(
  before: object,
  after: object,
  show: Show,
  base: readonly string[] = [],
): Schemas['FieldChange'][] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names.flatMap((name): Schemas['FieldChange'][] => {
    const [from, to] = [ownValue(before, name), ownValue(after, name)]
    const path = [...base, name]
    if (isJsonObject(from) && isJsonObject(to)) return changesBetween(from, to, show, path)
    if (jsonText(from) === jsonText(to)) return []
    const sides = {
      ...(from !== undefined && { before: show(path, from) }),
      ...(to !== undefined && { after: show(path, to) }),
    }
    return [{ field: path.join('.'), ...sides }]
  })
}
