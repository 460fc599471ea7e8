import type { ServerResponse } from 'node:http'
import type { Request, RequestHandler, Response } from 'express'
import type { AppServices } from './app-services.ts'
import type { ControlCall } from '../contract/control-call.ts'
import { CONTROL_ROUTES } from '../contract/generated/control-routes.ts'
import type { JsonObject } from '../domain/json.ts'
import { matchPath, pathParts } from '../domain/path-pattern.ts'
import { RequestTrace } from '../domain/request-trace.ts'
import { quote } from '../domain/text.ts'
import { hasBody } from '../http/body.ts'
import { sendAnswer } from '../http/answer.ts'
import { applyDueEvents } from '../state/account-events.ts'
import { recordedEntry } from '../request-journal/journal.ts'
import { accountHandlers } from './accounts.ts'
import { admit } from './admission.ts'
import {
  environmentNamed,
  type ControlHandler,
  type ControlHandlers,
  type ControlReply,
  type ServerCall,
} from './call.ts'
import { clockHandlers } from './clock.ts'
import { collectionHandlers } from './collections.ts'
import { environmentHandlers } from './environments.ts'
import { lazyImport } from '../lazy-import.ts'
import { ControlError, controlErrorOf } from './errors.ts'
import type { ControlOperation, ControlRoute } from './input.ts'
import { linkHandlers } from './links.ts'
import { callMcp } from './mcp.ts'
import { reportHandlers } from './reports.ts'
import { requestHandlers } from './requests.ts'
import { scenarioHandlers } from './scenarios.ts'
import { serverHandlers } from './server.ts'
import { stateHandlers } from './state.ts'
import { webhookHandlers } from './webhooks.ts'

const loadInput = lazyImport(() => import('./input.ts'))
const loadDashboard = lazyImport(() => import('./dashboard.ts'))

/** What answers each operation of `spec/control.openapi.yaml`, which has the methods and paths. */
const HANDLERS: ControlHandlers = {
  ...accountHandlers,
  ...clockHandlers,
  ...collectionHandlers,
  ...environmentHandlers,
  ...linkHandlers,
  ...reportHandlers,
  ...requestHandlers,
  ...scenarioHandlers,
  ...serverHandlers,
  ...stateHandlers,
  ...webhookHandlers,
  call_mcp: (call) => callMcp(call, callFrom(call)),
}

/** The dashboard is a page and no part of the control API, which feeds it. */
const DASHBOARD_PATHS = ['/ui', '/ui/app.js', '/ui/on-demand.js', '/ui/editor.js', '/ui/style.css']

/** The control API under `/_mock`. No answer has a CORS header: pages of other origins cannot read it. */
export function controlRoutes(services: AppServices): RequestHandler {
  return async (request, response) => {
    // An answer can quote the request, and must not be taken for a page.
    response.setHeader('X-Content-Type-Options', 'nosniff')
    if (services.observeControl) observeCall(services, services.observeControl, request, response)
    try {
      sendReply(response, await routed(services, request, response))
    } catch (error) {
      sendReply(response, failure(services, `${request.method} /_mock${request.path}`, error))
    }
  }
}

async function routed(services: AppServices, request: Request, response: Response): Promise<ControlReply | undefined> {
  const { path } = request
  // A HEAD is a GET whose body Node.js leaves out.
  const method = request.method === 'HEAD' ? 'GET' : request.method
  if (method === 'GET' && DASHBOARD_PATHS.includes(path)) {
    // A browser opens the page without the admin token. The page asks for it: nothing can be read or changed without.
    if (services.admission.adminToken === undefined) admit(request, services.admission)
    const { sendDashboard } = await loadDashboard()
    await sendDashboard(request, response)
    return undefined
  }
  const parts = pathParts(path) ?? []
  const served = CONTROL_ROUTES.filter((each) => each.method === method)
  // Most calls name a path without a parameter.
  const route = served.find((each) => each.path === path) ?? served.find((each) => matchPath(each.path, parts))
  if (!route?.open) admit(request, services.admission)
  if (!route) throw notServed(request, parts)
  return answer(services, route, matchPath(route.path, parts) ?? {}, request, response)
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
    observe(recordedEntry(call, { environment: registry.environment(name), realAt: realTime(), requestHeaders: [] }))
  })
}

const NO_INPUT = { readQuery: () => ({}), readBody: () => Promise.resolve(undefined) }

/** The query and the body are checked, the handler runs, and what it changed is durable before it is answered. */
async function answer(
  services: AppServices,
  route: ControlRoute,
  path: JsonObject,
  request: Request,
  response: Response,
): Promise<ControlReply | undefined> {
  const parameters = new URLSearchParams(request.url.slice(request.path.length + 1))
  // Health and readiness take no input. Asked without any, they load no zod: it would make an idle server 10 MB larger.
  const isEmpty = route.open && parameters.size === 0 && !hasBody(request)
  const { readBody, readQuery } = isEmpty ? NO_INPUT : await loadInput()
  const query = readQuery(route, parameters)
  const name = parameters.get('environment') ?? 'default'
  if (route.environment) environmentNamed(services, name)
  const limit = route.operation === 'put_state' ? services.stateLimit : services.controlBodyLimit
  const body = await readBody(route, request, limit)
  return perform(route, { services, request, response, path, query, body }, name)
}

/** What a call changed is durable before it is answered. */
async function perform(route: ControlRoute, call: AnyCall, environment: string): Promise<ControlReply | undefined> {
  const { services } = call
  // Health and readiness change nothing.
  const durable = route.open ? () => undefined : () => services.registry.durable()
  try {
    const reply = await handle(route, route.environment ? { ...call, ...inEnvironment(services, environment) } : call)
    await durable()
    reply?.onceDurable?.()
    return reply
  } catch (error) {
    // An error can rest on a commit that the disk refuses in the end; then that is the answer.
    await durable()
    throw error
  }
}
type AnyCall = Omit<ServerCall<ControlOperation>, 'path' | 'query' | 'body'> &
  Record<'path' | 'query' | 'body', unknown>

/** Calls of other operations in the course of one, which was admitted, about its environment. Checked as over HTTP. */
function callFrom({ services, request, response, query: { environment } }: ServerCall<'call_mcp'>): ControlCall {
  return async (asked, { path = {}, query = {}, body } = {}) => {
    const route = CONTROL_ROUTES.find((each) => `${each.method} ${each.path}` === asked)
    if (!route) throw pathNotFound(asked)
    const { readQuery, readDocumentBody } = await loadInput()
    const parameters: object = query
    const given = Object.entries(parameters).flatMap(([key, value]): [string, string][] =>
      value === undefined ? [] : [[key, String(value)]],
    )
    const document = body && ({ text: JSON.stringify(body), format: 'json' } as const)
    try {
      const call = {
        ...{ services, request, response, path },
        query: readQuery(route, new URLSearchParams([...given, ['environment', environment]])),
        body: await readDocumentBody(route, document),
      }
      const reply = await perform(route, call, environment)
      return (reply && 'body' in reply ? reply.body : undefined) as never
    } catch (error) {
      throw failure(services, asked, error)
    }
  }
}

/** Everything that is due by the environment's clock is applied before a handler looks at it. */
function inEnvironment(services: AppServices, name: string) {
  const environment = environmentNamed(services, name)
  const { journals, requestIds, scenarios } = services
  const trace = new RequestTrace()
  applyDueEvents(environment, trace)
  trace.request = requestIds.control.id('req')
  return { environment, journal: journals.of(environment), scenarios: scenarios.of(environment), trace }
}

/** The route says which type the call has; its query and body were read by the schemas of that type. */
function handle({ operation }: ControlRoute, call: object): ReturnType<ControlHandler<ControlOperation>> {
  const handler = HANDLERS[operation] as (call: object) => ReturnType<ControlHandler<ControlOperation>>
  return handler(call)
}

function notServed({ method, path }: Request, parts: readonly string[]): ControlError {
  const routes = CONTROL_ROUTES.filter((route) => matchPath(route.path, parts))
  if (routes.length === 0) return pathNotFound(path)
  const methods: string[] = routes.map((route) => route.method)
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
  const message = `${method} is not served on ${shownPath(path)}; allowed: ${allow}`
  return new ControlError('METHOD_NOT_ALLOWED', message, [], { Allow: allow })
}

function pathNotFound(path: string): ControlError {
  const message = `${shownPath(path)} is not part of the control API; GET /_mock/openapi describes it`
  return new ControlError('PATH_NOT_FOUND', message)
}

function shownPath(path: string): string {
  return quote(`/_mock${path}`, 200)
}

function failure({ log }: AppServices, call: string, error: unknown): ControlError {
  const known = controlErrorOf(error)
  if (known) return known
  log.error('a call of the control API failed', {
    call,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  return new ControlError('INTERNAL', 'the mock failed; its log says why')
}

export function sendReply(
  response: ServerResponse,
  reply: (ControlReply & { headers?: ControlError['headers'] }) | undefined,
): void {
  if (!reply) return
  const [text, type] =
    'text' in reply ? [reply.text, reply.type] : [`${JSON.stringify(reply.body)}\n`, 'application/json']
  const status = reply.status ?? 200
  const length = typeof text === 'string' ? Buffer.byteLength(text) : text.reduce((sum, part) => sum + part.length, 0)
  const headers = {
    'Content-Type': type,
    'Content-Length': String(length),
    'Cache-Control': 'no-store',
    ...reply.headers,
  }
  if (typeof text === 'string') {
    sendAnswer(response, { status, headers, text })
    return
  }
  response.writeHead(status, headers)
  if (response.req.method !== 'HEAD') for (const part of text) response.write(part)
  response.end()
}
