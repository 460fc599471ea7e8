import type { Duplex } from 'node:stream'
import { ServiceError } from '../domain/errors.ts'
import type { Ids } from '../domain/ports.ts'
import { errorReply } from './error-body.ts'

const STATUS_LINES = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
])

/** What node cannot read as HTTP never becomes a request; its sender gets the error body all the same (G16). */
export function answerUnreadable(ids: Ids): (error: Error, socket: Duplex) => void {
  return (error, socket) => {
    const code = 'code' in error ? String(error.code) : ''
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const requestId = ids.id('req')
    const refused = new ServiceError('MALFORMED_BODY', `the request cannot be read as HTTP/1.1: ${error.message}`)
    const body = JSON.stringify(errorReply(refused, requestId).body)
    const head = [
      `HTTP/1.1 ${STATUS_LINES.get(code) ?? '400 Bad Request'}`,
      `X-Request-Id: ${requestId}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
}
