import type { Request, Response } from 'express'
import type { AppServices } from '../app-services.ts'
import type { DocumentChecks } from '../documents/connector-checks.ts'
import type { Ids, ThirdParty } from '../domain/ports.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import type { Environments } from '../environments/environments.ts'
import { readBody } from '../http/body.ts'
import { addressOf, baseUrlOf } from '../http/request-identity.ts'
import type { Journals } from '../request-journal/journal.ts'
import type { EnvironmentScenarios } from '../scenarios/scenarios.ts'
import type { Environment } from '../state/environment.ts'
import type { StoredEnvironment } from '../state/stored-environment.ts'
import type { EnvironmentRegistry } from '../state/environment-registry.ts'
import type { Reports } from '../verdict/report-service.ts'
import type { AdmissionRules } from './admission.ts'
import type { SentBody } from './body.ts'

/** What the control API needs of its server. */
export interface ControlContext {
  readonly services: AppServices
  readonly version: string
  /** Whether the seed has been applied. */
  ready(): boolean
  readonly registry: EnvironmentRegistry
  readonly environments: Environments
  readonly journals: Journals
  scenarios(environment: Environment): EnvironmentScenarios
  /** The third parties of an environment; calls are noted in the trace. */
  thirdParty(environment: Environment, trace: RequestTrace): ThirdParty
  readonly reports: Reports
  readonly documents: DocumentChecks
  readonly admission: AdmissionRules
  /** What links are built on: where a browser reaches the mock. */
  baseUrl(request: Request): string
  /** Where the caller reaches the mock; in another container, that is no address for a browser. */
  address(request: Request): string
  readBody(request: Request): Promise<Buffer>
  /** For entries of the journal, which are no entities of an environment. */
  readonly ids: Ids
  /** Real time in milliseconds. */
  readonly realTime: () => number
  /** Aborted when the server stops: whoever waits or watches is let go. */
  readonly closing: AbortSignal
  /** A failure that nobody expected. */
  failed(what: string, error: unknown): void
}

export function controlContext(services: AppServices): ControlContext {
  const { thirdParties, scenarios, requestIds, baseUrl, controlBodyLimit, log } = services
  return {
    ...services,
    services,
    ready: () => services.defaultEnvironment() !== undefined,
    scenarios: (environment) => scenarios.of(environment),
    thirdParty: (environment, trace) => thirdParties.client(environment, trace),
    documents: services.documentChecks,
    baseUrl: (request) => baseUrlOf(request, baseUrl),
    address: (request) => addressOf(request, baseUrl),
    readBody: (request) => readBody(request, controlBodyLimit),
    ids: requestIds.control,
    failed: (what, error) =>
      log.error('a call of the control API failed', {
        call: what,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  }
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
