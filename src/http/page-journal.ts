import type { RequestHandler, Response } from 'express'
import type { AppServices } from '../app-services.ts'
import { RequestTrace } from '../domain/request-trace.ts'
import type { Environment } from '../state/environment.ts'
import { requestIdOf } from './node-request.ts'

/** What the journal says of one request for a page; the page's handler fills in what it finds out. */
export interface PageVisit {
  readonly trace: RequestTrace
  environment?: Environment
  /** The form that the handler has read by itself. */
  form?: string
  problem?: { readonly code: string; readonly message: string }
}

/** The journal's view of this request for a page. */
export function pageVisit(response: Response): PageVisit {
  const locals = response.locals as { visit?: PageVisit }
  return (locals.visit ??= { trace: new RequestTrace() })
}

/** Where a page is, in words: what its footer says. */
export function pageFacts(response: Response): string[] {
  const id = response.getHeader('X-Request-Id')
  const { environment } = pageVisit(response)
  return [
    ...(environment ? [`environment ${environment.name}`] : []),
    ...(typeof id === 'string' ? [`request ${id}`] : []),
  ]
}

/** Gives every page and redirect its `X-Request-Id` (G18), and its journal entry when its answer begins. */
export function recordPages(services: AppServices): RequestHandler {
  return (request, response, next) => {
    const id = requestIdOf(request, services.requestIds.pages)
    const startedAt = services.realTime()
    response.setHeader('X-Request-Id', id)
    // Pages and redirects are all sent by `writeHead`.
    type WriteHead = (status: number, headers?: Record<string, string>) => Response
    const writeHead = response.writeHead.bind(response) as WriteHead
    const recording: WriteHead = (status, headers = {}) => {
      const { environment, form, problem, trace } = pageVisit(response)
      const { body } = request as { body: unknown }
      services.journals.record({
        kind: 'page',
        id,
        environment,
        startedAt,
        method: request.method,
        url: request.originalUrl,
        requestHeaders: request.rawHeaders,
        requestBody: form ?? (typeof body === 'string' ? body : ''),
        status,
        errorCode: problem?.code,
        responseHeaders: { 'X-Request-Id': id, ...headers },
        trace,
        failure: problem?.message,
      })
      return writeHead(status, headers)
    }
    response.writeHead = recording as typeof response.writeHead
    next()
  }
}
