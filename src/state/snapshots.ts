import { milliseconds } from '../model/domain/instant.ts'
import type { Snapshot } from './model/model.ts'
import { type Environment, now } from './environment.ts'
import { EMPTIED_BY_RESET, replaceTables } from './rebuild.ts'

/** A commit, in place of the one that has the name: it is rolled back with an earlier commit that the disk refuses. */
export function takeSnapshot(environment: Environment, name: string): Snapshot {
  const snapshot = { id: name, taken_at: now(environment), ...environment.image() }
  environment.model.transact(() => environment.model.tables.snapshots.put(snapshot))
  return snapshot
}

/**
 * Together with what `more` changes, in one commit. The clock goes to the instant of the snapshot, so that what was
 * valid then is valid again, and is frozen if it was then. Clients and bearer tokens stay.
 */
export function restoreSnapshot(environment: Environment, snapshot: Snapshot, more?: () => void): void {
  const { taken_at, settings, clock, tables } = snapshot
  replaceTables(environment, tables, EMPTIED_BY_RESET, () => {
    environment.replaceSettings(settings)
    if (clock.frozen_at === null) environment.clock.run()
    else environment.clock.freeze()
    environment.clock.set(milliseconds(taken_at))
    more?.()
  })
}
