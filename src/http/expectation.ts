import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * A client that waits for `100 Continue` gets it when somebody wants to read its body, and not at all when the request is
 * refused before: then the connection is closed after the answer, since nobody can tell whether the body will still come
 * (RFC 9110 10.1.1).
 */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const { shouldKeepAlive } = response
  response.shouldKeepAlive = false
  request.on('newListener', function invite(event: string | symbol) {
    if (event !== 'data' && event !== 'readable') return
    request.off('newListener', invite)
    if (response.headersSent || response.destroyed) return
    response.shouldKeepAlive = shouldKeepAlive
    response.writeContinue()
  })
}

/** Whether a client still waits to be asked for its body. */
export function isUninvited({ req, shouldKeepAlive }: ServerResponse): boolean {
  return req.headers.expect !== undefined && !shouldKeepAlive
}
