import { type Instant, milliseconds } from '../domain/instant.ts'
import { type Rows, type TableName, TABLE_NAMES } from './model/model.ts'
import { now } from './environment.ts'
import type { EnvironmentImage } from './model/state-image.ts'
import type { Table } from './model/table.ts'
import type { StoredEnvironment } from './stored-environment.ts'
import type { EnvironmentRegistry } from './environment-registry.ts'

/** An environment's model at one moment. Rows are immutable, so that keeping one costs a list of references. */
export interface Snapshot {
  readonly name: string
  /** In the environment's own time. */
  readonly taken_at: Instant
  readonly image: EnvironmentImage
}

/** What stays as it is when a model goes back to what it was: whoever acts for the environment goes on doing so. */
export const LASTING_TABLES: ReadonlySet<TableName> = new Set(['clients', 'bearer_tokens'])

/** The snapshots of one environment, by name, in the order in which they were first taken; kept as long as the server runs. */
export class Snapshots {
  readonly #byName = new Map<string, Snapshot>()

  list(): Snapshot[] {
    return [...this.#byName.values()]
  }

  get(name: string): Snapshot | undefined {
    return this.#byName.get(name)
  }

  /** Takes one, in place of the one that has the name. */
  take(name: string, environment: StoredEnvironment): Snapshot {
    const snapshot = { name, taken_at: now(environment), image: environment.image() }
    this.#byName.set(name, snapshot)
    return snapshot
  }

  /** False when there is none of that name. */
  remove(name: string): boolean {
    return this.#byName.delete(name)
  }
}

/**
 * Takes model, settings and clock back to a snapshot, in one commit. The clock goes to the instant of the snapshot, so that
 * what was valid then is valid again, and stands or runs as it did. Clients and bearer tokens stay.
 */
export function restoreSnapshot(
  registry: EnvironmentRegistry,
  environment: StoredEnvironment,
  { taken_at, image }: Snapshot,
): void {
  registry.change(environment, () => {
    environment.configure(image.settings)
    if (image.clock.frozen_at === null) environment.clock.run()
    else environment.clock.freeze()
    environment.clock.set(milliseconds(taken_at))
    for (const table of TABLE_NAMES) {
      if (!LASTING_TABLES.has(table)) replaceRows(environment, table, image.tables[table])
    }
  })
}

/** Makes these rows, in this order, all that a table holds. Only inside a transaction. */
export function replaceRows<Name extends TableName>(
  { model }: StoredEnvironment,
  name: Name,
  rows: readonly Rows[Name][],
): void {
  const table = model.tables[name] as Table<Rows[Name]>
  for (const { id } of [...table.values()]) table.remove(id)
  for (const row of rows) table.put(row)
}
