import {
  type ClientHttp2Session,
  connect,
  constants,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
} from 'node:http2'

/** The replica that a request is sent to. */
export interface Target {
  readonly epoch: number
  readonly url: string
}

/** Whether a request needs HTTP/2 all the way: its answer ends with trailers, or both sides send at the same time. */
export function needsHttp2({ headers }: Http2ServerRequest): boolean {
  return /^application\/(grpc(?!-web)|connect\+)/.test(headers['content-type'] ?? '')
}

/** Sends calls of gRPC on to the active replica. What is sent while it comes in is sent once. */
export class Http2Forwarder {
  /** By the epoch of the replica. */
  readonly #sessions = new Map<number, ClientHttp2Session>()

  /** Answers what the caller is to be told when the active replica has given no answer; undefined once it has. */
  forward(
    target: Target,
    { headers, stream }: Http2ServerRequest,
    response: Http2ServerResponse,
    [name, value]: readonly [string, string],
  ): Promise<string | undefined> {
    return new Promise((resolve) => {
      const upstream = this.#session(target).request({ ...headers, [name]: value })
      const reset = (): void => {
        if (!stream.headersSent) resolve('the active replica stopped to answer: the call may or may not have happened')
        else if (upstream.rstCode !== 0 && !stream.closed) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
      }
      // What broke is known once it is closed.
      upstream.on('error', () => undefined)
      upstream.on('close', reset)
      stream.on('close', () => upstream.close(constants.NGHTTP2_CANCEL))
      // Node.js sends them at the end of the stream.
      upstream.on('trailers', (given: IncomingHttpHeaders) => response.addTrailers(given))
      upstream.on('response', (given) => {
        if (stream.destroyed) return
        if (given[':status'] === 421) {
          resolve('this call was not begun, because the active replica leaves; send it again')
          return
        }
        stream.respond(given, { waitForTrailers: true })
        upstream.pipe(stream)
        resolve(undefined)
      })
      stream.pipe(upstream)
    })
  }

  endBefore(epoch: number): void {
    for (const [each, session] of this.#sessions) {
      if (each >= epoch) continue
      session.destroy()
      this.#sessions.delete(each)
    }
  }

  #session({ epoch, url }: Target): ClientHttp2Session {
    const known = this.#sessions.get(epoch)
    if (known && !known.closed && !known.destroyed) return known
    const session = connect(url)
    session.on('error', () => undefined)
    session.unref()
    this.#sessions.set(epoch, session)
    return session
  }
}
