import type { Request, RequestHandler } from 'express'
import type { Ids } from '../domain/ports.ts'
import { Trail } from '../domain/request-trace.ts'
import { kept } from '../request-journal/body-text.ts'
import type { Environment } from '../state/environment.ts'
import { whenAndWhere } from './record.ts'
import { requestIdOf } from './request-identity.ts'
import type { Corridor } from '../app-services.ts'

/** One request of a browser. */
interface Visit {
  readonly id: string
  readonly startedAt: number
  readonly trail: Trail
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
  readonly #corridor: Corridor
  readonly #ids: Ids
  readonly #visits = new WeakMap<Request, Visit>()

  constructor(corridor: Corridor, ids: Ids) {
    this.#corridor = corridor
    this.#ids = ids
  }

  /** Comes before the pages. */
  readonly begin: RequestHandler = (request, response, next) => {
    const visit = { id: requestIdOf(request, this.#ids), startedAt: this.#corridor.realTime(), trail: new Trail() }
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
  visited(request: Request, environment: Environment, form?: URLSearchParams): Trail {
    const visit = this.#visits.get(request)
    if (!visit) return new Trail()
    visit.environment = environment
    if (form && request.method === 'POST') visit.form = form.toString()
    return visit.trail
  }

  /** The page says that something went wrong. */
  failed(request: Request, code: string, message: string): void {
    const visit = this.#visits.get(request)
    if (visit) visit.problem = { code, message }
  }

  #record(request: Request, visit: Visit, answer: { status: number; headers: Record<string, string> }): void {
    const { journals, defaultEnvironment, realTime, world } = this.#corridor
    const home = visit.environment ?? defaultEnvironment()
    const { body } = request as { body: unknown }
    journals.of(home ?? world).record({
      ...whenAndWhere(home, this.#corridor),
      kind: 'page',
      id: visit.id,
      durationMs: realTime() - visit.startedAt,
      operation: null,
      method: request.method,
      url: request.originalUrl,
      requestHeaders: request.rawHeaders,
      requestBody: kept(visit.form ?? (typeof body === 'string' ? body : '')),
      status: answer.status,
      errorCode: visit.problem?.code ?? null,
      responseHeaders: { 'X-Request-Id': visit.id, ...answer.headers },
      responseBody: '',
      client: null,
      trail: visit.trail,
      violations: [],
      warnings: [],
      responseViolations: [],
      failure: visit.problem?.message ?? null,
    })
  }
}
