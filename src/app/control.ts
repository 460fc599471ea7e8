import type { Authorizations } from '../magic-links/ports.ts'
import type { ControlContext, Reports } from '../control/context.ts'
import { documentChecks } from './document-checks.ts'
import type { Ids } from '../domain/ports.ts'
import type { Environments } from '../environments/environments.ts'
import { createBodyReader } from '../http/body.ts'
import { baseUrlOf } from '../http/request-identity.ts'
import type { AppServices } from '../app-services.ts'
import type { ScenarioJoint } from './scenarios.ts'
import type { AdmissionRules } from '../control/admission.ts'
import { VERSION } from '../version.ts'

interface Surroundings {
  readonly services: AppServices
  readonly environments: Environments
  readonly scenarios: ScenarioJoint
  readonly authorizations: Authorizations
  readonly reports: Reports
  readonly ids: Ids
  readonly options: AdmissionRules & {
    readonly bodyLimit?: number | undefined
    readonly allowOutbound?: boolean | undefined
  }
  /** Aborted when the server stops. */
  readonly closing: AbortSignal
}

/** Whole states are larger than what the service takes. */
const BODY_LIMIT = 64 * 1024 * 1024

/** Joins the control API to everything that it steers. */
export function controlContext(surroundings: Surroundings): ControlContext {
  const { services, environments, scenarios, authorizations, reports, ids, options, closing } = surroundings
  const { registry, journals, thirdParty, realTime, log, defaultEnvironment } = services
  return {
    version: VERSION,
    ready: () => defaultEnvironment() !== undefined,
    registry,
    environments,
    journals,
    scenarios: (environment) => scenarios.directory.of(environment),
    thirdParty,
    authorizations,
    reports,
    documents: documentChecks(options.allowOutbound),
    admission: options,
    baseUrl: (request) => baseUrlOf(request, options.baseUrl),
    address: (request) => addressOf(baseUrlOf(request, undefined), options.baseUrl),
    readBody: createBodyReader(options.bodyLimit ?? BODY_LIMIT),
    ids,
    realTime,
    closing,
    failed: (what, error) =>
      log.error('a call of the control API failed', {
        call: what,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  }
}

/** The configured base URL knows more (a path, the scheme of a proxy), when it is of the host that the caller used. */
function addressOf(used: string, baseUrl: string | undefined): string {
  const configured = baseUrl !== undefined && URL.canParse(baseUrl) ? baseUrl.replace(/\/+$/, '') : used
  return URL.canParse(used) && new URL(configured).host === new URL(used).host ? configured : used
}
