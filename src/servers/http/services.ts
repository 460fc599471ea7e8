import type { FieldViolation } from '../../model/domain/errors.ts'
import type { JsonValue } from '../../model/domain/json.ts'
import type { ContractUseSink } from '../../model/contract/contract-use.ts'
import type { ToolSchemas } from '../../model/contract/tool-schemas.ts'
import type { Extension, ExtensionResponse, ExtensionRequest } from '../../model/domain/extension.ts'
import type { ThirdParty } from '../../model/domain/ports.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import type { OperationTable } from '../../service/operations/table.ts'
import type { Journals } from '../../journal/request-journal/journal.ts'
import type { RequestEntries } from '../../journal/request-journal/request-entries.ts'
import type { ScenarioRegistry } from '../../scenarios/environment-scenarios.ts'
import type { Pauses } from '../../scenarios/pauses.ts'
import type { Environment } from '../../state/environment.ts'
import type { EnvironmentRegistry } from '../../state/environment-registry.ts'
import type { EnvironmentProvisioner } from '../../state/provisioning.ts'
import type { ResponseCache } from './wire-response.ts'
import type { Extensions } from './extensions.ts'
import type { Log } from './log.ts'

/** A request in the words of the wire, which are those of the client's descriptors. */
export interface WireRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: JsonValue | undefined
  /** `acme.tools.v1.Tools/ExecuteTool`; undefined for a request of HTTP. */
  readonly rpc: string | undefined
}

/** A rule that a request breaks; its constraint is the id that the library gives it. */
export interface BrokenRule extends FieldViolation {
  readonly constraint: `buf.validate.${string}`
}

/** What the rules of the client's descriptors forbid of a request (G70). */
export type DescriptorRules = (request: WireRequest) => readonly BrokenRule[]

/** What every request of the service needs of the server, over HTTP as over gRPC. */
export interface ServiceParts {
  readonly registry: EnvironmentRegistry
  /** Makes environments from seeds or for client ids, resets and removes them (1.2). */
  readonly environments: EnvironmentProvisioner
  /** The environment of calls that name none; undefined until the seed is applied. */
  readonly defaultEnvironment: () => Environment | undefined
  readonly operations: OperationTable
  /** The service's client for one environment; calls are noted in the trace of the request that causes them. */
  readonly thirdParties: {
    client(environment: Environment, trace?: RequestTrace): ThirdParty
    respondByExtension(
      environment: Environment,
      extension: Extension,
      request: ExtensionRequest,
    ): ExtensionResponse | Promise<ExtensionResponse>
  }
  readonly extensions: Extensions
  readonly scenarios: ScenarioRegistry
  readonly pauses: Pauses
  readonly toolSchemas: ToolSchemas
  readonly responseCache: ResponseCache
  readonly journals: Journals
  /** By the name of an environment; empty for requests of none. */
  readonly records: { of(environment: string): ContractUseSink }
  readonly entries: RequestEntries
  /** Largest body of an operation in bytes (G7). */
  readonly bodyLimit: number
  /** What links and redirects are built on; from each request when absent. */
  readonly baseUrl: string | undefined
  /** Whether unknown query parameters and body fields are violations (`--strict`, G6). */
  readonly strict: boolean
  /** Whether only what the service's document lists is served (`--documented-only`). */
  readonly documentedOnly: boolean
  /** Whether every environment has virtual MCP servers (`--mcp`, G61). */
  readonly mcp: boolean
  /** The rules of the client's descriptors; set where there are descriptors that have any (G70). */
  descriptorRules?: DescriptorRules | undefined
  readonly log: Log
  readonly realTime: () => number
  /** Aborted when the server closes: long polls and event streams end. */
  readonly closing: AbortSignal
}
