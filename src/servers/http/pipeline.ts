import { type CheckedRequest, checkRequest, checkResponse } from '../../model/contract/contract.ts'
import { routeOf } from '../../model/contract/route.ts'
import type { Operation } from '../../model/contract/shapes.ts'
import type { NamedSchema } from '../../model/contract/tool-schemas.ts'
import { fieldName, foundValue, MAX_VIOLATIONS } from '../../model/contract/violation.ts'
import { errorCodeOf, invalidFields, ruleAndFound, ServiceError } from '../../model/domain/errors.ts'
import type { ExtensionResponse, ExtensionResponder } from '../../model/domain/extension.ts'
import { isJsonObject, type JsonValue, parsedJson } from '../../model/domain/json.ts'
import { repeatedIn, type RepeatedMember } from '../../model/domain/repeated-members.ts'
import { bearerTokenIn } from '../../model/domain/request-headers.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import type { Vocabulary } from '../../model/domain/vocabulary.ts'
import type { EntryFacts } from '../../journal/request-journal/request-entries.ts'
import { applyDueEvents } from '../../state/account-events.ts'
import type { Call, Handler } from '../../service/operations/operation.ts'
import { noteNearMisses, noteProxyNearMisses } from '../../service/operations/near-misses.ts'
import { headerLocator, proxyRequest } from '../../service/operations/proxy.ts'
import { isBreach } from '../../journal/request-journal/findings.ts'
import { type Environment, now, ReadGuard } from '../../state/environment.ts'
import { meetsExpiry } from '../../state/expiry.ts'
import {
  errorBody,
  stackOf,
  errorReply,
  extendedResponse,
  unexpectedFailure,
  textResponse,
  wireResponse,
} from './wire-response.ts'
import { checkContentType, decodeText, parseJsonObject } from './body.ts'
import { forwardedRequest, proxiedResponse } from './proxy.ts'
import type {
  Authenticated,
  CallersEntry,
  ExtensionContext,
  OperationContext,
  ProxyContext,
  RequestContext,
} from './request-context.ts'
import { applyFaults, scenarioRequest } from './scenario-step.ts'
import { asTokenError, authenticateClient, readTokenForm } from './token-request.ts'
import { descriptorViolations } from './descriptor-rules-step.ts'
import { requestFromWire, wireWords } from './vocabulary-step.ts'
import type { ServiceParts } from './services.ts'

/** Writes its result into the context, or throws an error. It returns a promise only when it has to wait. */
type Stage<Context> = (context: Context, services: ServiceParts) => Promise<void> | void

/** Checks in their order (G17), then the reply, then the end of the journal entry. What a stage throws is the reply. */
interface Pipeline<Context> {
  readonly request: readonly Stage<Context>[]
  readonly response: readonly ((context: Context, services: ServiceParts) => void)[]
}

const OPERATION: Pipeline<OperationContext> = {
  request: [
    checkBearer,
    readCallBody,
    translateRequest,
    checkClient,
    applyDue,
    checkRequestContract,
    applyScenarios,
    runServed,
  ],
  response: [checkReply, countContractUse, translateResponse, serializeReply],
}

/** A request of the proxy has no contract: only what the service itself answers, its errors, is in the words of the wire. */
const PROXY: Pipeline<ProxyContext> = {
  request: [checkBearer, readProxyBody, applyDue, checkHeaders, applyScenarios, forwardToThirdParty],
  response: [translateResponse, serializeReply],
}

/** A request that an extension answers has no contract either. */
const EXTENSION: Pipeline<ExtensionContext> = {
  request: [checkBearer, readAnyBody, applyDue, checkExtensionRules, applyScenarios, runExtension],
  response: [translateResponse, serializeReply],
}

/** A request for which no stage waits, such as most reads, is answered in the same turn of the event loop. */
export function runRoute(
  context: RequestContext & Pick<OperationContext | ExtensionContext, 'route'>,
  services: ServiceParts,
): Promise<void> | undefined {
  // The route says which of the two it is.
  return 'extension' in context.route
    ? runPipeline(EXTENSION, context as ExtensionContext, services)
    : runPipeline(OPERATION, context as OperationContext, services)
}

export function runProxy(context: ProxyContext, services: ServiceParts): Promise<void> | undefined {
  return runPipeline(PROXY, context, services)
}

function runPipeline<Context extends RequestContext>(
  { request, response }: Pipeline<Context>,
  context: Context,
  services: ServiceParts,
): Promise<void> | undefined {
  const end = (): Promise<void> | undefined =>
    services.entries.end(context, (refused) => {
      if (refused) replyWithError(refused, context)
      for (const stage of response) stage(context, services)
      return { facts: entryFacts(context), send: () => sendResponseOf(context) }
    })
  try {
    const pending = runStages(request, context, services)
    if (pending) return pending.catch((error: unknown) => replyWithError(error, context)).then(end)
  } catch (error) {
    replyWithError(error, context)
  }
  return end()
}

function runStages<Context extends RequestContext>(
  stages: readonly Stage<Context>[],
  context: Context,
  services: ServiceParts,
  from = 0,
): Promise<void> | undefined {
  for (let at = from; at < stages.length; at++) {
    const pending = stages[at]?.(context, services)
    if (pending) return pending.then(() => runStages(stages, context, services, at + 1))
  }
  return undefined
}

function replyWithError(error: unknown, context: RequestContext): void {
  if (errorCodeOf(error) === 'STORAGE_UNAVAILABLE') context.trace.markRolledBack()
  context.error = context.route.bearer ? error : asTokenError(error)
  context.reply = errorReply(context.error, context.requestId)
}

/** Every operation but the token request needs one (5.3, 1.2, G15). @throws ServiceError UNAUTHENTICATED */
function checkBearer(context: RequestContext, { registry }: ServiceParts): void {
  if (!context.route.bearer) return
  const { call, headers } = context.request
  const { environment, client } =
    call?.authenticate?.(context) ?? authenticateBearer(headers.authorization, registry, context)
  context.environment = environment
  context.client = client
}

/** @param entry gets the environment and client that a token was issued to, whether it is still valid or not */
export function authenticateBearer(
  header: string | undefined,
  registry: ServiceParts['registry'],
  entry: CallersEntry,
): Authenticated {
  if (!header)
    throw unauthenticated('the Authorization header is missing; send Bearer and an access token of POST /oauth/token')
  const token = bearerTokenIn(header)
  if (token === undefined) throw unauthenticated('the Authorization header is not of the form "Bearer <access token>"')
  const issued = registry.byBearer.get(token)
  if (!issued) throw unauthenticated('the access token is unknown', 'invalid_token')
  const { environment } = issued
  const { client_id, expires_at, revoked_at } = issued.token
  const client = environment.model.tables.clients.get(client_id)
  entry.environment = environment
  entry.client = client
  const anew = 'get a new one with POST /oauth/token'
  if (revoked_at !== undefined)
    throw unauthenticated(`the access token was revoked at ${revoked_at}; ${anew}`, 'invalid_token')
  if (!client) throw unauthenticated('the client of this access token is gone', 'invalid_token')
  if (meetsExpiry(environment, 'bearer_tokens', issued.token))
    throw unauthenticated(`the access token expired at ${expires_at}; ${anew}`, 'invalid_token')
  return { environment, client }
}

/** RFC 6750 3: the error attribute only when a token was presented. */
export function unauthenticated(message: string, error?: 'invalid_token'): ServiceError {
  const challenge = error ? `Bearer error="${error}"` : 'Bearer'
  return new ServiceError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': challenge } })
}

/** Reads the body that the operation takes (G7). Operations that take none leave it unread. */
function readCallBody(context: OperationContext, { bodyLimit }: ServiceParts): Promise<void> | undefined {
  const { request, route } = context
  if (request.call?.refused) throw request.call.refused
  if (route.bodyMediaType === null || !request.hasBody) return undefined
  if (!route.bearer) return readTokenForm(context, bodyLimit)
  checkContentType(request.headers, route.bodyMediaType)
  return request.readBody(bodyLimit).then((bytes) => {
    context.rawBody = bytes
    const text = decodeText(bytes)
    // The journal keeps it: a text is less work for the garbage collector than a buffer.
    context.rawBody = text
    const { value, repeated } = parseJsonObject(text)
    context.body = value
    warnOfRepeated(context.trace, repeated)
  })
}

/** The last member of a name counts, and none should have to (G76). */
export function warnOfRepeated(trace: RequestTrace, repeated: readonly RepeatedMember[]): void {
  for (const { path, first, last } of repeated.slice(0, MAX_VIOLATIONS)) {
    const values = `${foundValue(first, path)} and ${foundValue(last, path)}`
    const description = ruleAndFound('must be in its object once; the last one counts', values)
    trace.warn({ field: fieldName(path), description, kind: 'duplicate_member' })
  }
}

/** The body of a request to an extension, whatever its type. */
function readAnyBody(context: ExtensionContext, { bodyLimit }: ServiceParts): Promise<void> | undefined {
  const { request } = context
  if (request.call?.refused) throw request.call.refused
  if (!request.hasBody) return undefined
  return request.readBody(bodyLimit).then((bytes) => {
    context.rawBody = bytes
    const text = bytes.toString()
    warnOfRepeated(context.trace, repeatedIn(text, parsedJson(text)))
  })
}

/** Bytes that a body of the proxy may have, whatever the limit of the API's bodies is. */
const MAX_PROXY_BODY = 32 * 1024 * 1024

/** A larger one is not kept in memory to be sent again after a 401: it is sent on while it comes in. */
const MAX_REPEATED_BODY = 1024 * 1024

function readProxyBody(context: ProxyContext): Promise<void> | undefined {
  if (!context.request.hasBody) return undefined
  return context.request.readSentBody(MAX_PROXY_BODY, MAX_REPEATED_BODY).then(({ start, rest }) => {
    context.rawBody = start
    context.rest = rest
  })
}

/** Translates the request into the document's words, which all later stages use (G48). */
function translateRequest(context: OperationContext): void {
  const vocabulary = vocabularyOf(context)
  if (vocabulary) requestFromWire(context, vocabulary)
}

/** The token request names its client by credentials instead of a bearer token (5.1). */
function checkClient(context: OperationContext, services: ServiceParts): Promise<void> | undefined {
  return context.route.bearer ? undefined : authenticateClient(context, services)
}

/** Applies everything that has fallen due by the environment's clock, before the operation reads anything. */
function applyDue(context: RequestContext): void {
  const environment = environmentIn(context)
  // Its body may have come slowly.
  context.readGuard = new ReadGuard(environment)
  context.readGuard.assertUsable()
  if (environment.model.due.first(now(environment))) applyDueEvents(environment, context.trace)
}

/** Checks the request by `spec/openapi.yaml`. @throws ServiceError VALIDATION_FAILED with every violation (G16) */
function checkRequestContract(context: OperationContext, services: ServiceParts): void {
  const { request, route, documentQuery } = context
  // A body that the operation does not take stays unread, and gets a warning.
  const body = route.bodyMediaType === null && request.hasBody ? UNREAD : context.body
  const requestParts = { query: documentQuery ?? request.query, path: request.pathParameters, body }
  const checked = checkRequest(route, requestParts, services)
  context.checked = checked
  noteNearMisses({ environment: environmentIn(context), trace: context.trace }, route.operation, checked)
  const { violations } = checked
  // A field has one violation.
  const ofDescriptors = descriptorViolations(context, checked.body as JsonValue | undefined, services).filter(
    ({ field }) => !violations.some((violation) => violation.field === field),
  )
  if (violations.length + ofDescriptors.length > 0)
    throw invalidFields([...violations, ...ofDescriptors].slice(0, MAX_VIOLATIONS))
}

const UNREAD = Object.freeze({})

/** A request of the proxy has no contract but for the headers that name the account. */
function checkHeaders(context: ProxyContext): void {
  const { headers } = context.request
  noteProxyNearMisses({ environment: environmentIn(context), trace: context.trace }, headers, headerLocator(headers))
}

/** A request that an extension answers has no contract but the client's. */
function checkExtensionRules(context: ExtensionContext, services: ServiceParts): void {
  if (!services.descriptorRules) return
  const violations = descriptorViolations(context, parsedJson(context.rawBody.toString()), services)
  if (violations.length > 0) throw invalidFields(violations)
}

/** The rules of scenarios at `service` (1.4). @throws ServiceError UNAUTHENTICATED */
function applyScenarios(context: RequestContext, services: ServiceParts): Promise<void> | undefined {
  const environment = environmentIn(context)
  const scenarios = services.scenarios.of(environment)
  const fired = scenarios.active ? scenarios.match(scenarioRequest(context, environment)) : undefined
  if (!fired) return undefined
  // Such a fault may have ended the bearer token or the session of this very request.
  if (ENDING_CALLERS.some((kind) => fired.applied.has(kind))) checkBearer(context, services)
  return fired.faults.length === 0 ? undefined : applyFaults(context, services, environment, fired.faults)
}

/** Kinds of faults after which a request may have no caller any more. */
export const ENDING_CALLERS = ['revoke_bearer_tokens', 'advance_clock', 'expire_mcp_session'] as const

function runServed(context: OperationContext, services: ServiceParts): Promise<void> | undefined {
  const { fault, route, checked, trace } = context
  if (fault && (fault.injected || fault.cut)) return undefined
  if (!checked) throw new Error('the operation comes after the contract check')
  const environment = environmentIn(context)
  const call: Call<Operation> = {
    environment,
    thirdParty: services.thirdParties.client(environment, trace),
    clientId: context.client?.id ?? '',
    baseUrl: () => context.request.baseUrl(services.baseUrl),
    documentedOnly: services.documentedOnly,
    mcp: services.mcp,
    query: checked.query,
    path: checked.path,
    body: checked.body,
    toolSchemas: services.toolSchemas,
    trace,
  }
  // The table pairs each operation with its own handler; the compiler cannot see that a route's name picks both.
  const handler = services.operations[route.operation] as Handler<Operation>
  const reply = handler(call)
  if (reply instanceof Promise) {
    return reply.then((result) => {
      context.reply = result
    })
  }
  context.reply = reply
  return undefined
}

function forwardToThirdParty(context: ProxyContext, services: ServiceParts): Promise<void> | undefined {
  const { fault, request, trace } = context
  if (fault && (fault.injected || fault.cut)) return undefined
  const environment = environmentIn(context)
  const thirdParty = services.thirdParties.client(environment, trace)
  const call = { environment, thirdParty, documentedOnly: services.documentedOnly, trace }
  return proxyRequest(call, headerLocator(request.headers), forwardedRequest(context)).then((response) => {
    context.foreign = proxiedResponse(response, context.requestId)
  })
}

/** Answers by the responders of an extension, unless a scenario has answered in its place. @throws ServiceError PATH_NOT_FOUND */
function runExtension(context: ExtensionContext, services: ServiceParts): Promise<void> | undefined {
  const { fault, request, route, rawBody, requestId } = context
  const { toolSchemas } = services
  if (fault && (fault.injected || fault.cut)) return undefined
  const { method, query, headers } = request
  const [path = ''] = request.url.split('?', 1)
  const incoming = {
    method,
    protocol: request.call?.protocol ?? 'http',
    path,
    url: `${request.baseUrl(services.baseUrl)}${path}`,
    query: new URLSearchParams(query),
    headers,
    body: Buffer.from(rawBody),
    check: (responder: ExtensionResponder, body: JsonValue) =>
      schemasOf(responder).flatMap((schema) => toolSchemas.check(schema, body, 'body')),
  }
  const take = (response: ExtensionResponse): void => {
    const { extension } = route.extension
    if (!response) {
      throw new ServiceError('PATH_NOT_FOUND', `no responder of extension ${extension} answers ${method} ${path}`)
    }
    context.trace.responder = `"${response.responder}" of extension ${extension}`
    if (response.kind === 'answer') context.foreign = extendedResponse(response, requestId)
    else context.reply = { status: response.status, body: errorBody({ ...response, context: {} }, requestId) }
  }
  const run = (): Promise<void> | undefined => {
    const response = services.thirdParties.respondByExtension(environmentIn(context), route.extension, incoming)
    if (response instanceof Promise) return response.then(take)
    take(response)
    return undefined
  }
  const schemas = route.extension.responders.flatMap(schemasOf)
  const compiling = schemas.flatMap((schema) => toolSchemas.prepare(schema) ?? [])
  return compiling.length === 0 ? run() : Promise.all(compiling).then(run)
}

function schemasOf({ name, body_schema }: ExtensionResponder): NamedSchema[] {
  return body_schema ? [{ name, input_schema: body_schema }] : []
}

/** Checks the mock's own answer by the spec. A violation is a defect of the mock: it is logged and kept in the journal. */
function checkReply(context: OperationContext, { log, responseCache }: ServiceParts): void {
  const { route, reply, error, fault } = context
  const { operation } = route
  // The author of a scenario may want an answer that the spec does not have.
  if (fault && (fault.injected || fault.cut)) return
  if (!reply) throw new Error(`${operation} left no reply`)
  const { status } = reply
  // A tool that fails does so by what the third party answered.
  const isDefect = status === 500 && error !== undefined && errorCodeOf(error) !== 'TOOL_ERROR'
  if (isDefect) log.error('an operation failed', { operation, error: stackOf(error) })
  // There is no validator for 503: a disk that refuses is a matter of the mock, not of the service.
  if (status === 503) return
  const cached = responseCache.of(reply)
  if (cached?.checkedAs?.operation === operation && cached.checkedAs.status === status) return
  const violations = checkResponse(operation, status, reply.body)
  context.responseViolations = violations
  if (violations.length > 0) {
    const message = 'an answer of the mock breaks its contract; please report this'
    log.error(message, { operation, status, violations })
  } else if (cached) cached.checkedAs = { operation, status }
}

/** Adds the request and its answer to the contract record of its environment, in the document's words (G48). */
function countContractUse(context: OperationContext, services: ServiceParts): void {
  const { route, request, error, fault, reply } = context
  const { operation } = route
  const environment = context.environment ?? services.defaultEnvironment()
  const record = services.records.of(environment?.name ?? '')
  // The record has the fields of a cached body already.
  const cached = reply && !fault ? services.responseCache.of(reply) : undefined
  const isKnown = cached?.recordedAs?.operation === operation && cached.recordedAs.record === record
  if (cached && !isKnown) cached.recordedAs = { operation, record }
  record.addUse({
    operation,
    checked: context.checked ?? checkedForm(context),
    body: context.body,
    status: fault?.cut ? 0 : (reply?.status ?? 500),
    errorCode: answeredCode(context),
    response: isKnown ? undefined : reply?.body,
    injected: fault !== undefined,
    isBreach: error !== undefined && isBreach(error, request.headers.authorization),
  })
}

/** A form whose client is not authenticated has not been checked yet. What it lacks may be there under another name. */
function checkedForm({ route, request, body }: RequestContext): CheckedRequest<Operation> | undefined {
  if (route.bearer || body === undefined || route.operation !== TOKEN_ROUTE.operation) return undefined
  return checkRequest(TOKEN_ROUTE, { query: request.query, path: {}, body })
}

const TOKEN_ROUTE = routeOf('create_token')

/** Translates the answer into the environment's vocabulary, for caller and journal (G48). */
function translateResponse(context: RequestContext): void {
  const vocabulary = vocabularyOf(context)
  if (vocabulary) context.wire = wireWords(context, vocabulary)
}

/** Undefined without one, and at the token endpoint, whose words are those of RFC 6749. */
function vocabularyOf({ route, environment }: RequestContext): Vocabulary | undefined {
  return route.bearer ? environment?.vocabulary : undefined
}

function serializeReply(context: RequestContext, { responseCache }: ServiceParts): void {
  const { fault, requestId, foreign, error } = context
  const reply = context.wire?.reply ?? context.reply
  // A refused commit has an answer of its own.
  const text = error === undefined ? fault?.text : undefined
  if (foreign && error === undefined) context.wireResponse = foreign
  else if (reply && text !== undefined) context.wireResponse = textResponse(reply, text, requestId)
  else if (reply) context.wireResponse = wireResponse(reply, requestId, responseCache.of(reply))
}

function entryFacts(context: RequestContext): EntryFacts {
  const { request, wireResponse: response, error } = context
  const { call } = request
  const ended = call ? call.cancelled : request.response.destroyed ? 'its client has gone' : undefined
  return {
    operation: context.route.operation,
    protocol: call?.protocol,
    method: call?.method ?? request.method,
    url: call?.url ?? request.url,
    requestHeaders: request.rawHeaders,
    requestBody: context.rawBody,
    status: context.fault?.cut || ended !== undefined ? 0 : (response?.status ?? 500),
    errorCode: answeredCode(context),
    responseHeaders: response?.headers,
    responseBody: response?.body,
    mcpClient: call?.mcpClient,
    vocabulary: context.wire?.vocabulary,
    error,
    checked: context.checked ?? checkedForm(context),
    checkViolations: context.checked?.violations,
    documentQuery: context.documentQuery,
    documentBody: context.body,
    responseViolations: context.responseViolations,
    failure: unexpectedFailure(error) ?? ended,
  }
}

/** The `error_code` of the answer, whether the mock, a scenario or an extension gave it; null for a success. */
function answeredCode({ route, error, fault, reply }: RequestContext): string | null {
  if (error !== undefined) return errorCodeOf(error)
  if (!(fault?.injected || 'extension' in route) || !isJsonObject(reply?.body)) return null
  const { details, error: oauthError } = reply.body
  const [info] = Array.isArray(details) ? details : []
  const code = isJsonObject(info) ? info['error_code'] : oauthError
  return typeof code === 'string' ? code : null
}

function sendResponseOf({ request, wireResponse: response, fault }: RequestContext): Promise<void> | undefined {
  return response && !fault?.cut ? request.send(response, fault?.deliver) : undefined
}

/** The environment, which every stage after the authentication needs. */
function environmentIn({ environment, route }: RequestContext): Environment {
  if (!environment) throw new Error(`${route.operation} reached a stage that needs an environment without one`)
  return environment
}
