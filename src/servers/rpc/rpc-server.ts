import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FileRegistry, Message } from '@bufbuild/protobuf'
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createConnectRouter,
  createContextValues,
  type HandlerContext,
} from '@connectrpc/connect'
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from '@connectrpc/connect-node'
import {
  createAsyncIterable,
  readAllBytes,
  type UniversalHandler,
  type UniversalServerResponse,
} from '@connectrpc/connect/protocol'
import { parseTimeout as parseConnectTimeout } from '@connectrpc/connect/protocol-connect'
import { parseTimeout as parseGrpcTimeout } from '@connectrpc/connect/protocol-grpc'
import type { ServiceParts } from '../http/services.ts'
import { MAX_TIMER_MS } from '../../model/domain/duration.ts'
import { type ErrorContent, cataloguedError } from '../../model/domain/errors.ts'
import type { JsonObject } from '../../model/domain/json.ts'
import { nearMiss } from '../../model/domain/suggestion.ts'
import { errorBody } from '../http/wire-response.ts'
import { baseUrlOf, bearerTokenIn } from '../../model/domain/request-headers.ts'
import { runRoute } from '../http/pipeline.ts'
import { RemoteRequest } from '../http/remote-request.ts'
import { createContext } from '../http/routes.ts'
import type { RemoteCall } from '../http/request-context.ts'
import type { Protocol } from '../../journal/request-journal/entry.ts'
import { Health, HealthCheckResponse_ServingStatus } from './generated/grpc/health/v1/health_pb.ts'
import { Unserved } from './generated/toolmock/unserved_pb.ts'
import { COMPRESSIONS, type Completion, ENVELOPE, withErrorDetails } from './error-details.ts'
import { isBridged, isCall } from './http1-bridge.ts'
import type { RpcMethod } from './http-rule.ts'
import { EXCHANGE, RpcExchange } from './rpc-exchange.ts'
import { jsonBody, metadataOf, statusOf } from './status.ts'
import { responseMessage, type Differences, restRequest } from './transcoding.ts'

/** What calls are served from. */
export interface RpcDefinitions {
  readonly registry: FileRegistry
  readonly methods: readonly RpcMethod[]
  readonly differences: Differences
}

/** Answers a call; false for a request that is none. */
export type RpcHandler = (request: IncomingMessage, response: ServerResponse) => boolean

/** Serves every method that has a served rule, the health service, and a refusal of everything else. */
export function rpcHandler(definitions: RpcDefinitions, services: ServiceParts): RpcHandler {
  const router = createConnectRouter({
    acceptCompression: COMPRESSIONS,
    readMaxBytes: services.bodyLimit,
    maxTimeoutMs: MAX_TIMER_MS,
  })
  const served = definitions.methods.filter(({ bindings }) => bindings.length > 0)
  for (const method of served) {
    const call = (message: Message, context: HandlerContext): Promise<Message> =>
      respondToCall(method, { message, context }, definitions, services)
    // The descriptors say at run time which messages a method has.
    router.rpc(method.desc as never, call as never)
  }
  addHealth(router, definitions, services)
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]))
  const refuse = unservedMethods(definitions, services)
  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1)
    const handler = handlers.get(path) ?? (isCall(request) ? refuse(request) : undefined)
    if (!handler) return false
    void serveRpc(handler, new RpcExchange(request, response, services.entries), definitions, services)
    return true
  }
}

async function serveRpc(
  handler: UniversalHandler,
  exchange: RpcExchange,
  definitions: RpcDefinitions,
  services: ServiceParts,
): Promise<void> {
  const { request, response } = exchange
  // A body that is too large is not read to its end. Ending its iteration would destroy the connection before the answer is read.
  request[Symbol.asyncIterator] = () => request.iterator({ destroyOnReturn: false })
  try {
    const values = createContextValues().set(EXCHANGE, exchange)
    const asked = universalRequestFromNodeRequest(request, response, undefined, values)
    asked.signal.addEventListener('abort', () => (exchange.isOver = true))
    dropEndlessDeadlines(asked.header)
    const handlerResponse = await withErrorDetails(
      await handler(asked),
      errorCompletion(exchange, definitions, services),
    )
    const completeResponse = await withRequestId(handlerResponse, exchange, services)
    if (exchange.isOver) await discardBody(completeResponse)
    else if (exchange.deliver) await deliverFaulty(completeResponse, exchange)
    else await universalResponseToNodeResponse(completeResponse, response)
  } catch (error) {
    // A client that goes away in the middle is no defect.
    if (exchange.isOver || response.destroyed || request.socket.destroyed) return
    services.log.error('a call failed outside the request pipeline', { path: request.url, error: String(error) })
    response.destroy()
  }
}

/** A deadline that is longer than any timer counts as none. */
function dropEndlessDeadlines(headers: Headers): void {
  for (const [name, parse] of DEADLINES) {
    if ((parse(headers.get(name), Infinity).timeoutMs ?? 0) > MAX_TIMER_MS) headers.delete(name)
  }
}

/** The deadline that a call names, in milliseconds. */
function deadlineOf(headers: Headers): number | undefined {
  return DEADLINES.map(([name, parse]) => parse(headers.get(name), Infinity).timeoutMs).find((ms) => ms !== undefined)
}

const DEADLINES = [
  ['grpc-timeout', parseGrpcTimeout],
  ['connect-timeout-ms', parseConnectTimeout],
] as const

/** The errors that the library makes itself: before the operation, and where a call ends without an answer. */
function errorCompletion(exchange: RpcExchange, definitions: RpcDefinitions, services: ServiceParts): Completion {
  return async (error) => {
    const refusal = exchange.isTaken ? parsedRefusal(error) : await endRefused(exchange, rpcRefusal(error), services)
    return connectError(refusal, exchange.entry.requestId, definitions)
  }
}

/** What the library refuses is the client's mistake: it answers INTERNAL for octets that are no message. */
function rpcRefusal({ code, rawMessage }: ConnectError): Refusal {
  const isMalformed = code === Code.Internal || code === Code.InvalidArgument
  const errorCode = code === Code.ResourceExhausted ? 'BODY_TOO_LARGE' : 'MALFORMED_BODY'
  // Some messages quote the request, which may hold a secret.
  const message = rawMessage.replace(/[\s:,.]*"[^]*$/, '').slice(0, MAX_MESSAGE)
  return { errorCode, code: isMalformed ? Code.InvalidArgument : code, message, context: {} }
}

function parsedRefusal({ code, rawMessage: message }: ConnectError): Refusal {
  return { errorCode: code === Code.DeadlineExceeded ? 'TIMED_OUT' : 'INTERNAL', code, message, context: {} }
}

/** An error of a call that has no answer of an operation. */
type Refusal = ErrorContent & { readonly didYouMean?: string | undefined }

function connectError(refusal: Refusal, requestId: string, definitions: RpcDefinitions): ConnectError {
  const body = errorBody(refusal, requestId) as JsonObject
  const metadata = new Headers({ 'X-Request-Id': requestId })
  return statusOf({ status: statusFor(refusal), body, metadata }, definitions)
}

function statusFor({ errorCode }: Refusal): number {
  return cataloguedError(errorCode)?.status ?? 500
}

/** Ends a call that reaches no operation, as any request that is refused. @returns what is answered */
async function endRefused(exchange: RpcExchange, refusal: Refusal, services: ServiceParts): Promise<Refusal> {
  const { request, rawHeaders, entry } = exchange
  const { headers } = request
  const [path = ''] = (request.url ?? '').split('?', 1)
  const bearer = services.registry.byBearer.get(bearerTokenIn(headers.authorization) ?? '')
  entry.environment = bearer?.environment
  entry.client = bearer && { id: bearer.token.client_id }
  exchange.isTaken = true
  let answered = refusal
  await services.entries.end(entry, (refused) => {
    if (refused)
      answered = { ...refusal, errorCode: 'STORAGE_UNAVAILABLE', code: Code.Unavailable, message: refused.message }
    const facts = {
      protocol: protocolOf(headers['content-type']),
      method: path.slice(1, MAX_NAME + 1),
      url: path,
      requestHeaders: rawHeaders,
      status: statusFor(answered),
      errorCode: answered.errorCode,
      didYouMean: refusal.didYouMean ?? null,
      failure: answered.message,
    }
    return { facts }
  })
  return answered
}

/** The longest name of a method that is repeated. */
const MAX_NAME = 200
/** The longest message of a refusal: some clients cut longer ones in the middle, or refuse them. */
const MAX_MESSAGE = 200

/** Adds the id to what the library answers without a message: a method of HTTP or a content type that no call has. */
async function withRequestId(
  response: UniversalServerResponse,
  exchange: RpcExchange,
  services: ServiceParts,
): Promise<UniversalServerResponse> {
  const { status, header } = response
  if (status < 400 || header?.has('x-request-id')) return response
  const [errorCode, message] =
    status === 405
      ? ['METHOD_NOT_ALLOWED', 'a call is sent with POST']
      : ['UNSUPPORTED_CONTENT_TYPE', 'the content type is none of gRPC, gRPC-Web and Connect']
  await endRefused(exchange, { errorCode, code: Code.Unimplemented, message, context: {} }, services)
  return { ...response, header: new Headers([...(header ?? []), ['x-request-id', exchange.entry.requestId]]) }
}

function octetsOf({ body }: UniversalServerResponse): Promise<Uint8Array> {
  return readAllBytes(body ?? createAsyncIterable([]), Number.MAX_SAFE_INTEGER)
}

/** A body that is not read would leave its call open. */
async function discardBody(response: UniversalServerResponse): Promise<void> {
  await octetsOf(response).catch(() => undefined)
}

/** Sends an answer as a fault wants it. */
async function deliverFaulty(rpcResponse: UniversalServerResponse, exchange: RpcExchange): Promise<void> {
  const body = Buffer.from(await octetsOf(rpcResponse))
  // Faults name the length themselves.
  const { 'content-length': _, ...headers } = Object.fromEntries(rpcResponse.header ?? [])
  const broken = malformedMessage(body, headers['content-type'] ?? '')
  const { request, response } = exchange
  if (rpcResponse.trailer) response.addTrailers(Object.fromEntries(rpcResponse.trailer))
  await exchange.deliver?.(response, {
    status: rpcResponse.status,
    headers,
    body,
    // Trailers follow a body in chunks, and a length that the data does not have is an error of HTTP/2 itself.
    namesNoLength: rpcResponse.trailer !== undefined || isBridged(request),
    ...(broken && { malformed: broken }),
  })
}

/** A tag with a wire type that protobuf does not have. */
const ILLEGAL_TAG = 7

/** The body of an answer with a message that cannot be read; undefined for one that is text, or has no message. */
function malformedMessage(body: Buffer, contentType: string): Buffer | undefined {
  if (/json/.test(contentType)) return undefined
  const at = contentType.startsWith('application/grpc') ? ENVELOPE : 0
  if (body.length > at && (at === 0 || body.readUInt32BE(1) > 0)) {
    const broken = Buffer.from(body)
    broken[at] = ILLEGAL_TAG
    return broken
  }
  return undefined
}

interface ReceivedCall {
  readonly message: Message
  readonly context: HandlerContext
}

/** Milliseconds: a client counts from sending, so its cancellation can arrive before the server's time is over. */
const EARLY_CANCEL = 50

/** Transcodes a call to its REST request, takes it through the request pipeline, and its answer back. */
async function respondToCall(
  method: RpcMethod,
  { message, context }: ReceivedCall,
  definitions: RpcDefinitions,
  services: ServiceParts,
): Promise<Message> {
  const { registry } = definitions
  const exchange = context.values.get(EXCHANGE)
  if (!exchange) throw new Error('a call has no exchange')
  const { rest, refused } = restRequest(method, message, registry)
  const protocol = protocolOf(exchange.request.headers['content-type'])
  const { headers: requestHeaders, socket } = exchange.request
  const call: { -readonly [Key in keyof RemoteCall]: RemoteCall[Key] } = {
    protocol,
    method: method.name,
    refused,
    cancelled: undefined,
  }
  const headers = { ...requestHeaders, 'content-type': 'application/json' }
  const asked = new RemoteRequest(exchange, {
    ...rest,
    call,
    method: rest.binding.verb,
    headers,
    rawHeaders: exchange.rawHeaders,
    baseUrl: (configured) => baseUrlOf({ headers, socket }, configured),
  })
  const limit = deadlineOf(context.requestHeader)
  const cancelled = new Promise<never>((_, reject) => {
    const cancel = (): void => {
      const { reason } = context.signal as { reason: unknown }
      const isLate = reason instanceof ConnectError && reason.code === Code.DeadlineExceeded
      // The signal is aborted as well when a call has its answer.
      if (!isLate && !exchange.isOver) return
      const isDue = isLate || (limit !== undefined && (context.timeoutMs() ?? 0) <= EARLY_CANCEL)
      call.cancelled ??= isDue ? `its deadline of ${limit ?? 0} ms passed` : 'its client cancelled it'
      // The end of the connection after the answer is the end of what the call waits for.
      if (isLate) exchange.response.shouldKeepAlive = false
      reject(isLate ? reason : new ConnectError('the client cancelled the call', Code.Canceled))
    }
    // A short deadline has passed by the time that the call is read.
    if (context.signal.aborted) cancel()
    else context.signal.addEventListener('abort', cancel)
  })
  // A client can also leave while its answer is sent, when nothing waits for this any more.
  cancelled.catch(() => undefined)
  const request = createContext(rest.route, asked, services, exchange.entry)
  exchange.isTaken = true
  const done = runRoute(request, services)
  if (done) await Promise.race([done, cancelled])
  const { wireResponse: response } = asked
  if (!response) throw new ConnectError('a scenario ended the call', Code.Aborted)
  const { status } = response
  const body = jsonBody(response.body)
  const metadata = metadataOf(response.headers)
  if (status >= 400) throw statusOf({ status, body: body ?? null, metadata }, definitions)
  for (const [name, value] of metadata) context.responseHeader.set(name, value)
  return responseMessage(method, rest.binding, body, definitions)
}

function protocolOf(contentType = ''): Protocol {
  if (!contentType.startsWith('application/grpc')) return 'connect'
  return contentType.startsWith('application/grpc-web') ? 'grpc-web' : 'grpc'
}

/** `grpc.health.v1`: the mock serves as long as it runs. */
function addHealth(router: ConnectRouter, definitions: RpcDefinitions, { closing }: ServiceParts): void {
  const services = new Set(['', ...definitions.methods.map(({ desc }) => desc.parent.typeName)])
  const { SERVING, SERVICE_UNKNOWN } = HealthCheckResponse_ServingStatus
  router.service(Health, {
    check: ({ service }, { responseHeader, values }) => {
      const id = values.get(EXCHANGE)?.entry.requestId ?? ''
      const message = `the service ${service.slice(0, MAX_NAME)} is not known`
      const refusal = { errorCode: 'PATH_NOT_FOUND', code: Code.NotFound, message, context: {} }
      if (!services.has(service)) throw connectError(refusal, id, definitions)
      responseHeader.set('X-Request-Id', id)
      return { status: SERVING }
    },
    async *watch({ service }, { signal }) {
      yield { status: services.has(service) ? SERVING : SERVICE_UNKNOWN }
      const over = AbortSignal.any([signal, closing])
      if (!over.aborted) await new Promise((resolve) => over.addEventListener('abort', resolve))
    },
  })
}

/** The method, why it is not served, and what says more. */
function unservedMessage(name: string, reason: string, didYouMean: string | undefined): string {
  const end = '; see toolmock explain G62'
  const said = `${name} is not served: ${reason}`
  const meant = didYouMean === undefined ? '' : `; did you mean ${didYouMean}?`
  const whole = said.length + meant.length + end.length <= MAX_MESSAGE ? said + meant : said
  const most = MAX_MESSAGE - end.length
  return (whole.length <= most ? whole : `${whole.slice(0, most - 1)}…`) + end
}

/** UNIMPLEMENTED with the reason, recorded in the journal as any path that is not served. */
function unservedMethods(definitions: RpcDefinitions, services: ServiceParts) {
  const served = definitions.methods.filter(({ bindings }) => bindings.length > 0).map(({ name }) => name)
  const refusal = async ({ values }: HandlerContext): Promise<ConnectError> => {
    const exchange = values.get(EXCHANGE)
    if (!exchange) throw new Error('a call has no exchange')
    const [path = ''] = (exchange.request.url ?? '').split('?', 1)
    const name = path.slice(1)
    const { reason = 'no descriptors have it' } = definitions.methods.find((method) => method.name === name) ?? {}
    const didYouMean = nearMiss(name, served)
    const message = unservedMessage(name, reason, didYouMean)
    const refused = { errorCode: 'PATH_NOT_FOUND', code: Code.Unimplemented, message, context: {}, didYouMean }
    return connectError(await endRefused(exchange, refused, services), exchange.entry.requestId, definitions)
  }
  const [unary, stream] = createConnectRouter({
    readMaxBytes: services.bodyLimit,
    maxTimeoutMs: MAX_TIMER_MS,
  }).service(Unserved, {
    call: async (_, context) => {
      throw await refusal(context)
    },
    // eslint-disable-next-line require-yield -- it only refuses
    async *stream(_, context) {
      throw await refusal(context)
    },
  }).handlers
  return ({ headers }: IncomingMessage): UniversalHandler | undefined =>
    headers['content-type']?.startsWith('application/connect+') ? stream : unary
}
