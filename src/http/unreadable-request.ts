import type { Duplex } from 'node:stream'
import { ServiceError } from '../domain/errors.ts'
import type { Ids } from '../domain/ports.ts'
import { errorReply } from './error-body.ts'
import { answerUnderWay, isInBody } from './server-limits.ts'

const STATUS_LINES = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
])

const MESSAGES = new Map([
  ['HPE_HEADER_OVERFLOW', 'request line and headers are larger than 16384 bytes, which is the most that is taken'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'the request did not come in whole within the time that the server waits'],
])

/** How long a client may go on sending, and its answer be on its way, before the connection is dropped. */
const LINGER_MS = 1000

/** What node cannot read as HTTP never becomes a request; its sender gets the error body all the same (G16). */
export function answerUnreadable(ids: Ids): (error: Error, socket: Duplex) => void {
  const refused = new WeakSet<Duplex>()
  return (error, socket) => {
    const code = 'code' in error ? String(error.code) : ''
    if (code === 'ECONNRESET' || code === 'EPIPE') socket.destroy()
    // The rest of what has been refused already is passed over, so that its sender gets to read the answer.
    if (refused.has(socket)) return
    refused.add(socket)
    inTurn(socket, () => {
      hangUp(socket, answerTo(code, error, ids.id('req')))
    })
  }
}

/** Answers come in the order of the requests: those to earlier ones of the same connection first. */
function inTurn(socket: Duplex, refuse: () => void): void {
  const earlier = answerUnderWay(socket)
  const isBodyOf = earlier ? !earlier.req.complete : isInBody(socket)
  const isAnswered = !earlier || earlier.headersSent
  if (!socket.writable || (isBodyOf && isAnswered)) socket.destroy()
  else if (!earlier || isBodyOf) refuse()
  else {
    earlier.once('close', () => {
      inTurn(socket, refuse)
    })
  }
}

function answerTo(code: string, error: Error, requestId: string): string {
  const message = MESSAGES.get(code) ?? `the request cannot be read as HTTP/1.1: ${error.message}`
  const body = JSON.stringify(errorReply(new ServiceError('MALFORMED_BODY', message), requestId).body)
  const head = [
    `HTTP/1.1 ${STATUS_LINES.get(code) ?? '400 Bad Request'}`,
    `X-Request-Id: ${requestId}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

/** A connection that is dropped while its client still sends would take the answer with it. */
function hangUp(socket: Duplex, answer: string): void {
  socket.end(answer)
  const drop = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => {
    clearTimeout(drop)
  })
}
