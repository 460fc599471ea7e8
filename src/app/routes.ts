import type { RequestListener, ServerResponse } from 'node:http'
import type { AppServices } from '../control/app-services.ts'
import { home } from '../control/home.ts'
import { controlRoutes } from '../control/routes.ts'
import type { ExpressApp } from '../http/server.ts'
import { recordPages } from '../request-journal/page-journal.ts'
import { hostError, refuse, unexpectedError, unknownPath } from '../http/refusal.ts'
import { holdAnswer } from '../http/held-answers.ts'
import {
  mountExtensions,
  mountMcpMetadata,
  mountOauthMetadata,
  mountOperations,
  mountProxy,
  onlyWithMcp,
  setRequestId,
} from '../http/routes.ts'
import { lazyImport } from '../domain/once.ts'
import { holdPages, magicLinkRoutes, showProblem } from '../magic-links/routes.ts'
import { MCP_CONNECTIONS } from '../operations/connections.ts'
import { MCP_SERVERS } from '../operations/mcp-configs.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { directApiRoutes } from '../third-party/direct-api.ts'
import { authorizeRoutes } from '../third-party/authorize.ts'

const PAGES = ['/magic/:id', '/connect/callback', '/connect/success']

/** Mounts all routes of the server, in the order in which they are tried. @returns what answers every request */
export function mountRoutes(app: ExpressApp, services: AppServices, rpc: Rpc | undefined): RequestListener {
  // An answer waits until it is durable: in the pipeline, in a call of the control API, or held back.
  const hold = (response: ServerResponse): void => void holdAnswer(response, services.registry)
  const listener = mountOperations(app, services)
  mountProxy(app, services)
  app.use('/_mock', setRequestId(services.requestIds.control), controlRoutes(services))
  const page = [setRequestId(services.requestIds.pages), recordPages(services), holdPages(services)]
  app.all(PAGES, page)
  app.route('/third-party/:connector/authorize').get(page).post(page)
  app.use('/third-party', authorizeRoutes(services), showProblem)
  app.use(magicLinkRoutes(services))
  mountMcp(app, services)
  mountOauthMetadata(app, services)
  if (rpc) {
    app.use((request, response, next) => {
      if (!rpc.handle(request, response)) next()
    })
  }
  app.get('/', setRequestId(services.requestIds.control), home(services))
  app.use(setRequestId(services.requestIds.pages))
  app.use('/third-party', directApiRoutes(services, hold))
  mountExtensions(app, services)
  app.use(unknownPath(services))
  app.use(unexpectedError(services))
  return (request, response) => {
    const error = hostError(request)
    if (error) refuse(request, response, { error, ids: services.requestIds.control }, services)
    else listener(request, response)
  }
}

/** The virtual MCP servers (G61). Nothing of them is loaded before the first request to one. */
function mountMcp(app: ExpressApp, services: AppServices): void {
  mountMcpMetadata(app, services)
  const load = lazyImport(async () => new (await import('../mcp/virtual-servers.ts')).VirtualServers(services))
  for (const [kind, place] of [
    ['connections', MCP_CONNECTIONS],
    ['servers', MCP_SERVERS],
  ] as const) {
    app.route(`${place}/:key`).all(onlyWithMcp(services), async (request, response) => {
      await (await load()).serve(request, response, { path: request.path, kind, key: request.params.key })
    })
  }
}
