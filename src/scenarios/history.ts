import type { Place } from '../domain/scenario.ts'
import type { ScenarioRun } from './run.ts'

/** What the rules of a scenario have seen in all its runs, also in those that a reset has ended. */
export interface ScenarioHistory {
  readonly name: string
  readonly started: number
  /** Whether somebody started it in this environment, and not the start of the server in all of them. */
  readonly byHand: boolean
  readonly rules: readonly RuleHistory[]
}

export interface RuleHistory {
  readonly rule: string
  readonly at: Place
  readonly must_fire: boolean
  /** Requests that fitted it, and those of them on which it fired. */
  readonly matched: number
  readonly hits: number
}

export function historyOf({ scenario, byHand, counts }: ScenarioRun): ScenarioHistory {
  const rules = counts.map(({ rule, matched, hits }) => {
    return { rule: rule.name, at: rule.at, must_fire: rule.must_fire, matched, hits }
  })
  return { name: scenario.name, started: 1, byHand, rules }
}

/** Histories of many runs and environments, one for each scenario. */
export class Histories {
  readonly #byName = new Map<string, ScenarioHistory>()

  add(history: ScenarioHistory): void {
    const known = this.#byName.get(history.name)
    this.#byName.set(history.name, known ? together(known, history) : history)
  }

  list(): ScenarioHistory[] {
    return [...this.#byName.values()]
  }
}

/** A scenario that was defined anew has the rules of its latest definition; what others of the same name saw counts. */
function together(a: ScenarioHistory, b: ScenarioHistory): ScenarioHistory {
  const before = new Map(a.rules.map((rule) => [rule.rule, rule]))
  const rules = b.rules.map((rule) => {
    const { matched = 0, hits = 0 } = before.get(rule.rule) ?? {}
    return { ...rule, matched: rule.matched + matched, hits: rule.hits + hits }
  })
  return { name: b.name, started: a.started + b.started, byHand: a.byHand || b.byHand, rules }
}

/** A rule that had to fire and never did; `matched` requests fitted it, but not its `when`. */
export interface UnfiredRule {
  readonly scenario: string
  readonly rule: string
  readonly at: Place
  readonly matched: number
}

export function unfired(histories: readonly ScenarioHistory[]): UnfiredRule[] {
  return histories.flatMap(({ name, rules }) =>
    rules
      .filter(({ must_fire, hits }) => must_fire && hits === 0)
      .map(({ rule, at, matched }) => ({ scenario: name, rule, at, matched })),
  )
}
