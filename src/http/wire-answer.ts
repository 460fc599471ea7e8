import type { Response } from 'express'
import type { Reply } from '../operations/operation.ts'
import type { CachedBody } from './response-cache.ts'
import { isUnread, takeRest } from './unread-body.ts'

/** A reply as it goes over the wire. */
export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Empty when there is no body content. */
  readonly text: string
}

/** Status, headers and JSON body of a reply. */
export function wireAnswer({ status, body, headers }: Reply, requestId: string, known?: CachedBody): WireAnswer {
  const text = known?.text ?? (body === undefined ? '' : JSON.stringify(body))
  const length = known?.length ?? String(Buffer.byteLength(text))
  const own: Record<string, string> =
    body === undefined
      ? { 'X-Request-Id': requestId, 'Content-Length': length }
      : { 'X-Request-Id': requestId, 'Content-Type': 'application/json', 'Content-Length': length }
  return { status, headers: headers ? { ...own, ...headers } : own, text }
}

/** Like {@link wireAnswer}, with a text that is no JSON. */
export function textAnswer({ status, headers }: Reply, text: string, requestId: string): WireAnswer {
  const length = String(Buffer.byteLength(text))
  const own = { 'X-Request-Id': requestId, 'Content-Type': 'text/plain', 'Content-Length': length }
  return { status, headers: { ...own, ...headers }, text }
}

/** Writes an answer; a client that has gone away in the meantime is no error. */
export function sendAnswer(response: Response, { status, headers, text }: WireAnswer): void {
  if (response.headersSent || response.destroyed) return
  if (isUnread(response)) {
    takeRest(response, () => response.writeHead(status, headers), text)
    return
  }
  response.writeHead(status, headers)
  response.end(text)
}
