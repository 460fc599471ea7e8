import type { Request, RequestHandler, Response } from 'express'
import { RequestTrace } from '../domain/request-trace.ts'
import type { Ids } from '../domain/ports.ts'
import { requestIdOf } from '../domain/request-headers.ts'
import type { EntryInput } from './entry.ts'
import type { Journals } from './journal.ts'
import type { Environment, ReadGuard } from '../state/environment.ts'

/** What the journal says of one request for a page; the page's handler fills in what it finds out. */
export interface PageVisit {
  readonly trace: RequestTrace
  environment?: Environment
  readGuard?: ReadGuard
  /** The form that the handler has read by itself. */
  form?: string
  problem?: { readonly code: string; readonly message: string }
}

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

export interface PageParts {
  readonly journals: Journals
  readonly realTime: () => number
  readonly requestIds: { readonly pages: Ids }
}

export function recordPages(services: PageParts): RequestHandler {
  return (request, response, next) => {
    pageVisit(response).trace.request = recordAnswer(services, request, response, () => {
      const { environment, form, problem, trace } = pageVisit(response)
      const { body } = request as { body: unknown }
      const requestBody = form ?? (typeof body === 'string' ? body : '')
      return { kind: 'page', environment, trace, requestBody, errorCode: problem?.code, failure: problem?.message }
    })
    next()
  }
}

/**
 * Gives a page, a redirect or an answer of a fake application its `X-Request-Id` (G18), and its journal entry when its body
 * begins. All of them are sent by `writeHead` and then `write` or `end`.
 *
 * @param known what its handler knows by then; it is given what is sent of the body at once
 * @returns the id
 */
export function recordAnswer(
  { journals, realTime, requestIds }: PageParts,
  request: Request,
  response: Response,
  known: (body: Buffer) => Omit<EntryInput, 'id' | 'startedAt' | 'url' | 'status'>,
): string {
  const id = requestIdOf(request, requestIds.pages)
  const startedAt = realTime()
  response.setHeader('X-Request-Id', id)
  let record: ((body: Buffer) => void) | undefined
  const recordOnce = (body: Buffer): void => {
    record?.(body)
    record = undefined
  }
  const writeHead = response.writeHead.bind(response) as (status: number, headers?: Record<string, string>) => Response
  const write = response.write.bind(response) as Send
  const end = response.end.bind(response) as Send
  const recordingHead: typeof writeHead = (status, headers = {}) => {
    record = (body) => {
      journals.record({
        id,
        startedAt,
        method: request.method,
        url: request.originalUrl,
        requestHeaders: request.rawHeaders,
        status,
        responseHeaders: { 'X-Request-Id': id, ...headers },
        ...known(body),
      })
    }
    return writeHead(status, headers)
  }
  const recording =
    (send: Send): Send =>
    (...sent) => {
      recordOnce(bytesOf(sent))
      return send(...sent)
    }
  Object.assign(response, { writeHead: recordingHead, write: recording(write), end: recording(end) })
  // An answer whose connection is reset before its body.
  response.once('close', () => {
    recordOnce(Buffer.alloc(0))
  })
  return id
}

type Send = (...sent: unknown[]) => unknown

/** What is sent by `write` and `end`: a body and its encoding, or a callback alone. */
function bytesOf([body, encoding]: readonly unknown[]): Buffer {
  if (Buffer.isBuffer(body)) return body
  if (typeof body !== 'string') return Buffer.alloc(0)
  return Buffer.from(body, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
}
