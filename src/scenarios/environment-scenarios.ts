import { isDeepStrictEqual } from 'node:util'
import { jsonText, ownMember } from '../model/domain/json.ts'
import type { FiredRule, Scenario, Shadow } from '../model/domain/scenario.ts'
import { seededRandom } from '../model/domain/seeded-random.ts'
import type { Environment } from '../state/environment.ts'
import type { Model, StoredScenarioRun } from '../state/model/model.ts'
import { endsRequest, type MatchedFault } from './faults/fault.ts'
import { isMet, matchesRule, type ScenarioRequest } from './rule-matching.ts'
import {
  type RunRule,
  type ScenarioHistory,
  ScenarioRun,
  type DescribedScenario,
  type ScenarioWithDocument,
  sumOfShadows,
  UnknownScenarioError,
  scenarioView,
} from './scenario-run.ts'

/** The scenarios that come with the package, which `documents` reads. */
export interface BundledScenarios {
  /** By its name and parameters; undefined when there is none of the name. @throws Error when it does not fit the environment */
  named(name: string, environment: Environment): Promise<Scenario | undefined>
  /** For messages and lists. */
  names(): Promise<readonly string[]>
  /** To be shown. */
  all(): Promise<readonly Scenario[]>
}

export class ScenarioRegistry {
  readonly #bundled: BundledScenarios
  readonly #of = new WeakMap<Environment, EnvironmentScenarios>()
  #initial: readonly Scenario[] = []

  constructor(bundled: BundledScenarios) {
    this.#bundled = bundled
  }

  /** The scenarios that run from the start (`--scenario`) in every environment that is first used after this call. */
  startWith(scenarios: readonly Scenario[]): void {
    this.#initial = scenarios
  }

  /** As read again (`--watch`): new ones begin, changed ones restart if they run, and those of no file are removed. */
  redefine(scenarios: readonly Scenario[], environments: Iterable<Environment>): void {
    const former = this.#initial
    this.startWith(scenarios)
    for (const environment of environments) {
      const ofEnvironment = ownOf(environment)
      this.of(environment).redefine(scenariosWithout(former, ofEnvironment), scenariosWithout(scenarios, ofEnvironment))
    }
  }

  /** Those of the server's start, and those that the environment was made with; of one name the environment's counts. */
  #initialOf(environment: Environment): readonly Scenario[] {
    const ofEnvironment = ownOf(environment)
    return [...scenariosWithout(this.#initial, ofEnvironment), ...ofEnvironment]
  }

  /** Those of an environment; the scenarios of the start begin when it is first asked for. */
  of(environment: Environment): EnvironmentScenarios {
    let scenarios = this.#of.get(environment)
    if (!scenarios) {
      scenarios = new EnvironmentScenarios(environment, this.#bundled, () => this.#initialOf(environment))
      this.#of.set(environment, scenarios)
    }
    return scenarios
  }
}

function ownOf({ model }: Environment): readonly Scenario[] {
  return model.tables.origins.get('origin')?.scenarios ?? []
}

function scenariosWithout(scenarios: readonly Scenario[], others: readonly Scenario[]): readonly Scenario[] {
  return scenarios.filter(({ name }) => !others.some((removed) => removed.name === name))
}

/** What the rules that fired on a request do with it; faults that change the model have been applied. */
export interface FiredRules {
  readonly rules: readonly FiredRule[]
  /** The other faults, in their order. */
  readonly faults: readonly MatchedFault[]
  /** Kinds of the faults that have changed the model. */
  readonly applied: ReadonlySet<string>
}

/** Tables of the environment hold all of it, so that it survives a restart and a refused write undoes it (G63). */
export class EnvironmentScenarios {
  readonly #environment: Environment
  readonly #bundled: BundledScenarios
  readonly #initial: () => readonly Scenario[]
  /** The run of each row. Rolling back a commit restores an earlier row, and with it the same run. */
  readonly #runOf = new WeakMap<StoredScenarioRun, ScenarioRun>()
  /** What the runs of a scenario had seen when the latest one ended, which reports count after a reset too. */
  readonly #ended = new Map<string, ScenarioHistory>()
  #random: (() => number) | undefined

  constructor(environment: Environment, bundled: BundledScenarios, initial: () => readonly Scenario[]) {
    this.#environment = environment
    this.#bundled = bundled
    this.#initial = initial
    this.#environment.model.transact(() => {
      // Those that an earlier start of the server named.
      for (const { id, started_manually } of [...this.#runs.values()]) {
        if (started_manually) continue
        this.#runs.remove(id)
        this.#definitions.remove(id)
      }
      this.#startInitial()
    })
  }

  get #definitions(): Model['tables']['scenario_definitions'] {
    return this.#environment.model.tables.scenario_definitions
  }

  get #runs(): Model['tables']['scenario_runs'] {
    return this.#environment.model.tables.scenario_runs
  }

  /** Whether any scenario runs: the one check of a request where none does. */
  get active(): boolean {
    return this.#runs.size > 0 && [...this.#runs.values()].some(({ running }) => running)
  }

  /** Makes a scenario known; one of the same name is replaced and, if it runs, restarts. */
  define(scenario: Scenario, startedManually = true): void {
    this.#environment.model.transact(() => {
      const former = this.#runs.get(scenario.name)
      if (former?.running) this.#beginRun(scenario, startedManually || former.started_manually)
      else {
        this.#endRun(scenario.name)
        this.#definitions.put({ id: scenario.name, scenario })
      }
    })
  }

  /** Takes over the scenarios of the server's start after their files were read again; those started manually stay. */
  redefine(former: readonly Scenario[], current: readonly Scenario[]): void {
    this.#environment.model.transact(() => {
      for (const { name } of scenariosWithout(former, current)) {
        if (this.#runs.get(name)?.started_manually !== false) continue
        this.#endRun(name)
        this.#definitions.remove(name)
      }
      for (const scenario of current) {
        const before = former.find(({ name }) => name === scenario.name)
        if (isDeepStrictEqual(before, scenario)) continue
        if (before || this.#runs.get(scenario.name)?.running) this.define(scenario, false)
        else this.#beginRun(scenario, false)
      }
    })
  }

  /** Starts a defined or bundled scenario, or restarts it. @returns its name without parameters. @throws UnknownScenarioError */
  async start(name: string): Promise<string> {
    const bundled = this.#definitions.get(name) ? undefined : await this.#bundled.named(name, this.#environment)
    const scenario = this.#definitions.get(name)?.scenario ?? bundled
    if (!scenario) throw new UnknownScenarioError(name, await this.#startableScenarios())
    this.#environment.model.transact(() => this.#beginRun(scenario, true))
    return scenario.name
  }

  /** Stops a scenario; what it counted stays to be read. @throws UnknownScenarioError */
  stop(name: string): void {
    if (!this.#definitions.get(name))
      throw new UnknownScenarioError(
        name,
        [...this.#definitions.values()].map(({ id }) => id),
        ' to stop',
      )
    this.#environment.model.transact(() => {
      const row = this.#runs.get(name)
      if (!row) return
      const run = this.#runAt(row)
      this.#putRun({ ...row, running: false }, run)
      run?.release()
    })
  }

  /** Lets go of the requests that wait at barriers, once the environment is removed. */
  release(): void {
    for (const row of this.#runs.values()) this.#runAt(row)?.release()
  }

  /** Stops and removes every scenario, those of the start too. */
  clear(): void {
    this.#environment.model.transact(() => {
      for (const { id } of [...this.#runs.values()]) this.#endRun(id)
      for (const { id } of [...this.#definitions.values()]) this.#definitions.remove(id)
    })
  }

  /** Back to the scenarios of the start, each from its beginning; scenarios defined since stay known. */
  reset(): void {
    this.#random = undefined
    this.#environment.model.transact(() => {
      for (const { id } of [...this.#runs.values()]) this.#endRun(id)
      this.#startInitial()
    })
  }

  /** Those that are defined, in the order of their definition. */
  list(): DescribedScenario[] {
    return [...this.#definitions.values()].map(({ id, scenario }) => scenarioView(scenario, this.#runs.get(id)))
  }

  /** A defined or bundled scenario. @throws UnknownScenarioError */
  async find(name: string): Promise<ScenarioWithDocument> {
    const bundled = (await this.#bundled.all()).find((each) => each.name === name)
    const scenario = this.#definitions.get(name)?.scenario ?? bundled
    if (!scenario) throw new UnknownScenarioError(name, await this.#startableScenarios())
    return { scenario: scenarioView(scenario, this.#runs.get(name)), document: scenario.text ?? null }
  }

  /** Those that are defined, then the bundled ones that are not, which can be started all the same. */
  async known(): Promise<DescribedScenario[]> {
    const bundled = (await this.#bundled.all()).filter(({ name }) => !this.#definitions.get(name))
    return [...this.list(), ...bundled.map((scenario) => scenarioView(scenario, undefined))]
  }

  /** What the rules of every run have seen since the server started. */
  history(): ScenarioHistory[] {
    const names = new Set([...this.#ended.keys(), ...this.#runs.ids()])
    return [...names].flatMap((name) => this.#historyOf(name) ?? [])
  }

  /** A rollback can restore a run that had ended, so the one that has a row counts. */
  #historyOf(name: string): ScenarioHistory | undefined {
    const row = this.#runs.get(name)
    const run = row && this.#runAt(row)
    return run ? run.history(row) : this.#ended.get(name)
  }

  /** `then` of one rule is the state for the next. Faults that change the model have been applied on return. */
  match(request: ScenarioRequest): FiredRules | undefined {
    const rules: FiredRule[] = []
    const faults: MatchedFault[] = []
    const applied = new Set<string>()
    let ending: Omit<Shadow, 'requests'> | undefined
    for (const row of this.#runs.values()) {
      const run = row.running ? this.#runAt(row) : undefined
      if (!run) continue
      let { state } = row
      const counts = row.rules.map((count) => ({ ...count }))
      let isCounted = false
      for (const [index, { rule, faults: ruleFaults }] of run.rules.entries()) {
        const inState = rule.when.state === undefined || rule.when.state === state
        if (!inState || !matchesRule(rule, request)) continue
        const count = (counts[index] ??= { matched: 0, hits: 0 })
        count.matched += 1
        isCounted = true
        const now = this.#environment.clock.now()
        const number = rule.when.per === 'account' ? countOfAccount(count, request) : count.matched
        const circumstances = { number, now, startedAt: row.started_at, random: () => this.random() }
        if (!isMet(rule.when, circumstances)) continue
        const endsIt = ruleFaults.some(endsRequest)
        // A request ends once: a rule that would end it does not fire on one that another rule has ended.
        if (endsIt && ending) {
          count.shadowed_by = sumOfShadows([...(count.shadowed_by ?? []), { ...ending, requests: 1 }])
          continue
        }
        if (endsIt) ending = { scenario: run.scenario.name, rule: rule.name }
        const failures = this.#applyFaults(ruleFaults, request, applied)
        const others = ruleFaults.filter(({ fault }) => fault.phase !== 'model')
        const fired = firedRule(run.scenario, { rule, faults: ruleFaults, matched: number }, failures)
        rules.push(fired)
        faults.push(...others)
        request.trace.fired(
          fired,
          others.some(({ fault: { phase } }) => phase !== 'wait' && phase !== 'barrier'),
        )
        count.hits += 1
        if (rule.then !== null) state = rule.then
      }
      if (isCounted && !this.#environment.isRemoved)
        this.#environment.model.transact(() => this.#putRun({ ...row, state, rules: counts }, run))
    }
    return rules.length > 0 ? { rules, faults, applied } : undefined
  }

  /** 0 to below 1, repeatable. From a source of its own, so that drawing does not shift all other identifiers. */
  random(): number {
    this.#random ??= seededRandom(this.#environment.ids.number())
    return this.#random()
  }

  /** Applies the faults that change the model, in their order. @returns why those that could not be applied were not */
  #applyFaults(faults: readonly MatchedFault[], request: ScenarioRequest, applied: Set<string>): string[] {
    return faults.flatMap(({ kind, fault, params }) => {
      if (fault.phase !== 'model') return []
      try {
        fault.apply({ environment: this.#environment, request }, params)
        applied.add(kind)
        return []
      } catch (error) {
        return [error instanceof Error ? error.message : String(error)]
      }
    })
  }

  /** The names of all that can be started, bundled ones too. */
  async #startableScenarios(): Promise<string[]> {
    const defined = [...this.#definitions.values()].map(({ id }) => id)
    return [...new Set([...defined, ...(await this.#bundled.names())])].sort()
  }

  #startInitial(): void {
    for (const scenario of this.#initial()) this.#beginRun(scenario, false)
  }

  /** Runs are in the order of their starts. */
  #beginRun(scenario: Scenario, started_manually: boolean): void {
    const { name: id, initial: state } = scenario
    this.#endRun(id)
    const started_at = this.#environment.clock.now()
    const rules = scenario.rules.map(() => ({ matched: 0, hits: 0 }))
    this.#definitions.put({ id, scenario })
    const run = new ScenarioRun(scenario, rules, this.#ended.get(id))
    this.#putRun({ id, running: true, started_manually, started_at, state, rules }, run)
  }

  #endRun(name: string): void {
    const row = this.#runs.get(name)
    const history = this.#historyOf(name)
    if (history) this.#ended.set(name, history)
    if (row) this.#runAt(row)?.release()
    this.#runs.remove(name)
  }

  #putRun(row: StoredScenarioRun, run: ScenarioRun | undefined): void {
    if (run) this.#runOf.set(row, run)
    this.#runs.put(row)
  }

  /** The run of a row, made from it where the state file holds it; undefined without its scenario. */
  #runAt(row: StoredScenarioRun): ScenarioRun | undefined {
    let run = this.#runOf.get(row)
    const scenario = this.#definitions.get(row.id)?.scenario
    if (!run && scenario) this.#runOf.set(row, (run = new ScenarioRun(scenario, row.rules, this.#ended.get(row.id))))
    return run
  }
}

/** Counts a request of an account that may not be there (yet). Requests that name none are counted together. */
function countOfAccount(count: StoredScenarioRun['rules'][number], { account, locator }: ScenarioRequest): number {
  const key = account?.id ?? locator?.['id'] ?? jsonText(locator ?? {})
  const number = Number(ownMember(count.of_accounts ?? {}, key) ?? 0) + 1
  count.of_accounts = { ...count.of_accounts, [key]: number }
  return number
}

function firedRule(
  { name }: Scenario,
  { rule, faults, matched }: RunRule & { readonly matched: number },
  failures: readonly string[],
): FiredRule {
  const effects = faults.map(({ fault, params }) => fault.sentence(params))
  if (rule.then !== null) effects.push(`${effects.length > 0 ? 'and ' : ''}goes to state ${rule.then}`)
  const failed = failures.length === 0 ? '' : `; this could not be done: ${failures.join('; ')}`
  const whose = rule.when.per === 'account' ? ' of its account' : ''
  const sentence = `On request ${matched}${whose} that matches, ${effects.join(', ')}${failed}`
  const of = rule.when.first ?? rule.when.times ?? null
  return { scenario: name, rule: rule.name, at: rule.at, sentence, matched, of, do: rule.do, off_spec: rule.off_spec }
}
