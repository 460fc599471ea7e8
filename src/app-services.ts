import type { ObservedExchange } from './contract/observed-exchange.ts'
import type { ToolSchemas } from './contract/tool-schemas.ts'
import type { AdmissionRules } from './control/admission.ts'
import type { DocumentChecks } from './documents/connector-checks.ts'
import type { Ids } from './domain/ports.ts'
import type { Log } from './http/log.ts'
import type { ResponseCache } from './http/answer.ts'
import type { OperationTable } from './operations/table.ts'
import type { RecordedEntry } from './request-journal/entry.ts'
import type { Journals } from './request-journal/journal.ts'
import type { ScenarioRegistry } from './scenarios/environment-scenarios.ts'
import type { Pauses } from './scenarios/pauses.ts'
import type { Environment } from './state/environment.ts'
import type { EnvironmentRegistry } from './state/environment-registry.ts'
import type { EnvironmentProvisioner } from './state/provisioning.ts'
import type { ThirdParties } from './third-party/client.ts'
import type { ContractRecords } from './verdict/contract-record.ts'
import type { Reports } from './verdict/reports.ts'

/**
 * What handlers of every kind of request share: operations, pages, third parties and the control API of one server. It is
 * made in `app/app.ts`. This file has types only, so every module may import it.
 */
export interface AppServices {
  readonly version: string
  /** The environments, and how their state is stored. */
  readonly registry: EnvironmentRegistry
  /** Makes environments from seeds or for client ids, resets and removes them (1.2). */
  readonly environments: EnvironmentProvisioner
  /** The environment of calls that name none; undefined until the seed is applied. */
  readonly defaultEnvironment: () => Environment | undefined
  readonly operations: OperationTable
  readonly thirdParties: ThirdParties
  readonly scenarios: ScenarioRegistry
  /** The waits of faults, which end when the server closes. */
  readonly pauses: Pauses
  readonly toolSchemas: ToolSchemas
  readonly responseCache: ResponseCache
  /** The request journals, one for each environment. */
  readonly journals: Journals
  /** How clients used the contract. */
  readonly records: ContractRecords
  readonly reports: Reports
  /** What seeds, connectors and scenarios are checked with. */
  readonly documentChecks: DocumentChecks
  /** Who may use the control API. */
  readonly admission: AdmissionRules
  /** For `X-Request-Id` (G18). Those of operations and pages repeat with `--id-seed`. */
  readonly requestIds: { readonly operations: Ids; readonly pages: Ids; readonly control: Ids }
  /** Largest body of an operation in bytes (G7). */
  readonly bodyLimit: number
  /** Largest body of a control call in bytes. */
  readonly controlBodyLimit: number
  /** Largest state in bytes that can be got, and put back. */
  readonly stateLimit: number
  /** What links and redirects are built on; from each request when absent. */
  readonly baseUrl: string | undefined
  /** Whether unknown query parameters and body fields are violations (`--strict`, G6). */
  readonly strict: boolean
  /** Whether only what the service's document lists is served (`--documented-only`). */
  readonly documentedOnly: boolean
  readonly log: Log
  /** Real time in milliseconds. */
  readonly realTime: () => number
  /** Called for every exchange with an operation once it is over. */
  readonly observe: ((exchange: ObservedExchange) => void) | undefined
  /** Sees every call of the control API once it is over. */
  readonly observeControl: ((entry: RecordedEntry) => void) | undefined
  /** The event streams that are open, and how many may be. */
  readonly eventStreams: { readonly open: Set<object>; readonly most: number }
  /** Aborted when the server closes: long polls and event streams end. */
  readonly closing: AbortSignal
}
