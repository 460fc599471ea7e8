import type { ControlClient } from './control-client.ts'
import type { SnapshotView, StateDiff } from './types.ts'

/** Saved states of the model, each under a name. */
export interface MockSnapshots {
  /** In the order in which they were first taken. */
  list(): Promise<readonly SnapshotView[]>
  /**
   * Saves the model, in place of a snapshot that has the name.
   * @param name 1 to 64 letters, digits, `.`, `_`, `-`
   * @throws ToolmockError INVALID_NAME
   */
  take(name: string): Promise<SnapshotView>
  /**
   * Model, settings and clock become what they were; clients, bearer tokens, scenarios and the request journal stay.
   * @throws ToolmockError SNAPSHOT_NOT_FOUND
   */
  restore(name: string): Promise<void>
  /** @throws ToolmockError SNAPSHOT_NOT_FOUND */
  remove(name: string): Promise<void>
  /** What was added, removed and changed since. @throws ToolmockError SNAPSHOT_NOT_FOUND */
  diff(name: string): Promise<StateDiff>
}

/** @internal */
export function snapshotsOf(control: ControlClient): MockSnapshots {
  return {
    list: async () => (await control.call('GET /snapshots')).snapshots,
    take: (name) => control.call('PUT /snapshots/{name}', { path: { name } }),
    restore: (name) => control.send('POST /snapshots/{name}/restore', { path: { name } }),
    remove: (name) => control.send('DELETE /snapshots/{name}', { path: { name } }),
    diff: (name) => control.call('GET /state/diff', { query: { snapshot: name } }),
  }
}
