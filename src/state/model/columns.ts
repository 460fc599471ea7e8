import { COLUMNS } from '../../domain/generated/tables.ts'
import type { TableName } from './model.ts'

/** The same row with its fields in the order of the declaration of its table, however it was made. */
export function inColumnOrder(table: TableName, row: object): object {
  const ordered: Record<string, unknown> = {}
  for (const name of COLUMNS[table]) ordered[name] = (row as Record<string, unknown>)[name]
  return ordered
}
