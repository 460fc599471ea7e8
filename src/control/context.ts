import type { Request, Response } from 'express'
import type { Authorizations } from '../magic-links/ports.ts'
import type { ContractReport, CoverageReport, PrismCheck } from '../documents/report-schemas.ts'
import type { DocumentChecks } from '../documents/connector-checks.ts'
import type { Ids, ThirdParty } from '../domain/ports.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import type { Environments } from '../environments/environments.ts'
import type { Journals } from '../request-journal/journals.ts'
import type { EnvironmentScenarios } from '../scenarios/scenarios.ts'
import type { Environment } from '../state/environment.ts'
import type { StoredEnvironment } from '../state/stored-environment.ts'
import type { EnvironmentRegistry } from '../state/environment-registry.ts'
import type { ReportFormat } from '../verdict/formats/format.ts'
import type { AdmissionRules } from './admission.ts'
import type { SentBody } from './body.ts'

/** What the server can say about its clients; made when somebody asks. */
export interface Reports {
  /** Of one environment, or of all of them. */
  contract(environment?: string): Promise<ContractReport>
  coverage(environment?: string): Promise<CoverageReport>
  /** What Prism says otherwise of the exchanges that the journals keep; the first time, Prism is loaded. */
  prismCheck(environment?: string): Promise<PrismCheck>
  /** Both, in another format. */
  rendered(format: ReportFormat, environment?: string): Promise<{ readonly text: string; readonly type: string }>
  /** The environments that a report can be about, those that are gone included. */
  names(): ReadonlySet<string>
  /** An environment is gone; its record stays. */
  removed(environment: Environment): void
  /** The record begins anew. */
  clear(environment?: string): void
}

/** What the control API needs of its server. */
export interface ControlContext {
  readonly version: string
  /** Whether the seed has been applied. */
  ready(): boolean
  readonly registry: EnvironmentRegistry
  readonly environments: Environments
  readonly journals: Journals
  scenarios(environment: Environment): EnvironmentScenarios
  /** The third parties of an environment; calls are noted in the trace. */
  thirdParty(environment: Environment, trace: RequestTrace): ThirdParty
  readonly authorizations: Authorizations
  readonly reports: Reports
  readonly documents: DocumentChecks
  readonly admission: AdmissionRules
  /** What links are built on: where a browser reaches the mock. */
  baseUrl(request: Request): string
  /** Where the caller reaches the mock; in another container, that is no address for a browser. */
  address(request: Request): string
  readBody(request: Request, response: Response): Promise<Buffer>
  /** For entries of the journal, which are no entities of an environment. */
  readonly ids: Ids
  /** Real time in milliseconds. */
  readonly realTime: () => number
  /** Aborted when the server stops: whoever waits or watches is let go. */
  readonly closing: AbortSignal
  /** A failure that nobody expected. */
  failed(what: string, error: unknown): void
}

/** One call of the control API that is about the server, once it has been admitted and read. */
export interface ServerCall {
  readonly context: ControlContext
  readonly request: Request
  readonly response: Response
  /** The parts of the path in braces, decoded. */
  readonly path: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Undefined when there is none. */
  readonly body: SentBody | undefined
}

/** One call that is about an environment. */
export interface ControlCall extends ServerCall {
  /** The one that `?environment=` names. */
  readonly environment: StoredEnvironment
  /** What the call causes, for the journal. */
  readonly trace: RequestTrace
}

/** What a call answers: JSON, or a text; undefined when the handler has answered by itself. */
export type ControlReply =
  | { readonly status: number; readonly body: unknown }
  | { readonly status: number; readonly text: string; readonly type: string }
  | undefined

interface RouteLine {
  /** The `operationId` in `spec/control.openapi.yaml`. */
  readonly operation: string
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Below `/_mock`, with parts in braces. */
  readonly path: string
  /** Query parameters beside `environment`; `any` leaves them to the handler. */
  readonly query?: readonly string[] | 'any'
  readonly body?: 'required' | 'optional'
}

/** A route where `?environment=` has no meaning. */
export interface ServerRoute extends RouteLine {
  readonly about: 'server'
  readonly handle: (call: ServerCall) => ControlReply | Promise<ControlReply>
  /** Set where nobody is refused. */
  readonly open?: true
}

export interface EnvironmentRoute extends RouteLine {
  readonly about: 'environment'
  readonly handle: (call: ControlCall) => ControlReply | Promise<ControlReply>
}

/** One line of the table of routes. */
export type ControlRoute = ServerRoute | EnvironmentRoute
