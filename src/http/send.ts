import type { Response } from 'express'
import type { Reply } from '../operations/operation.ts'
import type { Exchange } from './exchange.ts'

/** Puts the reply on the wire. */
export function send({ response, reply, requestId }: Exchange): void {
  if (reply) sendReply(response, reply, requestId)
}

/** Writes status, headers and JSON body; a client that has gone away in the meantime is no error. */
export function sendReply(response: Response, reply: Reply, requestId: string): void {
  if (response.headersSent || response.destroyed) return
  const { status, body, headers } = reply
  const text = body === undefined ? '' : JSON.stringify(body)
  response.writeHead(status, {
    'X-Request-Id': requestId,
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}
