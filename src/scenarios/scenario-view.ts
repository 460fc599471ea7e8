import type { Place, Scenario } from '../domain/scenario.ts'
import { effectOf } from './faults/table.ts'
import type { ScenarioRun } from './run.ts'

/** A rule with how often it fired, for lists and the verdict of a run. */
export interface RuleView {
  name: string
  at: Place
  must_fire: boolean
  /** What it does, in one sentence. */
  sentence: string
  /** Requests that fit its place and match since the scenario started. */
  matched: number
  hits: number
}

export interface ScenarioView {
  name: string
  description: string
  running: boolean
  /** Whether it was started; one that was stopped keeps its counts. */
  started: boolean
  /** The named state it is in; null when it has none or was not started. */
  state: string | null
  rules: RuleView[]
}

/** A name that no scenario has; `known` are those that there are. */
export class UnknownScenarioError extends Error {
  override readonly name = 'UnknownScenarioError'

  constructor(
    readonly scenario: string,
    readonly known: readonly string[],
  ) {
    const others = known.length > 0 ? `there are ${known.join(', ')}` : 'there is none'
    super(`there is no scenario ${JSON.stringify(scenario)}; ${others}`)
  }
}

export function viewOf(scenario: Scenario, run: ScenarioRun | undefined): ScenarioView {
  const state = run && run.state !== '' ? run.state : null
  const rules = scenario.rules.map((rule, index): RuleView => {
    const { matched = 0, hits = 0 } = run?.counts[index] ?? {}
    const deeds = rule.do.map((fault) => effectOf(fault).sentence)
    if (rule.then !== null) deeds.push(`goes to state ${rule.then}`)
    return { name: rule.name, at: rule.at, must_fire: rule.must_fire, sentence: deeds.join(', '), matched, hits }
  })
  const { name, description } = scenario
  return { name, description, running: run?.running ?? false, started: run !== undefined, state, rules }
}
