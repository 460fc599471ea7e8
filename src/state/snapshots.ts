import { milliseconds } from '../domain/instant.ts'
import { type Rows, type Snapshot, TABLE_NAMES, type TableName } from './model/model.ts'
import { now } from './environment.ts'
import type { Table } from './model/table.ts'
import type { Environment } from './environment.ts'

/** Clients keep their credentials and bearer tokens when the model goes back to an earlier state. */
export const TABLES_KEPT_BY_RESET: ReadonlySet<TableName> = new Set(['clients', 'bearer_tokens'])

/**
 * Takes a snapshot, in place of the one that has the name. It is a commit: when the disk refuses an earlier commit, the
 * snapshot is rolled back with it.
 */
export function takeSnapshot(environment: Environment, name: string): Snapshot {
  const snapshot = { id: name, taken_at: now(environment), ...environment.image() }
  environment.model.transact(() => environment.model.tables.snapshots.put(snapshot))
  return snapshot
}

/**
 * Restores model, settings and clock from a snapshot, in one commit. The clock goes to the instant of the snapshot, so that
 * what was valid then is valid again; it is frozen if it was frozen then. Clients and bearer tokens stay.
 */
export function restoreSnapshot(environment: Environment, { taken_at, settings, clock, tables }: Snapshot): void {
  environment.change(() => {
    environment.configure(settings)
    if (clock.frozen_at === null) environment.clock.run()
    else environment.clock.freeze()
    environment.clock.set(milliseconds(taken_at))
    for (const table of TABLE_NAMES)
      if (!TABLES_KEPT_BY_RESET.has(table)) replaceRows(environment, table, tables[table])
  })
}

/** Makes these rows, in this order, all that a table holds. Only inside a transaction. */
export function replaceRows<Name extends TableName>(
  { model }: Environment,
  name: Name,
  rows: readonly Rows[Name][],
): void {
  const table = model.tables[name] as Table<Rows[Name]>
  // From the end, where a removal moves nothing in the indexes.
  for (const { id } of [...table.values()].reverse()) table.remove(id)
  for (const row of rows) table.put(row)
}
