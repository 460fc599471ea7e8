import { milliseconds } from '../model/domain/instant.ts'
import type { Snapshot } from './model/model.ts'
import { type Environment, now } from './environment.ts'
import { EMPTIED_BY_RESET, replaceTables } from './rebuild.ts'

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
 * Restores model, settings and clock from a snapshot, together with what `more` changes, in one commit. The clock goes to
 * the instant of the snapshot, so that what was valid then is valid again; it is frozen if it was frozen then. Clients and
 * bearer tokens stay.
 */
export function restoreSnapshot(
  environment: Environment,
  snapshot: Snapshot,
  more: () => void = () => undefined,
): void {
  const { taken_at, settings, clock, tables } = snapshot
  replaceTables(environment, tables, EMPTIED_BY_RESET, () => {
    environment.replaceSettings(settings)
    if (clock.frozen_at === null) environment.clock.run()
    else environment.clock.freeze()
    environment.clock.set(milliseconds(taken_at))
    more()
  })
}
