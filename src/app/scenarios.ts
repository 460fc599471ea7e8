import type { DocumentChecks } from '../documents/connector-checks.ts'
import { bundledScenario, bundledScenarioNames, bundledScenarios, loadScenarios } from '../documents/load-scenarios.ts'
import type { Connector } from '../domain/connector.ts'
import type { ThirdParty } from '../domain/ports.ts'
import type { Scenario } from '../domain/scenario.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import { applyAccountEvent } from '../operations/account-events.ts'
import { applyDueEvents } from '../operations/due.ts'
import { consentFault } from '../scenarios/consent.ts'
import { ScenarioDirectory } from '../scenarios/directory.ts'
import { knownConnectors } from '../scenarios/known-connectors.ts'
import { Pauses } from '../scenarios/pauses.ts'
import { thirdPartyInterceptor } from '../scenarios/third-party.ts'
import type { Environment } from '../state/environment.ts'
import type { EnvironmentRegistry } from '../state/environment-registry.ts'
import { type AuthorizationAnswer, decide, withQuery } from '../third-party/consent.ts'

interface Surroundings {
  readonly registry: EnvironmentRegistry
  readonly documents: DocumentChecks
  thirdParty(environment: Environment): ThirdParty
}

/** Joins the scenarios' room to the model that they change and to the places at which they act. */
export class ScenarioJoint {
  readonly directory: ScenarioDirectory
  readonly pauses = new Pauses()
  /** The rules at `third_party` and `token_refresh`. */
  readonly intercept
  readonly #surroundings: Surroundings
  /** Read when somebody first asks what there is. */
  #bundled: Promise<readonly Scenario[]> | undefined

  constructor(surroundings: Surroundings) {
    const { registry, documents } = surroundings
    this.#surroundings = surroundings
    this.directory = new ScenarioDirectory({
      bundled: (name, environment) =>
        bundledScenario(name, { checks: documents, connectors: knownConnectors(environment) }),
      bundledNames: bundledScenarioNames,
      bundledScenarios: () => (this.#bundled ??= bundledScenarios(documents)),
      happen: (environment, account, event, trace) => {
        applyAccountEvent({ environment, thirdParty: surroundings.thirdParty(environment), trace }, account, event)
      },
      advance: (environment, by, trace) => {
        registry.environment(environment.name)?.clock.advance(by)
        applyDueEvents(environment, trace)
      },
    })
    this.intercept = thirdPartyInterceptor({ scenarios: (of) => this.directory.of(of), pauses: this.pauses })
  }

  /**
   * Lets the scenarios that `--scenario` names run in every environment, from now on.
   * @throws StartError for a name or a file that cannot be used with the connectors of this environment
   */
  async startWith(names: readonly string[], environment: Environment): Promise<void> {
    const connectors = knownConnectors(environment)
    this.directory.startWith(await loadScenarios(names, { checks: this.#surroundings.documents, connectors }))
    this.directory.of(environment)
  }

  /** What a decision at a consent page leads to, where the rules at `consent` may answer for the third party. */
  async decide(
    environment: Environment,
    connector: Connector,
    answer: AuthorizationAnswer,
    trace: RequestTrace,
  ): Promise<string> {
    const { link } = this.#surroundings.registry.byOauthState(answer.state) ?? {}
    const account = link && environment.model.tables.accounts.get(link.account_id)
    const fault = await consentFault(this.directory.of(environment), { connector, account, trace }, this.pauses)
    if (!fault) return decide(environment, connector, answer)
    return withQuery(answer.redirectUri, { ...fault, state: answer.state })
  }
}
