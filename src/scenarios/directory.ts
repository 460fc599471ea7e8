import type { Scenario } from '../domain/scenario.ts'
import type { Environment } from '../state/environment.ts'
import { EnvironmentScenarios, type ScenarioPorts } from './scenarios.ts'

/** The scenarios of every environment, each with runs of its own. */
export class ScenarioDirectory {
  readonly #ports: Omit<ScenarioPorts, 'initial'>
  readonly #of = new WeakMap<Environment, EnvironmentScenarios>()
  #initial: readonly Scenario[] = []

  constructor(ports: Omit<ScenarioPorts, 'initial'>) {
    this.#ports = ports
  }

  /** The scenarios that run from the start in every environment that is asked for from now on. */
  startWith(scenarios: readonly Scenario[]): void {
    this.#initial = scenarios
  }

  /** The scenarios of the start as they were read anew (`--watch`): those that run start anew. */
  redefine(scenarios: readonly Scenario[], environments: Iterable<Environment>): void {
    this.startWith(scenarios)
    for (const environment of environments) for (const scenario of scenarios) this.of(environment).define(scenario)
  }

  /** Those of an environment; the scenarios of the start begin when it is first asked for. */
  of(environment: Environment): EnvironmentScenarios {
    const known = this.#of.get(environment)
    if (known) return known
    const initial = (): readonly Scenario[] => this.#initial
    const made = new EnvironmentScenarios(environment, {
      ...this.#ports,
      get initial() {
        return initial()
      },
    })
    this.#of.set(environment, made)
    return made
  }
}
