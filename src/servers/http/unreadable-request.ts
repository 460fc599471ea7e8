import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import { systemCode } from '../../model/domain/system-error.ts'
import { errorReply, wireResponse } from './wire-response.ts'
import { RandomIds } from '../../state/model/time-and-ids.ts'
import { pendingResponse, isBodyIncomplete } from './server.ts'
import type { EntryFacts } from '../../journal/request-journal/request-entries.ts'
import type { ServiceParts } from './services.ts'

const STATUSES = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
])

const MESSAGES = new Map([
  ['HPE_HEADER_OVERFLOW', 'request line and headers are larger than 16384 bytes, which is the most that is taken'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'the request did not come in whole within the time that the server waits'],
])

/** How long a refused client may go on sending and reading before its connection is dropped. */
const LINGER_MS = 1000

/** With the usual error body (G16), in the default journal. A replica that stands by has no services. */
export function respondToUnreadable(services: () => ServiceParts | undefined): (error: Error, socket: Duplex) => void {
  const ids = new RandomIds()
  const refused = new WeakSet<Duplex>()
  return (error, socket) => {
    const code = systemCode(error) ?? ''
    if (code === 'ECONNRESET' || code === 'EPIPE') socket.destroy()
    // A pipelined request is not read while earlier answers are being sent, so its time limit does not count.
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.isPaused()) return
    // Later errors of a refused connection are ignored, so that its client can read the answer.
    if (refused.has(socket)) return
    refused.add(socket)
    afterEarlierResponses(socket, (isBodyOf) => {
      const message = MESSAGES.get(code) ?? `the request cannot be read as HTTP/1.1: ${error.message}`
      const { entries } = services() ?? {}
      const entry = entries?.begin('request', 'control')
      const { requestId } = entry ?? { requestId: ids.id('req') }
      const reply = errorReply(new ServiceError('MALFORMED_BODY', message), requestId)
      const response = wireResponse({ ...reply, status: STATUSES.get(code) ?? 400 }, requestId)
      const send = (): void => endConnection(socket, response)
      // A request with a broken body has an entry already.
      if (!entries || !entry || isBodyOf) send()
      // It says nothing of the state, so it stays as it is when the disk refuses that.
      else void entries.end(entry, () => ({ facts: unreadableFacts(error, message, response), send }))
    })
  }
}

/** Answers go out in the order of the requests: earlier ones of the same connection are answered first. */
function afterEarlierResponses(socket: Duplex, refuse: (isBodyOf: boolean) => void): void {
  const earlier = pendingResponse(socket)
  const isBodyOf = earlier ? !earlier.req.complete : isBodyIncomplete(socket)
  const isAnswered = !earlier || earlier.headersSent
  if (!socket.writable || (isBodyOf && isAnswered)) socket.destroy()
  else if (!earlier || isBodyOf) refuse(isBodyOf)
  else {
    earlier.once('close', () => {
      afterEarlierResponses(socket, refuse)
    })
  }
}

/** Only method and address are recorded, where the text begins with them: the rest is not known to be a request. */
function unreadableFacts(error: Error, failure: string, { status, headers, body }: EncodedResponse): EntryFacts {
  const packet = 'rawPacket' in error && Buffer.isBuffer(error.rawPacket) ? error.rawPacket : Buffer.of()
  const [, method = '', url = ''] = /^([A-Z]{1,20}) (\S{1,2000})/.exec(packet.toString('latin1', 0, 2100)) ?? []
  const response = { status, responseHeaders: headers, responseBody: body }
  return { method, url, ...response, errorCode: 'MALFORMED_BODY', failure }
}

/** A connection that is dropped while its client still sends would take the answer with it. */
function endConnection(socket: Duplex, { status, headers, body }: EncodedResponse): void {
  const lines = Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${String(body)}`)
  const drop = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => {
    clearTimeout(drop)
  })
}
