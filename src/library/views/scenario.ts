/** Where a rule acts. */
export type RulePlace = 'service' | 'third_party' | 'token_refresh' | 'consent'

/** A rule with how often it fired. */
export interface RuleView {
  readonly name: string
  readonly at: RulePlace
  readonly must_fire: boolean
  /** What it does, in one sentence. */
  readonly sentence: string
  /** Requests that fit its place and match since the scenario started. */
  readonly matched: number
  readonly hits: number
}

/** A scenario that is defined, or bundled. */
export interface ScenarioView {
  readonly name: string
  readonly description: string
  readonly running: boolean
  /** Whether it was started; one that was stopped keeps its counts. */
  readonly started: boolean
  /** The named state it is in; null when it has none. */
  readonly state: string | null
  readonly rules: readonly RuleView[]
}
