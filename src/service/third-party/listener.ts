import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Connector, Latency } from '../../model/domain/connector.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import { percentDecoded, quote } from '../../model/domain/text.ts'
import type {
  ThirdPartyFault,
  ThirdPartyReply,
  ThirdPartyRequest as ObservedRequest,
} from '../../scenarios/third-party.ts'
import type { Environment } from '../../state/environment.ts'
import { StorageError } from '../../state/wal/state-errors.ts'
import { respondToApiRequest } from './api.ts'
import type { Templates } from './template.ts'
import { InexactNumber, TemplateError } from './template-error.ts'
import { respondToTokenRequest } from './tokens.ts'
import {
  ACCOUNT_HEADER,
  type ReceivedRequest,
  type ThirdPartyResponse,
  encodePart,
  headerOf,
  jsonResponse,
  readMessageBody,
  receivedRequest,
  sendThirdPartyResponse,
} from './http-messages.ts'

/** Names a call of the service, so that the third party finds the {@link OpenCall} that belongs to it. */
export const CALL_HEADER = 'x-mock-call'

/** A call of the service to an in-process third party that has no answer yet. */
export interface OpenCall {
  /** Of the request that causes the call: what the third party does is noted in it. */
  readonly trace: RequestTrace | undefined
  readonly tool: string | undefined
  /** The change that goes with a token; the client makes it in one commit with the service's own. */
  apply: (() => void) | undefined
}

/** One request at a third party, as scenarios see it (`at: third_party` and `at: token_refresh`). */
export interface ReceivedCall extends ObservedRequest {
  readonly request: ReceivedRequest
  /** Names the {@link OpenCall} of a call of the service; empty for a call of another program. */
  readonly ticket: string
}

export interface ListenerOptions {
  readonly registry: {
    environment(name: string): Environment | undefined
    /** Awaited before an answer to a call of another program: a token that was given out must not be lost. */
    flushed?(): Promise<void> | undefined
  }
  readonly templates: Templates
  /** Where scenarios act at `third_party` and `token_refresh`; undefined leaves the answer as it is. */
  readonly intercept?: ((request: ReceivedCall) => ThirdPartyFault | undefined) | undefined
  /** By what names them in {@link CALL_HEADER}; without those whose client no longer waits. */
  readonly calls: ReadonlyMap<string, OpenCall>
  /** Waits so many milliseconds of real time, or until the client has gone or the server closes. */
  readonly wait?: ((milliseconds: number, response: ServerResponse) => Promise<void>) | undefined
}

/** The service sends a request in one piece; nothing else has to be waited for longer. */
const MAX_REQUEST_MS = 30_000

/** `/{environment}/{connector}/oauth/token` and `…/api/…`, on one port. @returns `origin`, `http://127.0.0.1:4711` */
export async function startListener(options: ListenerOptions) {
  // Idle connections have no time limit: the service's client keeps them, and could otherwise reuse one as it is closed.
  const limits = { keepAliveTimeout: 0, headersTimeout: MAX_REQUEST_MS, requestTimeout: MAX_REQUEST_MS }
  const server = createServer(limits, (request, response) => {
    serveCall(options, request, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy()
      else {
        const message = error instanceof Error ? error.message : 'unknown'
        sendThirdPartyResponse(response, listenerFailure(error) ?? jsonResponse(500, { error: 'internal', message }))
      }
    })
  })
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    const closed = once(server.close(), 'close')
    server.closeAllConnections()
    await closed
  }
  return { origin: `http://127.0.0.1:${port}`, close }
}

async function serveCall(options: ListenerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const reply = await replyOf(options, request, response, (body) => requestOf(options, request, body))
  // The request that causes a call of the service waits itself, once for everything that it has caused.
  if (!options.calls.has(String(request.headers[CALL_HEADER]))) await options.registry.flushed?.()
  if (!reply) return
  const { wireResponse, deliver } = reply
  if (deliver) await deliver(wireResponse)
  else sendThirdPartyResponse(response, wireResponse)
}

/** Where a connector's token endpoint (`/oauth/token`) and API (`/api`) are, below the listener's origin. */
export function connectorPath(environment: Environment, connector: Pick<Connector, 'connector'>): string {
  return `/${encodePart(environment.name)}/${encodePart(connector.connector)}`
}

/**
 * `find` says with its body which one that is, or makes the answer that refuses it. @returns undefined once a fault has
 * ended the connection @throws what is a defect of the mock, or a connection that broke
 */
export async function replyOf(
  options: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  find: (body: Buffer) => ReceivedCall | ThirdPartyResponse,
): Promise<ThirdPartyReply | undefined> {
  const body = await readMessageBody(request)
  const result = body ? find(body) : jsonResponse(413, { error: 'body_too_large' }, { Connection: 'close' })
  try {
    return 'status' in result ? { wireResponse: result } : await respondTo(options, result, response)
  } catch (error) {
    const thirdPartyResponse = listenerFailure(error)
    if (!thirdPartyResponse) throw error
    return { wireResponse: thirdPartyResponse }
  }
}

/** The answer when the connector file or the disk causes the error; undefined for a defect of the mock. */
function listenerFailure(error: unknown): ThirdPartyResponse | undefined {
  if (error instanceof InexactNumber) return jsonResponse(400, { error: 'inexact_number', message: error.message })
  if (error instanceof TemplateError) return jsonResponse(422, { error: 'unusable_template', message: error.message })
  return error instanceof StorageError ? jsonResponse(503, { error: 'unavailable', message: error.message }) : undefined
}

async function respondTo(
  options: ListenerOptions,
  received: ReceivedCall,
  response: ServerResponse,
): Promise<ThirdPartyReply | undefined> {
  const { environment, connector, kind, request, ticket } = received
  const { calls, templates } = options
  const preparing = templates.prepare(connector)
  if (preparing) await preparing
  const fault = options.intercept?.(received)
  // Before the call has any effect, as a slow network would.
  if (kind === 'api' && connector.latency) await options.wait?.(latencyOf(connector.latency, environment), response)
  const plain = (): Promise<ThirdPartyResponse> => {
    if (environment.isRemoved) return Promise.resolve(noEnvironment(environment.name))
    const call = calls.get(ticket)
    return Promise.resolve(
      kind === 'api'
        ? respondToApiRequest({ environment, connector, templates }, request, received.tool)
        : respondAsTokenEndpoint(received, call),
    )
  }
  return fault ? fault(response, plain) : { wireResponse: await plain() }
}

/** The answer of a third party of no environment, or of one that was removed. */
export function noEnvironment(name: string): ThirdPartyResponse {
  return jsonResponse(404, { error: 'not_found', message: `there is no environment ${quote(name)}` })
}

/** A time that the latency profile allows, by chance that repeats with the seed of the ids. */
function latencyOf(points: Latency, { ids }: Environment): number {
  const share = ids.number() / 2 ** 32
  const [from, to] = [points.findLast(([at]) => at <= share), points.find(([at]) => at > share)]
  const [start, least] = from ?? [0, 0]
  const [end, most] = to ?? [1, least]
  return Math.round(least + ((share - start) / (end - start)) * (most - least))
}

function respondAsTokenEndpoint(
  { environment, connector, request, trace }: ReceivedCall,
  call: OpenCall | undefined,
): ThirdPartyResponse {
  const { response: tokenResponse, apply, event } = respondToTokenRequest(environment, connector, request)
  // What the service presents again, such as after an answer that was lost, is no mistake of a client.
  if (event && (event.kind === 'renewed' || !call)) trace?.tokenUsed(event)
  if (call) call.apply = apply
  else if (apply) environment.model.transact(apply)
  return tokenResponse
}

/** What the path of a request names, or the answer that refuses it. */
function requestOf(
  { registry, calls }: ListenerOptions,
  incoming: IncomingMessage,
  body: Buffer,
): ReceivedCall | ThirdPartyResponse {
  const { url: target = '/', headers } = incoming
  const request = receivedRequest(incoming, { origin: `http://${headers.host ?? ''}`, target, body })
  const { rawPath } = request
  const [, environmentPart = '', connectorPart = '', kindPart, ...path] = rawPath.split('/')
  const environmentName = percentDecoded(environmentPart)
  const connectorName = percentDecoded(connectorPart)
  if (environmentName === undefined || connectorName === undefined)
    return jsonResponse(400, { error: 'malformed_path' })
  const environment = registry.environment(environmentName)
  const connector = environment?.connector(connectorName)
  const kind = kindPart === 'api' ? 'api' : kindPart === 'oauth' && path.join('/') === 'token' ? 'token' : undefined
  if (!environment || !connector || !kind) return jsonResponse(404, { error: 'not_found', path: rawPath })
  const ticket = headerOf(request, CALL_HEADER)
  const { trace, tool } = calls.get(ticket) ?? {}
  const account = environment.model.tables.accounts.get(headerOf(request, ACCOUNT_HEADER))
  return { environment, connector, kind, request, account, tool, trace, ticket }
}
