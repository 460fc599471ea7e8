import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ErrorRequestHandler, RequestHandler } from 'express'
import { bundledNames } from '../../files/package-files.ts'
import { nearestRoute, servedRoutes } from '../../model/contract/route.ts'
import { errorCodeOf, invalidField, ruleAndFound, ServiceError } from '../../model/domain/errors.ts'
import { quote } from '../../model/domain/text.ts'
import { bearerTokenIn, requestIdOf, targetOf } from '../../model/domain/request-headers.ts'
import type { IdUse } from '../../journal/request-journal/request-entries.ts'
import { RandomIds } from '../../state/model/time-and-ids.ts'
import { errorReply, sendResponse, wireResponse } from './wire-response.ts'
import { replyTo } from './reply.ts'
import type { ServiceParts } from './services.ts'

interface Refusal {
  readonly error: unknown
  readonly ids: IdUse
  /** Instead of the error's own status. */
  readonly status?: number
  /** A flag serves the path, which is therefore not mistyped. */
  readonly isSwitchedOff?: boolean
}

/** Answers a request that no operation, page or control call takes. */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { error, ids, status, isSwitchedOff = false }: Refusal,
  services: ServiceParts,
): void {
  // A client with a valid token finds its mistyped path in the journal of its own environment.
  const bearer = services.registry.byBearer.get(bearerTokenIn(request.headers.authorization) ?? '')
  const { method = '' } = request
  const errorCode = errorCodeOf(error)
  const isUnserved = errorCode === 'PATH_NOT_FOUND' || errorCode === 'METHOD_NOT_ALLOWED'
  const path = targetOf(request).split('?', 1).join().slice(0, 200)
  const didYouMean = isUnserved && !isSwitchedOff ? nearestRoute(servedRoutes(services), method, path) : null
  void replyTo(services, request, response, {
    kind: 'request',
    ids,
    facts: { didYouMean },
    status,
    handle: (visit) => {
      visit.environment = bearer?.environment
      visit.client = bearer && { id: bearer.token.client_id }
      throw error
    },
  })
}

export function unknownPath(services: ServiceParts): RequestHandler {
  const refuseSwitchedOff = unservedPath(services)
  return async (request, response, next) => {
    if (services.extensions.isSwitchedOffAt(request.path)) {
      refuseSwitchedOff(request, response, next)
      return
    }
    const { method } = request
    const path = request.path.slice(0, 200)
    const meant = nearestRoute(servedRoutes(services), method, path)
    const extension = await unusedExtensionAt(path, services)
    const bundled = extension && `; the bundled extension answers below this path: --extension ${extension}`
    const hint = bundled ?? (meant === null ? '' : `; did you mean ${meant}?`)
    const error = new ServiceError('PATH_NOT_FOUND', `${method} ${path} is not served${hint}`)
    refuseRequest(request, response, { error, ids: 'pages' }, services)
  }
}

/** A bundled extension has the name of the resource that it serves: `organizations` is below `/api/v1/organizations`. */
async function unusedExtensionAt(path: string, { extensions }: ServiceParts): Promise<string | undefined> {
  const [, resource] = /^\/api\/v1\/([^/:]+)/.exec(path) ?? []
  if (resource === undefined || extensions.all.some(({ extension }) => extension === resource)) return undefined
  return (await bundledNames('extension')).find((name) => name === resource)
}

/** 404 for what `--documented-only` switches off, and for what `--mcp` switches on. */
export function unservedPath(services: ServiceParts, isOfMcp = false): RequestHandler {
  const reason = isOfMcp
    ? 'without --mcp, because the service document does not list it'
    : 'with --documented-only, because the service document does not list it'
  return (request, response) => {
    const error = new ServiceError('PATH_NOT_FOUND', `${request.method} ${request.path} is not served ${reason}`)
    refuseRequest(request, response, { error, ids: 'pages', isSwitchedOff: true }, services)
  }
}

/** Answers what a route throws: 404 for a path that Express cannot decode, 500 for a defect of the mock. */
export function refuseUnexpected(
  thrown: unknown,
  { request, response, services }: { request: IncomingMessage; response: ServerResponse; services: ServiceParts },
): void {
  const undecodable =
    thrown instanceof URIError || (thrown instanceof Error && 'status' in thrown && thrown.status === 400)
  const error: unknown = undecodable
    ? new ServiceError('PATH_NOT_FOUND', 'the path is not well percent-encoded')
    : thrown
  refuseRequest(request, response, { error, ids: 'pages' }, services)
}

export function unexpectedError(services: ServiceParts): ErrorRequestHandler {
  return (thrown, request, response, _next) => {
    refuseUnexpected(thrown, { request, response, services })
  }
}

/** How many `Host` headers a request has; with several, a server and what is in front of it could take different ones. */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts
}

/** Why a request is refused that has several `Host` headers, or none in a version that asks for one (RFC 9112 3.2). */
export function hostError(request: IncomingMessage): ServiceError | undefined {
  const hosts = hostsOf(request)
  if (hosts === 1 || (hosts === 0 && request.httpVersion !== '1.1')) return undefined
  const description = ruleAndFound('must be sent once', hosts === 0 ? 'none' : 'several')
  const violations = [{ field: 'Host', description, constraint: 'single' }]
  return new ServiceError('MALFORMED_BODY', `the header Host ${description}`, { violations })
}

/** 417 for an expectation other than `100-continue` (RFC 9110 10.1.1). A replica that stands by has no services. */
export function refuseExpectation(
  servicesNow: () => ServiceParts | undefined,
): (request: IncomingMessage, response: ServerResponse) => void {
  const ids = new RandomIds()
  return (request, response) => {
    response.shouldKeepAlive = false
    const description = ruleAndFound('must be 100-continue', quote(String(request.headers.expect)))
    const error = invalidField('Expect', description, 'expect')
    const services = servicesNow()
    if (services) refuseRequest(request, response, { error, ids: 'control', status: 417 }, services)
    else {
      const id = requestIdOf(request, ids)
      sendResponse(response, { ...wireResponse(errorReply(error, id), id), status: 417 })
    }
  }
}
