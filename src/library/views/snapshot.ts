/** A snapshot of an environment. */
export interface SnapshotView {
  readonly name: string
  /** In the environment's own time. */
  readonly taken_at: string
}

/** A row of the model: its table in the state file, and its id. */
export interface EntityName {
  readonly table: string
  readonly id: string
}

/** A field that differs; a side that has none has no such key. Dots lead into objects. */
export interface FieldChange {
  readonly field: string
  readonly before?: unknown
  readonly after?: unknown
}

/** What became of an environment since a snapshot. */
export interface StateDiff {
  readonly snapshot: string
  readonly added: readonly EntityName[]
  readonly removed: readonly EntityName[]
  readonly changed: readonly (EntityName & { readonly fields: readonly FieldChange[] })[]
  readonly settings: readonly FieldChange[]
}
