import type { FiredRule, Scenario, ScenarioRule } from '../domain/scenario.ts'
import { hold } from './conditions.ts'
import type { FaultEffect } from './faults/fault.ts'
import { effectOf } from './faults/table.ts'
import { fits } from './matching.ts'
import type { ScenarioRequest } from './scenario-request.ts'

/** What a rule has seen since its scenario started. */
export interface RuleCount {
  readonly rule: ScenarioRule
  readonly effects: readonly FaultEffect[]
  /** Requests that fit its place and match, in the state that it asks for. */
  matched: number
  hits: number
}

/** A rule that is to fire on a request. */
export interface Firing {
  readonly rule: ScenarioRule
  readonly effects: readonly FaultEffect[]
  /** Which request it is of those that fit the rule. */
  readonly number: number
}

/** One run of a scenario, from its start: its state, and what its rules have seen. */
export class ScenarioRun {
  readonly scenario: Scenario
  readonly counts: readonly RuleCount[]
  state: string
  /** Milliseconds of the environment's clock. */
  readonly startedAt: number
  /** Whether somebody started it in this environment, and not the start of the server in all of them. */
  readonly byHand: boolean
  running = true

  constructor(scenario: Scenario, { startedAt, byHand }: { startedAt: number; byHand: boolean }) {
    this.scenario = scenario
    this.state = scenario.initial
    this.startedAt = startedAt
    this.byHand = byHand
    this.counts = scenario.rules.map((rule) => ({ rule, effects: rule.do.map(effectOf), matched: 0, hits: 0 }))
  }

  /**
   * Counts a request and lets every rule fire whose conditions hold, in order: `then` of one is the state that the next
   * one finds. A rule that would end the request does not fire on one that another rule has ended.
   */
  consider(request: ScenarioRequest, registry: { now: () => number; chance: () => number }, fire: Fire): void {
    for (const count of this.counts) {
      const { rule, effects } = count
      if (!fits(rule, request) || !this.#isIn(rule.when.state)) continue
      count.matched += 1
      const number = count.matched
      const { startedAt } = this
      if (!hold(rule.when, { number, startedAt, now: registry.now(), chance: registry.chance })) continue
      if (!fire({ rule, effects, number })) continue
      count.hits += 1
      if (rule.then !== null) this.state = rule.then
    }
  }

  /** A rule without a state is for all of them. */
  #isIn(state: string | undefined): boolean {
    return state === undefined || state === this.state
  }
}

/** Makes a rule take effect; false when it cannot fire on this request any more. */
type Fire = (firing: Firing) => boolean

/** What a rule did, in one sentence. */
export function fired(scenario: Scenario, { rule, effects, number }: Firing, failures: readonly string[]): FiredRule {
  const deeds = effects.map(({ sentence }) => sentence)
  if (rule.then !== null) deeds.push(`${deeds.length > 0 ? 'and ' : ''}goes to state ${rule.then}`)
  const trouble = failures.length === 0 ? '' : `; this could not be done: ${failures.join('; ')}`
  return { scenario: scenario.name, rule: rule.name, at: rule.at, sentence: `${said(number, deeds)}${trouble}` }
}

function said(number: number, deeds: readonly string[]): string {
  return `On request ${number} that fits, ${deeds.join(', ')}`
}
