/** The whole model, as the state file holds it, secrets included (`spec/schemas/state.schema.json`). */
export interface MockState {
  readonly settings?: Readonly<Record<string, unknown>>
  readonly clock?: Readonly<Record<string, unknown>>
  readonly ids?: unknown
  readonly tables: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
}
