import type { Account } from '../domain/account.ts'
import type { FiredRule, Place, Scenario } from '../domain/scenario.ts'
import type { Environment } from '../store/environment.ts'
import type { Verdict } from './verdict.ts'
import type { ScenarioRequest } from './scenario-request.ts'

type AccountEvent = 'expire' | 'disconnect' | 'revoke_refresh_token' | 'expire_access_token'

/** What the scenarios of an environment need from outside their room. */
export interface ScenarioPorts {
  /** Scenarios active from the start (`--scenario`), and again after a reset. */
  readonly initial: readonly Scenario[]
  /** A bundled scenario by its name; undefined when there is none. */
  bundled(name: string): Promise<Scenario | undefined>
  /** Makes an event happen to an account (`operations/account-events.ts`). @throws Error naming why it cannot */
  happen(environment: Environment, account: Account, event: AccountEvent): void
  /** Moves the environment's clock on, by milliseconds; what falls due happens. */
  advance(environment: Environment, by: number): void
  /** Told of every rule that fired, at whatever place, after it took effect. */
  fired?(environment: Environment, fired: FiredRule, request: ScenarioRequest): void
}

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
  /** The named state it is in; null when it has none or does not run. */
  state: string | null
  rules: RuleView[]
}

/** A rule that had to fire and never did. */
export interface UnfiredRule {
  scenario: string
  rule: string
  at: Place
  matched: number
}

/** A name that no scenario has; `known` are those that can be started. */
export class UnknownScenarioError extends Error {
  override readonly name = 'UnknownScenarioError'

  constructor(
    readonly scenario: string,
    readonly known: readonly string[],
  ) {
    super(
      `there is no scenario ${JSON.stringify(scenario)}; ${known.length > 0 ? `there are ${known.join(', ')}` : 'there is none'}`,
    )
  }
}

/** The scenarios of one environment: which are defined, which run, in which state, and how often their rules fired. */
export interface EnvironmentScenarios {
  /** Whether any scenario runs: the one check of a request where there is none. */
  readonly active: boolean
  /** Makes a scenario known; one of the same name is replaced and, if it ran, starts anew. */
  define(scenario: Scenario): void
  /** Starts a defined or bundled scenario, anew if it runs. @throws UnknownScenarioError */
  start(name: string): Promise<void>
  /** Its counts stay to be read. @throws UnknownScenarioError */
  stop(name: string): void
  /** Stops and forgets every scenario, those of the start too. */
  clear(): void
  /** Back to those of the start, each from its beginning. */
  reset(): void
  list(): ScenarioView[]
  /** Rules that had to fire and did not, of scenarios that were started since the last reset or clear. */
  unfired(): UnfiredRule[]
  /** Which rules fire on a request; model faults have taken effect when this returns. Undefined when none fired. */
  consider(request: ScenarioRequest): Verdict | undefined
}
