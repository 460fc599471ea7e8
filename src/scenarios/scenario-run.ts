import type { components } from '../model/contract/generated/control-types.ts'
import type { RequestPlace, Scenario, ScenarioFault, ScenarioRule, Shadow } from '../model/domain/scenario.ts'
import { didYouMean } from '../model/domain/suggestion.ts'
import { quote, thereAre } from '../model/domain/text.ts'
import type { StoredScenarioRun } from '../state/model/model.ts'
import { Barrier } from './barrier.ts'
import type { MatchedFault } from './faults/fault.ts'
import { type FaultKind, FAULTS } from './faults/faults.ts'
import { isSpent } from './rule-matching.ts'

export interface RunRule {
  readonly rule: ScenarioRule
  readonly faults: readonly MatchedFault[]
}

/** One run of a scenario, from its start. Its row has its state, and what its rules have seen. */
export class ScenarioRun {
  readonly rules: readonly RunRule[]
  readonly #before: ScenarioHistory | undefined

  /** @param before what the runs of the scenario before this one have seen */
  constructor(
    readonly scenario: Scenario,
    counts: StoredScenarioRun['rules'],
    before?: ScenarioHistory,
  ) {
    this.#before = before
    this.rules = scenario.rules.map((rule, index) => {
      // In a run that the state file holds, what waited is gone with the former process.
      const isOpen = (counts[index]?.hits ?? 0) > 0
      const faults = rule.do.map(matchedFault).map((plain): MatchedFault => {
        const matched: MatchedFault = rule.on.mcp === undefined ? plain : { ...plain, ofMcp: true }
        const { fault, params } = matched
        if (fault.phase !== 'barrier') return matched
        const barrier = new Barrier(fault.terms(params), { scenario: scenario.name, rule: rule.name }, isOpen)
        return { ...matched, barrier }
      })
      return { rule, faults }
    })
  }

  /** What its rules and those of the runs before it have seen; `row` is its row. */
  history({ started_manually, running, rules: counts }: StoredScenarioRun): ScenarioHistory {
    const { name, rules: declared } = this.scenario
    const rules = declared.map(({ name: rule, at, must_fire }, index) => ({
      ...{ name: rule, at, must_fire },
      ...countsOf(counts[index]),
    }))
    const history = { name, started: 1, startedManually: started_manually, stopped: !running, rules }
    return this.#before ? joinedHistories(this.#before, history) : history
  }

  /** Lets go of the requests that wait at its barriers. */
  release(): void {
    for (const { faults } of this.rules) for (const { barrier } of faults) barrier?.open()
  }
}

function matchedFault({ kind, params }: ScenarioFault): MatchedFault {
  if (!Object.hasOwn(FAULTS, kind)) throw new Error(`there is no fault ${kind}; a newer version may have it`)
  return { kind, fault: FAULTS[kind as FaultKind], params }
}

type Schemas = components['schemas']
export type DescribedScenario = Schemas['Scenario']
export type ScenarioWithDocument = Schemas['ScenarioWithDocument']

/** A name that no scenario has; `known` are those that there are. */
export class UnknownScenarioError extends Error {
  override readonly name = 'UnknownScenarioError'

  constructor(
    readonly scenario: string,
    readonly names: readonly string[],
    purpose: '' | ' to stop' = '',
  ) {
    const others = thereAre(names, 'none is defined')
    super(`there is no scenario ${quote(scenario)}${purpose}${didYouMean(scenario, names)}; ${others}`)
  }
}

export function scenarioView(scenario: Scenario, run: StoredScenarioRun | undefined): DescribedScenario {
  const running = run?.running ?? false
  const state = run && run.state !== '' ? run.state : null
  const rules = scenario.rules.map((rule, index): Schemas['ScenarioRule'] => {
    const effects = rule.do.map(matchedFault).map(({ fault, params: parameters }) => fault.sentence(parameters))
    if (rule.then !== null) effects.push(`goes to state ${rule.then}`)
    const { name, at, must_fire } = rule
    return { name, at, must_fire, sentence: effects.join(', '), ...countsOf(run?.rules[index]) }
  })
  const { name, description } = scenario
  const spent =
    running && rules.length > 0 && scenario.rules.every(({ when }, index) => isSpent(when, rules[index]?.matched ?? 0))
  return { name, description, running, spent, started: run !== undefined, state, rules }
}

/** What the rules of a scenario have seen in all its runs, also in those that a reset has ended. */
export interface ScenarioHistory {
  readonly name: string
  readonly started: number
  /** Whether it was started by the control API, and not with the server. */
  readonly startedManually: boolean
  /** Whether its latest run was stopped. */
  readonly stopped: boolean
  readonly rules: readonly RuleHistory[]
}

export type RuleHistory = Schemas['RuleCounts']

function countsOf({ matched = 0, hits = 0, shadowed_by = [] }: Partial<Omit<RuleHistory, 'name'>> = {}) {
  return { matched, hits, shadowed_by: [...shadowed_by] }
}

/** One for each rule. */
export function sumOfShadows(shadows: readonly Shadow[]): Shadow[] {
  const sums = new Map<string, Shadow>()
  for (const shadow of shadows) {
    const key = `${shadow.scenario}\n${shadow.rule}`
    sums.set(key, { ...shadow, requests: shadow.requests + (sums.get(key)?.requests ?? 0) })
  }
  return [...sums.values()]
}

/** Histories of many runs and environments, one for each scenario. */
export class Histories {
  readonly #byName = new Map<string, ScenarioHistory>()

  add(history: ScenarioHistory): void {
    const earlier = this.#byName.get(history.name)
    this.#byName.set(history.name, earlier ? joinedHistories(earlier, history) : history)
  }

  list(): ScenarioHistory[] {
    return [...this.#byName.values()]
  }
}

/** A scenario that was redefined has the rules of its latest definition; what others of the same name saw counts. */
function joinedHistories(a: ScenarioHistory, b: ScenarioHistory): ScenarioHistory {
  const before = new Map(a.rules.map((rule) => [rule.name, rule]))
  const rules = b.rules.map((rule) => {
    const { matched, hits, shadowed_by } = countsOf(before.get(rule.name))
    return {
      ...rule,
      matched: rule.matched + matched,
      hits: rule.hits + hits,
      shadowed_by: sumOfShadows([...shadowed_by, ...rule.shadowed_by]),
    }
  })
  return {
    name: b.name,
    started: a.started + b.started,
    startedManually: a.startedManually || b.startedManually,
    stopped: b.stopped,
    rules,
  }
}

/** One history for each scenario; those of one scenario may be of different definitions. */
export function sumsOf(histories: readonly ScenarioHistory[]): ScenarioHistory[] {
  const sums = new Map<string, ScenarioHistory>()
  for (const history of histories) {
    const before = sums.get(history.name)
    const sum = before ? joinedHistories(before, history) : history
    const names = new Set(history.rules.map(({ name }) => name))
    const former = before?.rules.filter(({ name }) => !names.has(name)) ?? []
    sums.set(history.name, { ...sum, rules: [...former, ...sum.rules] })
  }
  return [...sums.values()]
}

/** A rule that had to fire and never did; `matched` requests matched it, but not its `when`. */
export interface UnfiredRuleRow {
  readonly scenario: string
  readonly rule: string
  readonly at: RequestPlace
  readonly matched: number
  readonly shadowed_by: readonly Shadow[]
  /** Whether the scenario was stopped before the rule could fire. */
  readonly stopped: boolean
}

export function rulesNotFired(histories: readonly ScenarioHistory[]): UnfiredRuleRow[] {
  return histories.flatMap(({ name, stopped, rules }) =>
    rules
      .filter(({ must_fire, hits }) => must_fire && hits === 0)
      .map(({ name: rule, at, matched, shadowed_by }) => ({ scenario: name, rule, at, matched, shadowed_by, stopped })),
  )
}
