import type { Control } from './control.ts'
import type { RulePlace, ScenarioView } from './views/scenario.ts'

/** A rule that had to fire and never did. */
export interface UnfiredRule {
  readonly scenario: string
  readonly rule: string
  readonly at: RulePlace
  /** How many requests it matched: 0 says that the client never made the call that it is about. */
  readonly matched: number
}

/** What goes wrong, when, and where (`docs/scenarios.md`). */
export interface MockScenarios {
  /** Those that are defined, then the bundled ones that were not used yet; all of them can be started. */
  list(): Promise<readonly ScenarioView[]>
  /**
   * Makes a scenario known, or replaces the one of its name.
   * @param document as `spec/schemas/scenario.schema.json` describes it
   * @throws ToolmockError INVALID_DOCUMENT with every problem
   */
  define(document: ScenarioDocument): Promise<ScenarioView>
  /** Starts a defined or bundled one, anew if it runs. @throws ToolmockError SCENARIO_NOT_FOUND */
  start(name: string): Promise<ScenarioView>
  /** It acts no more; its counts stay to be read. @throws ToolmockError SCENARIO_NOT_FOUND */
  stop(name: string): Promise<ScenarioView>
  /** Stops and forgets every scenario. */
  clear(): Promise<void>
  /** Rules of started scenarios that had to fire and never did: what the test was about did not happen. */
  unfired(): Promise<readonly UnfiredRule[]>
}

/** A scenario as a file holds it. */
export interface ScenarioDocument {
  readonly name: string
  readonly [part: string]: unknown
}

/** @internal */
export function scenariosOf(control: Control): MockScenarios {
  const list = async () => (await control.call('GET /scenarios')).scenarios
  return {
    list,
    define: async (document) =>
      (await control.call('PUT /scenarios/{name}', { path: { name: document.name }, body: document })).scenario,
    start: async (name) => (await control.call('POST /scenarios/{name}/start', { path: { name } })).scenario,
    stop: async (name) => (await control.call('POST /scenarios/{name}/stop', { path: { name } })).scenario,
    clear: async () => {
      await control.call('DELETE /scenarios')
    },
    unfired: async () => (await list()).filter(({ started }) => started).flatMap(unfiredOf),
  }
}

function unfiredOf({ name, rules }: ScenarioView): UnfiredRule[] {
  return rules
    .filter(({ must_fire, hits }) => must_fire && hits === 0)
    .map(({ name: rule, at, matched }) => ({ scenario: name, rule, at, matched }))
}
