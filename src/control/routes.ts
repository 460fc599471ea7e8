import express, { type Request, type Response, type Router } from 'express'
import type { AppServices } from '../app-services.ts'
import { RequestTrace } from '../domain/request-trace.ts'
import { applyDueEvents } from '../operations/due.ts'
import { environmentNamed } from './actions.ts'
import { admit } from './admission.ts'
import { formatOf, hasBody, readingError, type SentBody, textOf } from './body.ts'
import {
  type ControlContext,
  controlContext,
  type ControlReply,
  type ControlRoute,
  type EnvironmentRoute,
  type ServerCall,
} from './context.ts'
import { ControlError, type Fault, faulty } from './control-error.ts'
import { controlErrorOf } from './error-of.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { controlTable, type Way, waysOf } from './route-table.ts'

/** The control API under `/_mock`. No answer has a CORS header: pages of other origins cannot read it. */
export function controlRoutes(services: AppServices): Router {
  const context = controlContext(services)
  const router = express.Router({ strict: true, caseSensitive: true })
  const table = controlTable()
  router.use(async (request, response) => {
    // What an answer quotes from a request must not be taken for a page, however it is opened.
    response.setHeader('X-Content-Type-Options', 'nosniff')
    try {
      const reply = await answer(context, table, request, response)
      send(response, reply)
    } catch (error) {
      send(response, failure(context, request, error))
    }
  })
  return router
}

/** The way of every call: admitted, found, checked, read, answered once what it changed is durable. */
async function answer(
  context: ControlContext,
  table: readonly ControlRoute[],
  request: Request,
  response: Response,
): Promise<ControlReply> {
  const [path = '/'] = request.url.split('?', 1)
  const query = new URLSearchParams(request.url.slice(path.length + 1))
  const ways = waysOf(table, path)
  const method = request.method === 'HEAD' ? 'GET' : request.method
  if (!isOpen(ways.get(method)?.route)) admit(request, context.admission)
  const { route, path: parts } = wayOf(ways, method, path)
  checkQuery(route, query)
  const named = query.get('environment') ?? 'default'
  if (route.about === 'environment') environmentNamed(context, named)
  const body = await bodyOf(context, route, request)
  const call: ServerCall = { context, request, response, path: parts, query, body }
  try {
    return await (route.about === 'server' ? route.handle(call) : inEnvironment(route, call, named))
  } finally {
    // Also when something went wrong: that rests on what was read, as every answer does.
    await context.registry.durable()
  }
}

function isOpen(route: ControlRoute | undefined): boolean {
  return route?.about === 'server' && route.open === true
}

/** Before anything is looked up, what has fallen due by the environment's clock happens. */
function inEnvironment(route: EnvironmentRoute, call: ServerCall, name: string): ControlReply | Promise<ControlReply> {
  const environment = environmentNamed(call.context, name)
  const trace = new RequestTrace()
  applyDueEvents(environment, trace)
  return route.handle({ ...call, environment, trace })
}

/** @throws ControlError PATH_NOT_FOUND, METHOD_NOT_ALLOWED */
function wayOf(ways: ReadonlyMap<string, Way>, method: string, path: string): Way {
  const way = ways.get(method)
  if (way) return way
  const shown = `/_mock${path.slice(0, 200)}`
  if (ways.size === 0) {
    throw new ControlError('PATH_NOT_FOUND', `${shown} is not part of the control API; GET /_mock/openapi describes it`)
  }
  const allow = [...ways.keys(), ...(ways.has('GET') ? ['HEAD'] : [])].join(', ')
  const message = `${method} is not served on ${shown}; allowed is ${allow}`
  throw new ControlError('METHOD_NOT_ALLOWED', message, [], { Allow: allow })
}

/** @throws ControlError INVALID_QUERY with every parameter that is unknown or repeated */
function checkQuery(route: ControlRoute, query: URLSearchParams): void {
  if (route.query === 'any') return
  const known = [...(route.query ?? []), ...(route.about === 'environment' ? ['environment'] : [])]
  const allowed = known.length === 0 ? 'no parameters' : known.join(', ')
  const faults = [...new Set(query.keys())].flatMap((name): Fault[] => {
    if (!known.includes(name)) return [{ path: name, found: `an unknown parameter${didYouMean(name, known)}`, allowed }]
    return query.getAll(name).length > 1 ? [{ path: name, found: 'more than one', allowed: 'one' }] : []
  })
  if (faults.length > 0) throw faulty('INVALID_QUERY', faults)
}

/** @throws ControlError UNSUPPORTED_CONTENT_TYPE, BODY_TOO_LARGE, MALFORMED_BODY, INVALID_BODY */
async function bodyOf(context: ControlContext, route: ControlRoute, request: Request): Promise<SentBody | undefined> {
  if (!hasBody(request)) {
    if (route.body !== 'required') return undefined
    throw faulty('INVALID_BODY', [{ path: '', found: 'no body', allowed: 'a JSON or YAML body (required)' }])
  }
  const format = formatOf(request)
  const bytes = await context.readBody(request).catch((error: unknown) => {
    throw readingError(error)
  })
  const text = textOf(bytes)
  if (text === '' && route.body !== 'required') return undefined
  if (route.body !== undefined) return { text, format }
  // Many clients send an empty object where there is nothing to say.
  if (text.trim() === '{}') return undefined
  throw faulty('INVALID_BODY', [{ path: '', found: 'a body', allowed: 'none: this call takes no body' }])
}

/** The one place where something that went wrong becomes an answer. */
function failure(context: ControlContext, request: Request, error: unknown): ControlFailure {
  const known = controlErrorOf(error)
  if (!known) context.failed(`${request.method} /_mock${request.path}`, error)
  const told = known ?? new ControlError('INTERNAL', 'the mock failed; its log says why')
  return { status: told.status, body: told.body, headers: told.headers }
}

interface ControlFailure {
  readonly status: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}

/** A client that has gone away in the meantime is no error. */
function send(response: Response, reply: ControlReply | ControlFailure): void {
  if (!reply || response.headersSent || response.destroyed) return
  const isText = 'text' in reply
  const text = isText ? reply.text : `${JSON.stringify(reply.body)}\n`
  response.writeHead(reply.status, {
    'Content-Type': isText ? reply.type : 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    ...('headers' in reply ? reply.headers : {}),
  })
  response.end(text)
}
