import type { ObservedExchange } from './contract/observed-exchange.ts'
import type { ToolSchemas } from './contract/tool-schemas.ts'
import type { Client } from './domain/client.ts'
import type { ThirdParty } from './domain/ports.ts'
import type { RequestTrace } from './domain/request-trace.ts'
import type { Vocabularies } from './domain/vocabulary.ts'
import type { Journals } from './request-journal/journals.ts'
import type { OperationTable } from './operations/table.ts'
import type { Pauses } from './scenarios/pauses.ts'
import type { EnvironmentScenarios } from './scenarios/scenarios.ts'
import type { Environment } from './state/environment.ts'
import type { EnvironmentRegistry } from './state/environment-registry.ts'
import type { ContractRecords } from './verdict/records.ts'
import type { BodyReader } from './http/body.ts'
import type { RequestContext } from './http/request-context.ts'
import type { ResponseCache } from './http/cached-responses.ts'
import type { Log } from './http/log.ts'

/** What the steps of the request pipeline share: the environment registry and the settings of one server. */
export interface AppServices {
  readonly registry: EnvironmentRegistry
  /** The environment that a client id pattern makes for a client id that nobody has yet; undefined when none fits (1.2). */
  readonly arrive: (
    clientId: string,
    secret: string,
  ) => Promise<{ readonly environment: Environment; readonly client: Client } | undefined>
  /** The third parties of an environment; calls are noted in the trace. */
  readonly thirdParty: (environment: Environment, trace: RequestTrace) => ThirdParty
  /** What answers each operation. */
  readonly operations: OperationTable
  readonly toolSchemas: ToolSchemas
  readonly cacheable: ResponseCache
  readonly journals: Journals
  /** What clients did, held against the contract. */
  readonly records: ContractRecords
  /** Whose journal takes what belongs to no other environment. */
  readonly defaultEnvironment: () => Environment | undefined
  readonly vocabularies: Vocabularies
  readonly scenarios: (environment: Environment) => EnvironmentScenarios
  /** Where faults wait. */
  readonly pauses: Pauses
  readonly readBody: BodyReader
  readonly log: Log
  /** Real time in milliseconds. */
  readonly realTime: () => number
  readonly baseUrl: string | undefined
  readonly strict: boolean
  /** Sees every exchange once it is over. */
  readonly observe: ((context: ObservedExchange) => void) | undefined
}

/** One step: it finds something out and notes it in the exchange, or throws what the caller is to be told. */
export type Step = (context: RequestContext, services: AppServices) => Promise<void> | void
