import { request as requestOverHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as requestOverTls } from 'node:https'
import type { Readable } from 'node:stream'
import { Agent, type Dispatcher } from 'undici'
import { headerPairs, NOT_ACTIVE, passedOn } from '../../model/domain/request-headers.ts'
import { isSameSecret } from '../../model/domain/secret.ts'
import { systemCode } from '../../model/domain/system-error.ts'
import { hasBody, type SentBody } from '../http/body.ts'

/** The replica that a request is sent to. */
export interface ActiveReplica {
  readonly epoch: number
  readonly url: string
}

/** What became of a request that was sent on. */
export type Outcome =
  /** The client has its answer, or a connection that was cut as the active replica cut its own. */
  | 'answered'
  /** The active replica has not begun it, or it only reads: it can be sent again. */
  | 'repeat'
  /** It was sent, and the active replica fell silent. */
  | 'unknown'
  /** This replica can read it and not send it on. */
  | 'unsendable'

/** A request as it came from another replica. */
export interface Arrival {
  /** Whether the control API may be called by it, as that replica has judged. */
  readonly isAdmitted: boolean
  readonly isEncrypted: boolean
}

/** The secret of the replicas, and what the one that was called has judged, in words. */
const FORWARDED = 'x-toolmock-forwarded'

/** An answer that has left its replica may still be on its way when the next one is active. */
const GRACE_MS = 1000
const CONNECT_WITHIN_MS = 2000
const MAX_HEAD = 64 * 1024

interface Running {
  readonly epoch: number
  readonly cut: () => void
}

/** What became of a request, as the connection to the active replica shows it. */
type End = Exclude<Outcome, 'unknown'> | 'closed' | 'cut'

/** Sends requests on to the active replica over connections that are kept open. */
export class Forwarder {
  readonly #secret: string
  // Silence is judged by the lease: event streams and long polls are silent by nature.
  readonly #agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEAD,
    connect: { timeout: CONNECT_WITHIN_MS },
  })
  readonly #running = new Set<Running>()

  constructor(secret: string) {
    this.#secret = secret
  }

  /** Whether a replica has sent it; its headers are then those that its client sent. A client's own such headers are ignored. */
  arrivalOf({ headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): Arrival | undefined {
    const { [FORWARDED]: forwarded } = headers
    if (typeof forwarded !== 'string') return undefined
    const [secret = '', ...judged] = forwarded.split(' ')
    if (!isSameSecret(secret, this.#secret)) return undefined
    Reflect.deleteProperty(headers, FORWARDED)
    const pairs = headerPairs(rawHeaders).filter(([name]) => name.toLowerCase() !== FORWARDED)
    rawHeaders.splice(0, rawHeaders.length, ...pairs.flat())
    return { isAdmitted: judged.includes('admitted'), isEncrypted: judged.includes('encrypted') }
  }

  /** The answer to another replica by one that is not active. */
  get notActive(): Readonly<Record<string, string>> {
    return { [NOT_ACTIVE]: this.#secret, 'Content-Length': '0', Connection: 'close' }
  }

  /** The header that another replica believes. */
  #trustedHeader({ isAdmitted, isEncrypted }: Arrival): readonly [string, string] {
    const words = [this.#secret, isAdmitted && 'admitted', isEncrypted && 'encrypted']
    return [FORWARDED, words.filter(Boolean).join(' ')]
  }

  async forward(
    target: ActiveReplica,
    {
      request,
      response,
      body,
      arrival,
    }: { request: IncomingMessage; response: ServerResponse; body: SentBody; arrival: Arrival },
  ): Promise<Outcome> {
    const { method = 'GET' } = request
    const options = {
      origin: target.url,
      method,
      path: request.url ?? '/',
      headers: [...forwardedHeaders(request), this.#trustedHeader(arrival)].flat(),
      body: contentOf(body),
    }
    const end = await this.#forwardOnce(target, response, (handler) => {
      if (expectsContinue(request)) dispatchExpecting(options, request, handler)
      else this.#agent.dispatch(options, handler)
    })
    if (end !== 'closed' && end !== 'cut') return end
    // The active replica may have cut the connection as a fault of a scenario, which the client has to see.
    if (end === 'closed' && (await this.isActive(target))) {
      response.destroy()
      return 'answered'
    }
    return (method === 'GET' || method === 'HEAD') && body.rest === undefined ? 'repeat' : 'unknown'
  }

  /** Whether the replica at this address answers, and is active in this epoch. */
  async isActive({ epoch, url: origin }: ActiveReplica): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(CONNECT_WITHIN_MS)
      const request = {
        origin,
        method: 'GET',
        path: '/_mock/health',
        headers: { [FORWARDED]: this.#secret },
        signal,
      } as const
      const { headers, body } = await this.#agent.request(request)
      await body.dump()
      return headers[EPOCH] === String(epoch)
    } catch {
      return false
    }
  }

  /** Ends what was sent to replicas before this epoch, a little later: what they have answered may be on its way. */
  endBefore(epoch: number): void {
    setTimeout(() => {
      for (const each of this.#running) if (each.epoch < epoch) each.cut()
    }, GRACE_MS).unref()
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  #forwardOnce(
    target: ActiveReplica,
    response: ServerResponse,
    dispatch: (handler: Dispatcher.DispatchHandler) => void,
  ): Promise<End> {
    return new Promise((resolve) => {
      let [isBegun, isAnswered, isCut] = [false, false, false]
      let controller: Dispatcher.DispatchController | undefined
      const cut = (): void => {
        isCut = true
        controller?.abort(new Error('another replica is active'))
      }
      const running = { epoch: target.epoch, cut }
      const gone = (): void => controller?.abort(new Error('the client has gone'))
      const drained = (): void => controller?.resume()
      const done = (end: End): void => {
        this.#running.delete(running)
        response.off('close', gone).off('drain', drained)
        resolve(end)
      }
      this.#running.add(running)
      response.on('close', gone).on('drain', drained)
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: (dispatch) => {
          isBegun = true
          controller = dispatch
          if (isCut || response.destroyed) dispatch.abort(new Error('the request is over'))
        },
        onResponseStart: ({ rawHeaders }, status, headers, statusMessage) => {
          if (status < 200) return
          // A third party may answer the same, without the secret.
          if (status === 421 && isSameSecret(String(headers[NOT_ACTIVE] ?? ''), this.#secret)) {
            done('repeat')
            return
          }
          isAnswered = true
          const lines = Array.isArray(rawHeaders) ? rawHeaders.map((each) => each.toString('latin1')) : []
          response.writeHead(status, statusMessage, passedOn({ rawHeaders: lines, headers }).flat())
          // The head of an event stream leaves before its first event.
          response.flushHeaders()
        },
        onResponseData: (dispatch, chunk) => {
          if (isAnswered && !response.write(chunk)) dispatch.pause()
        },
        onResponseEnd: (_, trailers) => {
          if (!isAnswered) return
          // The status of a call of gRPC.
          response.addTrailers(trailers)
          response.end()
          done('answered')
        },
        onResponseError: (_, error) => {
          if (response.destroyed || isAnswered) {
            response.destroy()
            done('answered')
          } else if (isBegun) done(isCut ? 'cut' : 'closed')
          else done(UNSENDABLE.has(systemCode(error) ?? '') ? 'unsendable' : 'repeat')
        },
      }
      dispatch(handler)
    })
  }
}

/** Whether the client may send its body only once it is asked for. */
export function expectsContinue(request: IncomingMessage): boolean {
  return request.headers.expect !== undefined && hasBody(request)
}

/** As undici dispatches, which knows no `Expect`: the body is read once the active replica asks for it. */
function dispatchExpecting(
  { origin, method, path, headers }: { origin: string; method: string; path: string; headers: string[] },
  request: IncomingMessage,
  handler: Dispatcher.DispatchHandler,
): void {
  const { 'content-length': length } = request.headers
  const framing = length === undefined ? ['transfer-encoding', 'chunked'] : ['content-length', length]
  const all = [...headers, ...framing, 'expect', '100-continue']
  const send = origin.startsWith('https:') ? requestOverTls : requestOverHttp
  const outgoing = send(new URL(origin), { method, path, headers: all, agent: false, maxHeaderSize: MAX_HEAD })
  const controller = { abort: (reason: Error) => outgoing.destroy(reason) } as unknown as Dispatcher.DispatchController
  const fail = (error: Error): void => handler.onResponseError?.(controller, error)
  handler.onRequestStart?.(controller, undefined)
  outgoing.on('continue', () => request.pipe(outgoing))
  outgoing.on('response', (incoming) => {
    controller.pause = () => incoming.pause()
    controller.resume = () => incoming.resume()
    const { rawHeaders, statusCode = 502, statusMessage } = incoming
    Object.assign(controller, { rawHeaders: rawHeaders.map((each) => Buffer.from(each, 'latin1')) })
    handler.onResponseStart?.(controller, statusCode, incoming.headers, statusMessage)
    incoming.on('data', (chunk: Buffer) => handler.onResponseData?.(controller, chunk))
    incoming.on('end', () => handler.onResponseEnd?.(controller, incoming.trailers)).on('error', fail)
  })
  outgoing.on('error', fail)
}

/** Of undici, for a head that this server has read and that undici does not send. */
const UNSENDABLE: ReadonlySet<string> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED'])

/** In answers to `GET /_mock/health` of a replica to another one. */
export const EPOCH = 'x-toolmock-epoch'

/** Length and transfer coding are those of the hop. What `Connection` names is sent on: the active replica would read it too. */
function forwardedHeaders({ headers, rawHeaders }: IncomingMessage): [string, string][] {
  const others = passedOn({ rawHeaders, headers: {} }, ['host', 'content-length', 'expect', FORWARDED])
  return [['host', headers.host ?? ''], ...others]
}

function contentOf({ start, rest }: SentBody): Buffer | Readable | null {
  if (!rest) return start.length === 0 ? null : start
  rest.unshift(start)
  return rest
}
