import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Express, Request, RequestHandler } from 'express'
import { type Route, ROUTES, servedRoutes } from '../../model/contract/route.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import { baseUrlOf } from '../../model/domain/request-headers.ts'
import { publicKey } from '../../model/domain/session-token.ts'
import type { ExtensionRoute } from './extensions.ts'
import { NodeRequest } from './node-request.ts'
import { runProxy, runRoute } from './pipeline.ts'
import { PROXY_PATHS, PROXY_ROUTE } from './proxy.ts'
import { replyTo } from './reply.ts'
import { refuseRequest, refuseUnexpected, unservedPath } from './refusal.ts'
import type { RequestContext, SentRequest } from './request-context.ts'
import type { ServiceParts } from './services.ts'

type PathHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  pathParameters: Readonly<Record<string, string>>,
) => void

/**
 * 405 for other methods (G8). @returns what answers every request: operations whose path has no parameter do not go
 * through Express, which would add 3 microseconds of CPU to the 29 of a GET.
 */
export function mountOperations(app: Express, services: ServiceParts): RequestListener {
  const served = servedRoutes(services)
  const direct = new Map<string, PathHandler>()
  for (const { path, mcp } of ROUTES)
    if (!served.some((route) => route.path === path)) app.route(expressPath(path)).all(unservedPath(services, mcp))
  // A parameter would take a custom verb that follows it.
  const paths = [...new Set(served.map((route) => route.path))].sort((a, b) => verbCount(b) - verbCount(a))
  for (const path of paths) {
    const handle = pathHandler(path, served, services)
    if (!path.includes('{')) direct.set(path, handle)
    else {
      app
        .route(expressPath(path))
        .all((request, response) => handle(request, response, request.params as Record<string, string>))
    }
  }
  const others: RequestListener = app
  return (request, response) => {
    const { url = '' } = request
    const end = url.search(/[?#]/)
    const handle = direct.get(end < 0 ? url : url.slice(0, end))
    if (handle) handle(request, response, NO_PARAMETERS)
    else others(request, response)
  }
}

/** Mounts the proxy on every path and method below `/proxy`, unless `--documented-only`. */
export function mountProxy(app: Express, services: ServiceParts): void {
  if (services.documentedOnly) {
    app.route(PROXY_PATHS).all(unservedPath(services))
    return
  }
  app.route(PROXY_PATHS).all((message, response) => {
    const request = new NodeRequest(message, response, NO_PARAMETERS)
    const context = { ...createContext(PROXY_ROUTE, request, services), request, rest: undefined }
    return runProxy(context, services)
  })
}

/** Mounts extensions on the paths that nothing else takes, 405 for other methods of them. */
export function mountExtensions(app: Express, services: ServiceParts): void {
  app.use((request, response, next) => {
    if (serveExtension(request, response, services)) return
    const allowed = withHead(services.extensions.methodsAt(urlPath(request))).join(', ')
    if (allowed === '') next()
    else {
      const error = methodNotAllowed(request.method, allowed)
      refuseRequest(request, response, { error, ids: 'operations' }, services)
    }
  })
}

/** Whether an extension takes a request; it is answered then. */
function serveExtension(message: IncomingMessage, response: ServerResponse, services: ServiceParts): boolean {
  const route = services.extensions.routeOf(message.method ?? '', urlPath(message))
  if (!route) return false
  serveRoute(route, new NodeRequest(message, response, NO_PARAMETERS), message, services)
  return true
}

/** Runs the pipeline of a request; what it throws is a defect of the mock. */
function serveRoute(
  route: Route | ExtensionRoute,
  request: NodeRequest,
  message: IncomingMessage,
  services: ServiceParts,
): void {
  const failed = (thrown: unknown): void =>
    refuseUnexpected(thrown, { request: message, response: request.response, services })
  try {
    runRoute(createContext(route, request, services), services)?.catch(failed)
  } catch (thrown) {
    failed(thrown)
  }
}

function urlPath({ url = '' }: IncomingMessage): string {
  return url.split(/[?#]/, 1).join()
}

function pathHandler(path: string, served: readonly Route[], services: ServiceParts): PathHandler {
  const byMethod = new Map<string, Route>()
  for (const route of served) if (route.path === path) byMethod.set(route.method, route)
  return (message, response, pathParameters) => {
    const { method = '' } = message
    // RFC 9110 9.3.2; Node.js leaves the body out.
    const route = byMethod.get(method === 'HEAD' ? 'GET' : method)
    if (!route) {
      if (serveExtension(message, response, services)) return
      const methods = [...byMethod.keys(), ...services.extensions.methodsAt(urlPath(message))]
      const allowed = withHead(methods).join(', ')
      const error = methodNotAllowed(method, allowed)
      refuseRequest(message, response, { error, ids: 'operations' }, services)
    } else serveRoute(route, new NodeRequest(message, response, pathParameters), message, services)
  }
}

/** HEAD is served where GET is. */
function withHead(methods: readonly string[]): string[] {
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}

/** The context of a request before the first step of the pipeline. `begun` is its entry, where it has one already. */
export function createContext<Served extends RequestContext['route']>(
  route: Served,
  request: SentRequest,
  { entries }: Pick<ServiceParts, 'entries'>,
  begun = entries.begin('request', 'operations', request.headers),
): RequestContext & { readonly route: Served } {
  const { kind, requestId, startedAt, trace } = begun
  return {
    request,
    route,
    kind,
    requestId,
    startedAt,
    trace,
    environment: undefined,
    client: undefined,
    readGuard: undefined,
    rawBody: NO_BODY,
    body: undefined,
    documentQuery: undefined,
    checked: undefined,
    reply: undefined,
    fault: undefined,
    error: undefined,
    responseViolations: NO_VIOLATIONS,
    wire: undefined,
    foreign: undefined,
    wireResponse: undefined,
  }
}

function methodNotAllowed(method: string, allowed: string): ServiceError {
  const text = `${method} is not served on this path; allowed is ${allowed}`
  return new ServiceError('METHOD_NOT_ALLOWED', text, { headers: { Allow: allowed } })
}

const METADATA_PATH = '/.well-known/oauth-authorization-server'

/** The metadata by which OAuth libraries find the token endpoint (RFC 8414); the service's document does not list it. */
export function mountOauthMetadata(app: Express, services: ServiceParts): void {
  if (services.documentedOnly) {
    app.route(METADATA_PATH).all(unservedPath(services))
    return
  }
  const responses = jsonResponder(services)
  const metadata = responses(200, (request) => {
    const issuer = baseUrlOf(request, services.baseUrl)
    return {
      issuer,
      token_endpoint: `${issuer}/oauth/token`,
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      response_types_supported: [],
      // The SDKs of MCP take no metadata without one.
      ...(servesMcp(services) && {
        authorization_endpoint: `${issuer}${AUTHORIZATION_PATH}`,
        jwks_uri: `${issuer}${KEYS_PATH}`,
      }),
    }
  })
  app.get(METADATA_PATH, metadata)
  app.route(METADATA_PATH).all((request, response) => {
    const error = methodNotAllowed(request.method, 'GET, HEAD')
    refuseRequest(request, response, { error, ids: 'pages' }, services)
  })
}

function jsonResponder(services: ServiceParts) {
  return (status: number, body: (request: Request) => object, headers: Record<string, string> = {}): RequestHandler =>
    (request, response) =>
      replyTo(services, request, response, {
        kind: 'page',
        ids: 'pages',
        handle: () => {
          const responseHeaders = { 'Content-Type': 'application/json', ...headers }
          return { wireResponse: { status, headers: responseHeaders, body: JSON.stringify(body(request)) } }
        },
      })
}

/** Whether any environment has virtual MCP servers (G61). */
function servesMcp({ mcp, documentedOnly, registry }: ServiceParts): boolean {
  return mcp || (!documentedOnly && registry.environments().some(({ settings }) => settings.virtual_mcp === true))
}

/** Passes a request on when there are virtual MCP servers; else the answer is 404. */
export function onlyWithMcp(services: ServiceParts): RequestHandler {
  const refuseIt = unservedPath(services, !services.documentedOnly)
  return (request, response, next) => {
    if (servesMcp(services)) next()
    else refuseIt(request, response, next)
  }
}

/** In front of the path of a virtual MCP server: its metadata (RFC 9728). */
export const PROTECTED_RESOURCE_PATH = '/.well-known/oauth-protected-resource'
const AUTHORIZATION_PATH = '/oauth/authorize'
const KEYS_PATH = '/keys'

/** Where to get a token, an authorization endpoint that gives none, and the public keys of session tokens (G61). */
export function mountMcpMetadata(app: Express, services: ServiceParts): void {
  const served = onlyWithMcp(services)
  // The answer to an unknown path names POST /oauth/token, which such a client looks for.
  const ifThereAreServers: RequestHandler = (_request, _response, next) =>
    next(servesMcp(services) ? undefined : 'route')
  const responses = jsonResponder(services)
  const protectedResource = responses(200, (request) => {
    const issuer = baseUrlOf(request, services.baseUrl)
    const resource = issuer + request.path.slice(PROTECTED_RESOURCE_PATH.length)
    return { resource, authorization_servers: [issuer], bearer_methods_supported: ['header'] }
  })
  const keys = responses(200, () => {
    const rows = services.registry.environments().flatMap(({ model }) => [...model.tables.mcp_keys.values()])
    return { keys: rows.map(publicKey) }
  })
  const error_description = 'no client gets a token here: send client_credentials to POST /oauth/token'
  const noToken = { error: 'unauthorized_client', error_description }
  app.get(`${PROTECTED_RESOURCE_PATH}/mcp/v3/:kind/:key`, served, protectedResource)
  app.get(KEYS_PATH, served, keys)
  app.get(
    AUTHORIZATION_PATH,
    ifThereAreServers,
    responses(400, () => noToken, { 'Cache-Control': 'no-store' }),
  )
}

const NO_BODY = Buffer.alloc(0)
const NO_PARAMETERS: Readonly<Record<string, string>> = Object.freeze({})
const NO_VIOLATIONS: readonly never[] = Object.freeze([])

function verbCount(path: string): number {
  return path.includes('}:') ? 1 : 0
}

/** Express would read `:delete` as a parameter, and braces as an optional part. */
function expressPath(path: string): string {
  return path.replaceAll(':', '\\:').replace(/\{(\w+)\}/g, ':$1')
}
