import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { FileRegistry, Message } from '@bufbuild/protobuf'
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createConnectRouter,
  createContextValues,
  type HandlerContext,
} from '@connectrpc/connect'
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from '@connectrpc/connect-node'
import type { UniversalHandler, UniversalServerResponse } from '@connectrpc/connect/protocol'
import type { ServiceParts } from '../http/services.ts'
import { MAX_TIMER_MS } from '../domain/duration.ts'
import { nearest } from '../domain/suggestion.ts'
import { requestIdOf } from '../domain/request-headers.ts'
import { runPipeline } from '../http/pipeline.ts'
import { createContext } from '../http/routes.ts'
import type { Protocol } from '../request-journal/entry.ts'
import { Health, HealthCheckResponse_ServingStatus } from './generated/grpc/health/v1/health_pb.ts'
import { Unserved } from './generated/toolmock/unserved_pb.ts'
import type { RpcMethod } from './http-rule.ts'
import { malformedMessage } from './malformed-message.ts'
import { RpcCall } from './rpc-call.ts'
import { EXCHANGE, RpcExchange } from './rpc-exchange.ts'
import { bodyOf, metadataOf, statusOf } from './status.ts'
import { answerMessage, type Differences, restRequest } from './transcoding.ts'

/** What calls are served from. */
export interface RpcDefinitions {
  readonly registry: FileRegistry
  readonly methods: readonly RpcMethod[]
  readonly differences: Differences
}

/** Answers a call; false for a request that is none. */
export type RpcHandler = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => boolean

/** Serves every method that has a served rule, the health service, and a refusal of everything else. */
export function rpcHandler(definitions: RpcDefinitions, services: ServiceParts): RpcHandler {
  const router = createConnectRouter({
    acceptCompression: [compressionGzip, compressionBrotli],
    readMaxBytes: services.bodyLimit,
    maxTimeoutMs: MAX_TIMER_MS,
  })
  const served = definitions.methods.filter(({ bindings }) => bindings.length > 0)
  for (const method of served) {
    const call = (message: Message, context: HandlerContext): Promise<Message> =>
      answerCall(method, { message, context }, definitions, services)
    // The descriptors say at run time which messages a method has.
    router.rpc(method.desc as never, call as never)
  }
  addHealth(router, definitions, services.closing)
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]))
  const refuse = refusals(definitions, services)
  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1)
    const handler = handlers.get(path) ?? (isCall(request) ? refuse(request) : undefined)
    if (!handler) return false
    void serve(handler, new RpcExchange(request, response), services)
    return true
  }
}

/** Whether a request is a call, by the headers and the query that only the protocols of calls send. */
function isCall({ headers, method, url = '' }: IncomingMessage | Http2ServerRequest): boolean {
  const type = headers['content-type'] ?? ''
  if (/^application\/(grpc|proto|connect\+)/.test(type)) return true
  return headers['connect-protocol-version'] !== undefined || (method === 'GET' && /[?&]connect=v1(&|$)/.test(url))
}

async function serve(handler: UniversalHandler, exchange: RpcExchange, { log }: ServiceParts): Promise<void> {
  const { request, response } = exchange
  // A body that is too large is not read to its end. Ending its iteration would destroy the connection before the answer is read.
  if (!('stream' in request)) request[Symbol.asyncIterator] = () => request.iterator({ destroyOnReturn: false })
  try {
    const values = createContextValues().set(EXCHANGE, exchange)
    const asked = universalRequestFromNodeRequest(request, response, undefined, values)
    asked.signal.addEventListener('abort', () => exchange.end())
    const answer = await handler(asked)
    if (exchange.over.aborted) await discard(answer)
    else if (exchange.deliver) await deliver(answer, exchange)
    else await universalResponseToNodeResponse(answer, response)
  } catch (error) {
    // A client that goes away in the middle is no defect.
    if (exchange.over.aborted || response.destroyed) return
    log.error('a call failed outside the request pipeline', { path: request.url, error: String(error) })
    response.destroy()
  }
}

async function octetsOf({ body }: UniversalServerResponse): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of body ?? []) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** A body that is not read would leave its call open. */
async function discard(answer: UniversalServerResponse): Promise<void> {
  await octetsOf(answer).catch(() => undefined)
}

/** Sends an answer as a fault wants it. */
async function deliver(answer: UniversalServerResponse, exchange: RpcExchange): Promise<void> {
  const body = await octetsOf(answer)
  // Faults name the length themselves.
  const { 'content-length': _, ...headers } = Object.fromEntries(answer.header ?? [])
  const broken = malformedMessage(body, headers['content-type'] ?? '')
  await exchange.deliver?.(exchange.faultResponse(answer), {
    status: answer.status,
    headers,
    body,
    ...(broken && { malformed: broken }),
  })
}

interface ReceivedCall {
  readonly message: Message
  readonly context: HandlerContext
}

/**
 * Milliseconds before its deadline within which a cancelled call counts as late. A client keeps the deadline from the moment it
 * sends the call, so its cancellation can arrive before the server's own time is over.
 */
const EARLY_CANCEL = 50

/** Transcodes a call to its REST request, takes it through the request pipeline, and its answer back. */
async function answerCall(
  method: RpcMethod,
  { message, context }: ReceivedCall,
  definitions: RpcDefinitions,
  services: ServiceParts,
): Promise<Message> {
  const { registry } = definitions
  const exchange = context.values.get(EXCHANGE)
  if (!exchange) throw new Error('a call has no exchange')
  const { rest, refused } = restRequest(method, message, registry)
  const call = new RpcCall(exchange, { name: method.name, protocol: protocolOf(context), rest, refused })
  const limit = context.timeoutMs()
  const cancelled = new Promise<never>((_, reject) => {
    context.signal.addEventListener('abort', () => {
      const { reason } = context.signal as { reason: unknown }
      const isLate = reason instanceof ConnectError && reason.code === Code.DeadlineExceeded
      // The signal is aborted as well when a call has its answer.
      if (!isLate && !exchange.over.aborted) return
      const isDue = isLate || (limit !== undefined && (context.timeoutMs() ?? 0) <= EARLY_CANCEL)
      call.call.cancelled ??= isDue ? `its deadline of ${Math.round(limit ?? 0)} ms passed` : 'its client cancelled it'
      exchange.end()
      reject(isLate ? reason : new ConnectError('the client cancelled the call', Code.Canceled))
    })
  })
  const done = runPipeline(createContext(rest.route, call, services), services)
  if (done) await Promise.race([done, cancelled])
  const { answer } = call
  if (!answer) throw new ConnectError('a scenario ended the call', Code.Aborted)
  const { status } = answer
  const body = bodyOf(answer.text)
  const metadata = metadataOf(answer.headers)
  if (status >= 400) throw statusOf({ status, body: body ?? null, metadata }, definitions)
  for (const [name, value] of metadata) context.responseHeader.set(name, value)
  return answerMessage(method, rest.binding, body, definitions)
}

function protocolOf({ protocolName }: HandlerContext): Protocol {
  return protocolName === 'grpc' || protocolName === 'grpc-web' ? protocolName : 'connect'
}

/** `grpc.health.v1`: the mock serves as long as it runs. */
function addHealth(router: ConnectRouter, { methods }: RpcDefinitions, closing: AbortSignal): void {
  const services = new Set(['', ...methods.map(({ desc }) => desc.parent.typeName)])
  const { SERVING, SERVICE_UNKNOWN } = HealthCheckResponse_ServingStatus
  router.service(Health, {
    check: ({ service }) => {
      if (!services.has(service)) throw new ConnectError(`the service ${service} is not known`, Code.NotFound)
      return { status: SERVING }
    },
    async *watch({ service }, { signal }) {
      yield { status: services.has(service) ? SERVING : SERVICE_UNKNOWN }
      const over = AbortSignal.any([signal, closing])
      if (!over.aborted) await new Promise((resolve) => over.addEventListener('abort', resolve))
    },
  })
}

/** UNIMPLEMENTED with the reason, recorded in the journal as any path that is not served. */
function refusals(definitions: RpcDefinitions, services: ServiceParts) {
  const served = definitions.methods.filter(({ bindings }) => bindings.length > 0).map(({ name }) => name)
  const refusal = (context: HandlerContext): ConnectError => {
    const exchange = context.values.get(EXCHANGE)
    const [path = ''] = (exchange?.request.url ?? '').split('?', 1)
    const name = path.slice(1)
    const { reason = 'no descriptors have it' } = definitions.methods.find((method) => method.name === name) ?? {}
    const didYouMean = nearest(name, served)
    const meant = didYouMean === undefined ? '' : `; did you mean ${didYouMean}?`
    const message = `${name.slice(0, 200)} is not served: ${reason}${meant} (served are ${served.join(', ') || 'none'})`
    const headers = exchange?.request.headers ?? {}
    const [, token = ''] = (headers.authorization ?? '').split(' ')
    const known = services.registry.byBearer(token)
    const id = requestIdOf({ headers }, services.requestIds.operations)
    services.journals.record({
      kind: 'request',
      id,
      environment: known?.environment,
      protocol: protocolOf(context),
      method: name.slice(0, 200),
      url: path,
      requestHeaders: exchange?.request.rawHeaders ?? [],
      status: 404,
      errorCode: 'PATH_NOT_FOUND',
      client: known?.token.client_id,
      didYouMean: didYouMean ?? null,
      failure: message,
    })
    return new ConnectError(message, Code.Unimplemented, { 'X-Request-Id': id })
  }
  const [unary, stream] = createConnectRouter({
    readMaxBytes: services.bodyLimit,
    maxTimeoutMs: MAX_TIMER_MS,
  }).service(Unserved, {
    call: (_, context) => {
      throw refusal(context)
    },
    // eslint-disable-next-line require-yield -- it only refuses
    async *stream(_, context) {
      await Promise.reject(refusal(context))
    },
  }).handlers
  return ({ headers }: IncomingMessage | Http2ServerRequest): UniversalHandler | undefined =>
    headers['content-type']?.startsWith('application/connect+') ? stream : unary
}
