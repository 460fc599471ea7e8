import type { Control } from './control.ts'
import type { SnapshotView, StateDiff } from './views/snapshot.ts'

/** The model as it was, as often as one likes. Kept in memory as long as the server runs. */
export interface MockSnapshots {
  /** In the order in which they were first taken. */
  list(): Promise<readonly SnapshotView[]>
  /** In place of the one that has the name (1 to 64 letters, digits, `.`, `_`, `-`). @throws ToolmockError INVALID_NAME */
  take(name: string): Promise<SnapshotView>
  /**
   * Model, settings and clock are what they were; clients, bearer tokens, scenarios and the journal stay.
   * @throws ToolmockError SNAPSHOT_NOT_FOUND
   */
  restore(name: string): Promise<void>
  /** @throws ToolmockError SNAPSHOT_NOT_FOUND */
  remove(name: string): Promise<void>
  /** What was added, removed and changed since. @throws ToolmockError SNAPSHOT_NOT_FOUND */
  diff(name: string): Promise<StateDiff>
}

/** @internal */
export function snapshotsOf(control: Control): MockSnapshots {
  return {
    list: async () => (await control.call('GET /snapshots')).snapshots,
    take: (name) => control.call('PUT /snapshots/{name}', { path: { name } }),
    restore: async (name) => {
      await control.call('POST /snapshots/{name}/restore', { path: { name } })
    },
    remove: async (name) => {
      await control.call('DELETE /snapshots/{name}', { path: { name } })
    },
    diff: (name) => control.call('GET /state/diff', { query: { snapshot: name } }),
  }
}
