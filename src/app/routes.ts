import type { Authorizations } from '../magic-links/ports.ts'
import { connectRoutes } from '../magic-links/routes.ts'
import { controlContext } from './control.ts'
import type { Reports } from '../control/context.ts'
import { controlRoutes } from '../control/routes.ts'
import type { Environments } from '../environments/environments.ts'
import type { ExpressApp } from '../http/fast-express.ts'
import { PageJournal } from '../http/page-journal.ts'
import { baseUrlOf } from '../http/request-identity.ts'
import { mountOperations, requestIds, unexpectedError, unknownPath } from '../http/routes.ts'
import type { AppServices } from '../app-services.ts'
import { applyDueEvents } from '../operations/due.ts'
import type { ScenarioJoint } from './scenarios.ts'
import type { AppOptions } from './options.ts'
import { RandomIds, serverIds } from '../state/model/ids.ts'
import { authorizeRouter } from '../third-party/authorize.ts'
import { authorizeUrl } from '../third-party/consent.ts'

/** What the doors need beside the request pipeline. */
export interface BehindTheDoors {
  readonly environments: Environments
  readonly scenarios: ScenarioJoint
  readonly reports: Reports
  readonly options: AppOptions
  /** Aborted when the server closes: whoever waits or watches goes. */
  readonly closing: AbortSignal
}

/** Every door of the house, in the order in which they are tried. */
export function mountDoors(app: ExpressApp, services: AppServices, behind: BehindTheDoors): void {
  const { scenarios, options } = behind
  const authorizations: Authorizations = { authorizeUrl, decide: (...asked) => scenarios.decide(...asked) }
  const ids = serverIds('requests of pages', options.idSeed)
  const controlIds = new RandomIds()
  const pages = new PageJournal(services, ids)
  mountOperations(app, services, serverIds('requests of operations', options.idSeed))
  const context = controlContext({ services, authorizations, ids: controlIds, ...behind })
  app.use('/_mock', requestIds(controlIds), controlRoutes(context))
  app.use(requestIds(ids))
  app.use(['/magic', '/connect', '/third-party'], pages.begin)
  app.use('/third-party', thirdPartyDoor(services, scenarios, pages))
  app.use(connectDoor(services, authorizations, pages))
  app.use(unknownPath(services, ids))
  app.use(unexpectedError(services, ids))
}

/** The third parties' authorize endpoints. */
function thirdPartyDoor({ registry, baseUrl }: AppServices, scenarios: ScenarioJoint, pages: PageJournal) {
  return authorizeRouter({
    environment: (name) => registry.environment(name),
    visited: (request, environment, form) => void pages.visited(request, environment, form),
    failed: (request, { code, message }) => pages.failed(request, code, message),
    decide: async (request, { environment, connector }, answer) => {
      const decided = await scenarios.decide(environment, connector, answer, pages.visited(request, environment))
      await registry.durable()
      return decided
    },
    baseUrl: (request) => baseUrlOf(request, baseUrl),
  })
}

/** Magic links and the way back from the third party. */
function connectDoor(
  { registry, thirdParty, baseUrl }: AppServices,
  authorizations: Authorizations,
  pages: PageJournal,
) {
  return connectRoutes({
    findLink: (id) => registry.byMagicLink(id),
    findOauthState: (state) => registry.byOauthState(state),
    thirdParty,
    authorizations,
    baseUrl: (request) => baseUrlOf(request, baseUrl),
    trace: (request, environment) => pages.visited(request, environment),
    failed: (request, code, message) => pages.failed(request, code, message),
    settle: (environment, trace) => void applyDueEvents(environment, trace),
    durable: () => registry.durable(),
  })
}
