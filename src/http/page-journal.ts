import type { Request, RequestHandler } from 'express'
import type { Ids } from '../domain/ports.ts'
import { RequestTrace } from '../domain/request-trace.ts'
import type { Environment } from '../state/environment.ts'
import { requestIdOf } from './request-identity.ts'
import type { AppServices } from '../app-services.ts'

/** One request of a browser. */
interface Visit {
  readonly id: string
  readonly startedAt: number
  readonly trace: RequestTrace
  environment?: Environment
  /** A form that the page read by itself. */
  form?: string
  problem?: { readonly code: string; readonly message: string }
}

/**
 * The browser's requests in the journal: each page and redirect gets its `X-Request-Id` (G18), and its entry when its
 * answer begins. Which environment it belongs to is found out on the way.
 */
export class PageJournal {
  readonly #services: AppServices
  readonly #ids: Ids
  readonly #visits = new WeakMap<Request, Visit>()

  constructor(services: AppServices, ids: Ids) {
    this.#services = services
    this.#ids = ids
  }

  /** Comes before the pages. */
  readonly begin: RequestHandler = (request, response, next) => {
    const visit = {
      id: requestIdOf(request, this.#ids),
      startedAt: this.#services.realTime(),
      trace: new RequestTrace(),
    }
    this.#visits.set(request, visit)
    response.setHeader('X-Request-Id', visit.id)
    // Every page and redirect is sent by a writeHead of its own: the one place that none goes around.
    const writeHead = response.writeHead.bind(response) as (
      status: number,
      headers?: Record<string, string>,
    ) => Response
    type Response = typeof response
    const recording = (status: number, headers: Record<string, string> = {}): Response => {
      this.#record(request, visit, { status, headers })
      return writeHead(status, headers)
    }
    response.writeHead = recording as typeof response.writeHead
    next()
  }

  /** The request is about this environment; `form` is what it sent, where the page has read it. */
  visited(request: Request, environment: Environment, form?: URLSearchParams): RequestTrace {
    const visit = this.#visits.get(request)
    if (!visit) return new RequestTrace()
    visit.environment = environment
    if (form && request.method === 'POST') visit.form = form.toString()
    return visit.trace
  }

  /** The page says that something went wrong. */
  failed(request: Request, code: string, message: string): void {
    const visit = this.#visits.get(request)
    if (visit) visit.problem = { code, message }
  }

  #record(request: Request, visit: Visit, answer: { status: number; headers: Record<string, string> }): void {
    const { body } = request as { body: unknown }
    this.#services.journals.record({
      kind: 'page',
      id: visit.id,
      environment: visit.environment,
      startedAt: visit.startedAt,
      method: request.method,
      url: request.originalUrl,
      requestHeaders: request.rawHeaders,
      requestBody: visit.form ?? (typeof body === 'string' ? body : ''),
      status: answer.status,
      errorCode: visit.problem?.code,
      responseHeaders: { 'X-Request-Id': visit.id, ...answer.headers },
      trace: visit.trace,
      failure: visit.problem?.message,
    })
  }
}
