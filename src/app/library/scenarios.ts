import { nameWith, type ScenarioParameters } from '../../model/domain/scenario.ts'
import type { ControlClient } from './control-client.ts'
import type { RulePlace, ScenarioDocument, ScenarioView } from './types.ts'

/** A rule that had to fire and did not. */
export interface UnfiredRule {
  readonly scenario: string
  readonly rule: string
  readonly at: RulePlace
  /** How many requests it matched; 0 means that the client never made the call that the rule is about. */
  readonly matched: number
  /** Whether its scenario was stopped. */
  readonly stopped: boolean
}

/** What goes wrong, when, and where (`docs/scenarios.md`). */
export interface MockScenarios {
  /** Those that are defined, then the bundled ones that were not used yet; each of them can be started. */
  list(): Promise<readonly ScenarioView[]>
  /**
   * Defines a scenario, or replaces the one of its name.
   * @throws ToolmockError INVALID_DOCUMENT with every problem
   */
  define(document: ScenarioDocument): Promise<ScenarioView>
  /**
   * Starts a defined or a bundled one, or restarts it; `parameters` take the place of the tool and account in the rules of a
   * bundled one.
   * @throws ToolmockError SCENARIO_NOT_FOUND
   */
  start(name: string, parameters?: ScenarioParameters): Promise<ScenarioView>
  /** Stops it; its counts can still be read. @throws ToolmockError SCENARIO_NOT_FOUND */
  stop(name: string): Promise<ScenarioView>
  /** Stops and removes every scenario. */
  clear(): Promise<void>
  /** Rules of started scenarios that had to fire and did not: the test did not reach what it is about. */
  unfired(): Promise<readonly UnfiredRule[]>
}

/** @internal */
export function scenariosOf(control: ControlClient): MockScenarios {
  const list = async () => (await control.call('GET /scenarios')).scenarios
  return {
    list,
    define: async (document) =>
      (await control.call('PUT /scenarios/{name}', { path: { name: document.name }, body: document })).scenario,
    start: async (name, parameters) =>
      (await control.call('POST /scenarios/{name}/start', { path: { name: nameWith(name, parameters) } })).scenario,
    stop: async (name) => (await control.call('POST /scenarios/{name}/stop', { path: { name } })).scenario,
    clear: () => control.send('DELETE /scenarios'),
    unfired: async () => (await list()).filter(({ started }) => started).flatMap(rulesWithoutHits),
  }
}

function rulesWithoutHits({ name, running, rules }: ScenarioView): UnfiredRule[] {
  return rules
    .filter(({ must_fire, hits }) => must_fire && hits === 0)
    .map(({ name: rule, at, matched }) => ({ scenario: name, rule, at, matched, stopped: !running }))
}
