import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express'
import { type Route, ROUTES } from '../contract/contract.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Ids } from '../domain/ports.ts'
import { RequestTrace } from '../domain/request-trace.ts'
import { walk } from './pipeline.ts'
import { type ExpressApp, openFirst } from './fast-express.ts'
import type { AppServices } from '../app-services.ts'
import type { RequestContext } from './request-context.ts'
import { errorReply } from './error-body.ts'
import { requestIdOf } from './request-identity.ts'
import { recordRefusal } from './record.ts'
import { sendAnswer, wireAnswer } from './wire-answer.ts'

/**
 * The operations of the service, each on its method and path; 405 with `Allow` for other methods (G8). They stand at the
 * application itself: a router in between would cost every request a second walk through Express. A path that is there
 * letter for letter does not even need the first one, which costs 12 of the 80 µs of a GET.
 */
export function mountOperations(app: ExpressApp, services: AppServices): void {
  const ids = services.requestIds.operations
  const served = ROUTES.filter((route) => !(services.strict && route.discovery))
  const exact = new Map<string, Serve>()
  for (const path of new Set(served.map((route) => route.path))) {
    const serve = serveAt(path, served, { services, ids })
    app.route(expressPath(path)).all(serve)
    if (!path.includes('{')) exact.set(path, serve)
  }
  const failed = unexpectedError(services)
  openFirst(app, (request, response) => {
    const { url } = request
    const end = url.indexOf('?')
    const serve = exact.get(end < 0 ? url : url.slice(0, end))
    if (!serve) return false
    request.originalUrl = url
    const fail = (error: unknown): void => void failed(error, request, response, () => undefined)
    try {
      serve(request, response)?.catch(fail)
    } catch (error) {
      fail(error)
    }
    return true
  })
}

type Serve = (request: Request, response: Response) => Promise<void> | undefined

function serveAt(
  path: string,
  served: readonly Route[],
  { services, ids }: { services: AppServices; ids: Ids },
): Serve {
  const byMethod = new Map(
    served.filter((route) => route.path === path).map((route) => [route.method as string, route]),
  )
  return (request, response) => {
    const route = byMethod.get(request.method)
    const requestId = requestIdOf(request, ids)
    if (route) return walk(requestContext({ request, response, route, requestId }, services), services)
    refuse({ request, response, requestId }, methodNotAllowed(request, [...byMethod.keys()].join(', ')), services)
    return undefined
  }
}

/** Everything beside the operations, pages and control API, carries its `X-Request-Id` too (G18). */
export function requestIds(ids: Ids) {
  return (request: Request, response: Response, next: NextFunction): void => {
    response.setHeader('X-Request-Id', requestIdOf(request, ids))
    next()
  }
}

/** The end of the house: 404 for unknown paths, and an error body for what Express itself refuses. */
export function unknownPath(services: AppServices) {
  return (request: Request, response: Response): void => {
    const message = `${request.method} ${request.path.slice(0, 200)} is not served`
    const requestId = requestIdOf(request, services.requestIds.pages)
    refuse({ request, response, requestId }, new ServiceError('PATH_NOT_FOUND', message), services)
  }
}

/** What Express throws before a route is found: a path that is not well percent-encoded names nothing that is there. */
export function unexpectedError(services: AppServices): ErrorRequestHandler {
  return (error, request, response, _next) => {
    const undecodable =
      error instanceof URIError || (error instanceof Error && 'status' in error && error.status === 400)
    if (!undecodable)
      services.log.error('a request failed outside the request pipeline', { path: request.path, error: String(error) })
    const told: unknown = undecodable
      ? new ServiceError('PATH_NOT_FOUND', 'the path is not well percent-encoded')
      : error
    refuse({ request, response, requestId: requestIdOf(request, services.requestIds.pages) }, told, services)
  }
}

/** Answers what never came into the request pipeline, and notes it in the journal. */
function refuse(
  { request, response, requestId }: { request: Request; response: Response; requestId: string },
  error: unknown,
  services: AppServices,
): void {
  const answer = wireAnswer(errorReply(error, requestId), requestId)
  recordRefusal({ request, requestId, answer, error }, services)
  sendAnswer(response, answer)
}

function methodNotAllowed(request: Request, allow: string): ServiceError {
  const message = `${request.method} is not served on this path; allowed is ${allow}`
  return new ServiceError('METHOD_NOT_ALLOWED', message, { headers: { Allow: allow } })
}

/** Express would read `:delete` as a parameter, and braces as an optional part. */
function expressPath(path: string): string {
  return path.replaceAll(':', '\\:').replace(/\{(\w+)\}/g, ':$1')
}

function requestContext(
  known: { request: Request; response: Response; route: Route; requestId: string },
  { realTime }: AppServices,
): RequestContext {
  return {
    request: known.request,
    response: known.response,
    route: known.route,
    requestId: known.requestId,
    startedAt: realTime(),
    trace: new RequestTrace(),
    rawBody: NO_BODY,
    body: undefined,
    responseViolations: NO_VIOLATIONS,
  }
}

const NO_BODY = Buffer.alloc(0)
const NO_VIOLATIONS: readonly never[] = Object.freeze([])
