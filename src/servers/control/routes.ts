import { jsonText } from '../../model/domain/json.ts'
import type { ServerResponse } from 'node:http'
import type { Request, RequestHandler, Response } from 'express'
import { CONTROL_ROUTES } from '../../model/contract/generated/control-routes.ts'
import { matchPath, pathParts } from '../../model/domain/path-pattern.ts'
import { nearest } from '../../model/domain/suggestion.ts'
import { hasBody } from '../http/body.ts'
import { sendResponse } from '../http/wire-response.ts'
import { lazyImport } from '../../model/domain/once.ts'
import { storedEntry } from '../../journal/request-journal/journal.ts'
import type { OpenEntry } from '../../journal/request-journal/request-entries.ts'
import { admitRequest } from './admission.ts'
import type { AppServices } from './app-services.ts'
import { type ControlReply, endCall } from './call.ts'
import { ControlError, failedCall, pathNotFound, shownPath } from './errors.ts'
import { PROBES } from './probes.ts'

const loadResponses = lazyImport(() => import('./responses.ts'))
const loadDashboard = lazyImport(() => import('./dashboard.ts'))

/** The dashboard is a page and no part of the control API, which feeds it. */
const DASHBOARD_PATHS = [
  '/ui',
  ...['app.js', 'editor.js', 'stream.js', 'style.css', 'icon.svg', 'geist.woff2', 'geist-mono.woff2'].map(
    (name) => `/ui/${name}`,
  ),
]

/** These say nothing of what a commit changes, and a server that lets a probe wait is started again. */
const PROBE_PATHS = ['/health', '/ready']

const KNOWN_PATHS: ReadonlySet<string> = new Set(['/ui', ...CONTROL_ROUTES.map(({ path }) => path)])

/** The control API under `/_mock`. No answer has a CORS header: pages of other origins cannot read it. */
export function controlRoutes(services: AppServices): RequestHandler {
  return async (request, response) => {
    const entry = services.entries.begin('control', 'control', request.headers)
    response.setHeader('X-Request-Id', entry.requestId)
    // An answer can quote the request, and must not be taken for a page.
    response.setHeader('X-Content-Type-Options', 'nosniff')
    if (services.observeControl) observeCall(services, services.observeControl, request, response)
    const fail = (error: unknown): ControlError =>
      failedCall(services, `${request.method} /_mock${request.path}`, error)
    const reply = routeRequest(services, request, response, entry)
    const send = (reply: ControlReply): void => sendReply(response, reply)
    if (PROBE_PATHS.includes(request.path)) send(await reply.catch(fail))
    else await endCall(services, entry, reply, fail, send)
  }
}

async function routeRequest(
  services: AppServices,
  request: Request,
  response: Response,
  entry: OpenEntry,
): Promise<ControlReply> {
  const { path } = request
  // A HEAD is a GET whose body Node.js leaves out.
  const method = request.method === 'HEAD' ? 'GET' : request.method
  if (method === 'GET' && DASHBOARD_PATHS.includes(path)) {
    // A browser opens the page without the admin token. The page asks for it: nothing can be read or changed without.
    if (services.admission.adminToken === undefined) admitRequest(request, services.admission)
    const { dashboardResponse } = await loadDashboard()
    return { wireResponse: await dashboardResponse(request) }
  }
  const parts = pathParts(path) ?? []
  const served = CONTROL_ROUTES.filter((each) => each.method === method)
  // Most calls name a path without a parameter.
  const route = served.find((each) => each.path === path) ?? served.find((each) => matchPath(each.path, parts))
  if (!route?.open) admitRequest(request, services.admission)
  if (!route) throw notServed(request, parts)
  // Asked for health or readiness alone, a server loads no more: zod would make an idle one 10 MB larger.
  if (route.open && !request.url.includes('?') && !hasBody(request)) return PROBES[route.operation]({ services })
  const { controlResponse } = await loadResponses()
  return controlResponse(services, route, matchPath(route.path, parts) ?? {}, { request, response, entry })
}

/** Calls `observe` once the answer of a call is sent, with the time of the environment that it is about. */
function observeCall(
  { registry, realTime }: AppServices,
  observe: NonNullable<AppServices['observeControl']>,
  { originalUrl: url, method }: Request,
  response: Response,
): void {
  const startedAt = realTime()
  response.once('close', () => {
    const name = new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('environment') ?? 'default'
    const { statusCode: status } = response
    const call = { kind: 'control', id: '', environment: undefined, startedAt, method, url, status } as const
    observe(storedEntry(call, { environment: registry.environment(name), realAt: realTime(), requestHeaders: [] }))
  })
}

function notServed({ method, path }: Request, parts: readonly string[]): ControlError {
  const routes = CONTROL_ROUTES.filter((route) => matchPath(route.path, parts))
  if (routes.length === 0) return pathNotFound(path, nearest(path, KNOWN_PATHS))
  const methods: string[] = routes.map((route) => route.method)
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
  const message = `${method} is not served on ${shownPath(path)}; allowed: ${allow}`
  return new ControlError('METHOD_NOT_ALLOWED', message, [], { Allow: allow })
}

export function sendReply(response: ServerResponse, reply: ControlReply): void {
  if ('stream' in reply) {
    reply.stream()
    return
  }
  if ('wireResponse' in reply) {
    sendResponse(response, reply.wireResponse)
    return
  }
  const [text, type] = 'text' in reply ? [reply.text, reply.type] : [`${jsonText(reply.body)}\n`, 'application/json']
  const status = reply.status ?? 200
  const headers = {
    'Content-Type': type,
    'Content-Length': String(Buffer.byteLength(text)),
    'Cache-Control': 'no-store',
    ...reply.headers,
  }
  sendResponse(response, { status, headers, body: text })
}
