import type { Account } from '../domain/account.ts'
import type { FaultKind, FiredRule, Scenario } from '../domain/scenario.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import type { Environment } from '../state/environment.ts'
import { seededChance } from './chance.ts'
import type { FaultEffect, ModelHands } from './faults/fault.ts'
import { Histories, historyOf, type ScenarioHistory } from './history.ts'
import { type Firing, fired, ScenarioRun } from './run.ts'
import type { ScenarioRequest } from './scenario-request.ts'
import { type ScenarioView, UnknownScenarioError, viewOf } from './scenario-view.ts'

export { type ScenarioView, UnknownScenarioError } from './scenario-view.ts'

type AccountEvent = Parameters<ModelHands['happen']>[0]

/** What the scenarios of an environment need from outside their room. */
export interface ScenarioPorts {
  /** Scenarios active from the start (`--scenario`), and again after a reset. */
  readonly initial: readonly Scenario[]
  /** A bundled scenario by its name; undefined when there is none. @throws Error when it does not fit the environment */
  bundled(name: string, environment: Environment): Promise<Scenario | undefined>
  /** The names of the bundled scenarios, for messages and lists. */
  bundledNames(): Promise<readonly string[]>
  /** All bundled scenarios, to be shown. */
  bundledScenarios(): Promise<readonly Scenario[]>
  /** Makes an event happen to an account (`operations/account-events.ts`). @throws Error naming why it cannot */
  happen(environment: Environment, account: Account, event: AccountEvent, trace: RequestTrace): void
  /** Moves the environment's clock on, by milliseconds; what falls due happens. */
  advance(environment: Environment, by: number, trace: RequestTrace): void
}

/** What the rules that fired on a request want done with it; model faults have already happened. */
export interface Verdict {
  readonly fired: readonly FiredRule[]
  /** Faults on the wire, in their order. */
  readonly wire: readonly FaultEffect[]
  /** Kinds of the faults on the model that happened, for whoever has to look again. */
  readonly happened: ReadonlySet<FaultKind>
}

/** The scenarios of one environment: which are defined, which run, in which state, and how often their rules fired. */
export class EnvironmentScenarios {
  readonly #environment: Environment
  readonly #ports: ScenarioPorts
  readonly #defined = new Map<string, Scenario>()
  /** By name, in the order of their starts; stopped ones stay to be read. */
  #runs = new Map<string, ScenarioRun>()
  #active: readonly ScenarioRun[] = []
  #chance: (() => number) | undefined
  /** What the runs saw that are over: what a reset begins anew has still happened. */
  readonly #past = new Histories()

  constructor(environment: Environment, ports: ScenarioPorts) {
    this.#environment = environment
    this.#ports = ports
    this.reset()
  }

  /** Whether any scenario runs: the one check of a request where there is none. */
  get active(): boolean {
    return this.#active.length > 0
  }

  /** Makes a scenario known; one of the same name is replaced and, if it ran, starts anew. */
  define(scenario: Scenario): void {
    this.#defined.set(scenario.name, scenario)
    const former = this.#runs.get(scenario.name)
    if (!former) return
    if (former.running) this.#begin(scenario, former.byHand)
    else this.#expiry(scenario.name)
  }

  /** Starts a defined or bundled scenario, anew if it runs. @throws UnknownScenarioError */
  async start(name: string): Promise<void> {
    const scenario = this.#defined.get(name) ?? (await this.#ports.bundled(name, this.#environment))
    if (!scenario) throw new UnknownScenarioError(name, await this.#startable())
    this.#defined.set(name, scenario)
    this.#begin(scenario, true)
  }

  /** Lets a scenario act no more; what it counted stays to be read. @throws UnknownScenarioError */
  stop(name: string): void {
    if (!this.#defined.has(name)) throw new UnknownScenarioError(name, [...this.#defined.keys()])
    const run = this.#runs.get(name)
    if (run) run.running = false
    this.#settle()
  }

  /** Stops and forgets every scenario, those of the start too. */
  clear(): void {
    this.#defined.clear()
    this.#removeAll()
    this.#settle()
  }

  /** Back to those of the start, each from its beginning; scenarios defined since stay known. */
  reset(): void {
    this.#removeAll()
    this.#chance = undefined
    for (const scenario of this.#ports.initial) {
      this.#defined.set(scenario.name, scenario)
      this.#begin(scenario, false)
    }
    this.#settle()
  }

  /** Those that are defined, in the order of their definition. */
  list(): ScenarioView[] {
    return [...this.#defined.values()].map((scenario) => viewOf(scenario, this.#runs.get(scenario.name)))
  }

  /** Those that are defined, then the bundled ones that are not, which can be started all the same. */
  async known(): Promise<ScenarioView[]> {
    const bundled = (await this.#ports.bundledScenarios()).filter(({ name }) => !this.#defined.has(name))
    return [...this.list(), ...bundled.map((scenario) => viewOf(scenario, undefined))]
  }

  /** The names of all that can be started, bundled ones too. */
  async #startable(): Promise<string[]> {
    return [...new Set([...this.#defined.keys(), ...(await this.#ports.bundledNames())])].sort()
  }

  /** What the rules of every run have seen since the environment came to be. */
  history(): ScenarioHistory[] {
    const all = new Histories()
    for (const past of this.#past.list()) all.add(past)
    for (const run of this.#runs.values()) all.add(historyOf(run))
    return all.list()
  }

  /** Which rules fire on a request; model faults have taken effect when this returns. Undefined when none fired. */
  consider(request: ScenarioRequest): Verdict | undefined {
    const verdict = { fired: [] as FiredRule[], wire: [] as FaultEffect[], happened: new Set<FaultKind>() }
    const registry = { now: () => this.#environment.clock.now(), chance: () => this.chance() }
    for (const run of this.#active) {
      run.consider(request, registry, (firing) => {
        if (verdict.wire.some(isEnd) && firing.effects.some(isEnd)) return false
        const failures = this.#happen(firing, request, verdict.happened)
        const rule = fired(run.scenario, firing, failures)
        const wire = firing.effects.filter((effect) => !effect.happen)
        verdict.fired.push(rule)
        verdict.wire.push(...wire)
        request.trace.fired(rule, wire.some(changesAnswer))
        return true
      })
    }
    return verdict.fired.length > 0 ? verdict : undefined
  }

  /** From 0 to below 1; repeats with the environment's ids. */
  chance(): number {
    this.#chance ??= seededChance(this.#environment.ids.number())
    return this.#chance()
  }

  /** Model faults of a rule, in their order. @returns why those that could not happen did not */
  #happen({ effects }: Firing, request: ScenarioRequest, happened: Set<FaultKind>): string[] {
    const hands = this.#handsFor(request)
    return effects.flatMap((effect) => {
      try {
        if (!effect.happen) return []
        effect.happen(hands)
        happened.add(effect.kind)
        return []
      } catch (error) {
        return [error instanceof Error ? error.message : String(error)]
      }
    })
  }

  #handsFor(request: ScenarioRequest): ModelHands {
    const environment = this.#environment
    const { tables } = environment.model
    const account = (): Account => {
      const found = request.account && tables.accounts.get(request.account.id)
      if (!found) throw new Error('the request is about no connected account that there is')
      return found
    }
    return {
      account,
      happen: (event) => {
        this.#ports.happen(environment, account(), event, request.trace)
      },
      revokeBearerTokens: () => {
        environment.model.transact(() => {
          for (const { id } of [...tables.bearer_tokens.values()]) tables.bearer_tokens.remove(id)
        })
      },
      advance: (by) => {
        this.#ports.advance(environment, by, request.trace)
      },
    }
  }

  #begin(scenario: Scenario, byHand: boolean): void {
    this.#expiry(scenario.name)
    this.#runs.set(scenario.name, new ScenarioRun(scenario, { byHand, startedAt: this.#environment.clock.now() }))
    this.#settle()
  }

  #expiry(name: string): void {
    const run = this.#runs.get(name)
    if (run) this.#past.add(historyOf(run))
    this.#runs.delete(name)
  }

  #removeAll(): void {
    for (const name of [...this.#runs.keys()]) this.#expiry(name)
  }

  #settle(): void {
    this.#active = [...this.#runs.values()].filter(({ running }) => running)
  }
}

/** Whether nothing more can be decided about the answer after this fault. */
function isEnd({ kind }: FaultEffect): boolean {
  return ENDS.has(kind)
}
const ENDS: ReadonlySet<FaultKind> = new Set(['respond', 'timeout', 'reset_connection', 'empty_response'])

function changesAnswer({ kind }: FaultEffect): boolean {
  return kind !== 'latency'
}
