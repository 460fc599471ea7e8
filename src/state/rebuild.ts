import type { Environment } from './environment.ts'
import { type Rows, TABLE_NAMES, type TableName } from './model/model.ts'

/** Clients keep their credentials and bearer tokens when the model goes back to an earlier state. */
export const EMPTIED_BY_RESET: ReadonlySet<TableName> = new Set(
  TABLE_NAMES.filter((name) => name !== 'clients' && name !== 'bearer_tokens'),
)

/** Replaces the rows of some tables by what `fill` puts, in one commit. */
export function rebuild(environment: Environment, emptied: ReadonlySet<TableName>, fill: () => void): void {
  const { model } = environment
  model.transact(() => {
    // What waits to be sent is about rows that are replaced (G68).
    for (const name of [...emptied, 'webhook_deliveries'] as const)
      // From the end, where a removal moves nothing.
      for (const id of model.tables[name].ids().reverse()) model.tables[name].remove(id)
    fill()
    environment.replacements++
  })
}

/** Puts these rows in place of those of some tables, together with what `finish` changes, in one commit. */
export function replaceTables(
  environment: Environment,
  tables: { readonly [Name in TableName]: readonly Rows[Name][] },
  emptied: ReadonlySet<TableName>,
  finish: () => void,
): void {
  rebuild(environment, emptied, () => {
    for (const name of emptied) for (const row of tables[name]) environment.model.tables[name].put(row as never)
    finish()
  })
}
