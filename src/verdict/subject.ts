import type { ScenarioHistory } from '../scenarios/scenario-run.ts'
import type { EnvironmentRecord } from './environment-record.ts'

/** An environment with everything that it has to tell. */
export interface Subject {
  readonly name: string
  readonly record: EnvironmentRecord
  readonly scenarios: readonly ScenarioHistory[]
}
