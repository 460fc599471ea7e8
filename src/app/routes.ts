import type { RequestListener } from 'node:http'
import type { AppServices } from '../servers/control/app-services.ts'
import { homePage } from '../servers/control/home.ts'
import { controlRoutes } from '../servers/control/routes.ts'
import type { ExpressApp } from '../servers/http/server.ts'
import { hostError, refuseRequest, unexpectedError, unknownPath } from '../servers/http/refusal.ts'
import { replyTo } from '../servers/http/reply.ts'
import {
  mountExtensions,
  mountMcpMetadata,
  mountOauthMetadata,
  mountOperations,
  mountProxy,
  onlyWithMcp,
} from '../servers/http/routes.ts'
import { lazyImport } from '../model/domain/once.ts'
import { magicLinkRoutes, pageRoute } from '../servers/magic-links/routes.ts'
import { MCP_CONNECTIONS } from '../service/operations/connections.ts'
import { MCP_SERVERS } from '../service/operations/mcp-configs.ts'
import { MCP_INSTANCES } from '../service/operations/mcp-instances.ts'
import type { Rpc } from '../servers/rpc/rpc.ts'
import { type DirectRoute, directApiRoutes } from '../service/third-party/direct-api.ts'
import { authorizeRoutes } from '../service/third-party/authorize.ts'

/** Mounts all routes of the server, in the order in which they are tried. @returns what answers every request */
export function mountRoutes(app: ExpressApp, services: AppServices, rpc: Rpc | undefined): RequestListener {
  const listener = mountOperations(app, services)
  mountProxy(app, services)
  app.use('/_mock', controlRoutes(services))
  app.use('/third-party', authorizeRoutes(services, pageRoute(services)))
  app.use(magicLinkRoutes(services))
  mountMcp(app, services)
  mountOauthMetadata(app, services)
  if (rpc) {
    app.use((request, response, next) => {
      if (!rpc.handle(request, response)) next()
    })
  }
  app.get('/', homePage(services))
  app.use('/third-party', directApiRoutes(services, directRoute(services)))
  mountExtensions(app, services)
  app.use(unknownPath(services))
  app.use(unexpectedError(services))
  return (request, response) => {
    const error = hostError(request)
    if (error) refuseRequest(request, response, { error, ids: 'control' }, services)
    else listener(request, response)
  }
}

/** The calls of fake applications by other programs than the service. */
function directRoute(services: AppServices): DirectRoute {
  return (handle) => (request, response) =>
    replyTo(services, request, response, {
      kind: 'third_party',
      ids: 'pages',
      handle: async (call) => (await handle(request, response, call)) ?? { wireResponse: undefined },
    })
}

/** The virtual MCP servers (G61). Nothing of them is loaded before the first request to one. */
function mountMcp(app: ExpressApp, services: AppServices): void {
  mountMcpMetadata(app, services)
  const load = lazyImport(async () => new (await import('../servers/mcp/virtual-servers.ts')).VirtualServers(services))
  for (const [kind, place] of [
    ['connections', MCP_CONNECTIONS],
    ['servers', MCP_SERVERS],
    ['instances', MCP_INSTANCES],
  ] as const) {
    app.route(`${place}/:key`).all(onlyWithMcp(services), async (request, response) => {
      await (await load()).serve(request, response, { path: request.path, kind, key: request.params.key })
    })
  }
}
