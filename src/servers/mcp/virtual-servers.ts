import type { IncomingMessage, ServerResponse } from 'node:http'
import { createMcpHandler, localhostAllowedOrigins, originValidationResponse } from '@modelcontextprotocol/server'
import type { Account } from '../../model/domain/account.ts'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import { errorCodeOf, ruleAndFound, ServiceError } from '../../model/domain/errors.ts'
import {
  fieldValues,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  nestsDeeper,
  parsedJson,
} from '../../model/domain/json.ts'
import { accountByLocator, type Locator } from '../../model/domain/locator.ts'
import { repeatedIn } from '../../model/domain/repeated-members.ts'
import { parseUrl } from '../../model/domain/parse-url.ts'
import { baseUrlOf, MCP_SESSION_HEADER, targetOf } from '../../model/domain/request-headers.ts'
import { MCP_REQUESTS } from '../../model/domain/scenario.ts'
import { quote } from '../../model/domain/text.ts'
import { errorBody, errorReply, unexpectedFailure, sendResponse, stackOf, wireResponse } from '../http/wire-response.ts'
import { decodeText, readWholeBody } from '../http/body.ts'
import { ENDING_CALLERS } from '../http/pipeline.ts'
import { PROTECTED_RESOURCE_PATH } from '../http/routes.ts'
import type { EntryFacts } from '../../journal/request-journal/request-entries.ts'
import { type Environment, ReadGuard } from '../../state/environment.ts'
import { isOfAccounts } from '../../service/operations/connections.ts'
import { didYouMean, nearest } from '../../model/domain/suggestion.ts'
import { actBefore, deliveryOf, encodeInjected, injectedResponse } from '../../scenarios/delivery.ts'
import { type Caller, callerOf, noInstance } from './caller.ts'
import { ListenStreams } from './listen-streams.ts'
import { McpExchange, type McpRequest } from './mcp-exchange.ts'
import { respondToPlainCall, plainCall } from './plain-call.ts'
import { type ServerAddress, type ServerTool, serverTools } from './server-tools.ts'
import { beginSession, hasSessions, inSession } from './sessions.ts'
import { clientText, type McpServices, toolServer } from './tool-server.ts'

/** What the body of a request says, for the request journal. */
interface McpMessage {
  readonly text: string
  /** Undefined where the body is no JSON. */
  readonly parsed: JsonValue | undefined
  readonly method: string
}

interface McpResponse extends EncodedResponse {
  readonly read?: McpMessage | undefined
  readonly error?: unknown
}

/** Deeper than the body of a call may nest, so that it is the pipeline which refuses a call, and the journal has it. */
const MAX_DEPTH = 200

/** The virtual MCP servers of all environments (2.5, G61). */
export class VirtualServers {
  readonly #services: McpServices
  readonly #streams: ListenStreams

  constructor(services: McpServices) {
    this.#services = services
    this.#streams = new ListenStreams(services)
  }

  /** Answers a request to the server at an address. */
  async serve(message: IncomingMessage, response: ServerResponse, address: ServerAddress): Promise<void> {
    const entry = this.#services.entries.begin('request', 'operations', message.headers)
    const request: McpRequest = { message, response, entry, address }
    try {
      const caller = callerOf(message, address, this.#services)
      const { environment } = caller.authenticate(entry)
      entry.readGuard = new ReadGuard(environment)
      await this.#serveCaller(request, caller, environment)
    } catch (error) {
      if (!(error instanceof ServiceError))
        this.#services.log.error('a request to an MCP server failed', { error: stackOf(error) })
      await this.#endRequest(request, { ...this.#errorResponse(request, error), error })
    }
  }

  /** @throws ServiceError for everything that keeps a request from the library */
  async #serveCaller(request: McpRequest, caller: Caller, environment: Environment): Promise<void> {
    const { message, address } = request
    const services = this.#services
    const tools = serverTools(environment, { caller, address }, services)
    if (!tools) throw noServer(environment, address)
    if (message.method !== 'POST') return this.#serveOther(request, caller, environment)
    const read = readMessage(await readWholeBody(message, services.bodyLimit))
    const repeated = repeatedIn(read.text, read.parsed)
    const exchange = new McpExchange(
      request,
      { caller: inSession(caller, request, read.parsed), environment, repeated },
      services,
    )
    if (hasSessions(environment)) exchange.caller.authenticate()
    const method = MCP_REQUESTS.find((each) => each === read.method && each !== 'tools/call')
    if (method && (await this.#applyRules(request, exchange, method, read))) return
    const plain = plainCall(exchange, read.parsed)
    if (plain) {
      const reply = await respondToPlainCall(plain, tools, exchange, services)
      if (reply) await exchange.send(reply)
    } else await this.#serveByLibrary(request, read, exchange, tools)
    if (exchange.unauthenticated) this.#sendError(request, exchange.unauthenticated)
    const { injected } = exchange
    exchange.injected = undefined
    if (injected) await exchange.send(this.#withMetadata(request, injected))
  }

  /** DELETE ends a session; a GET is refused, unless a rule answers it. */
  async #serveOther(request: McpRequest, plainCaller: Caller, environment: Environment): Promise<void> {
    const { message, entry } = request
    const caller = inSession(plainCaller, request, undefined)
    const exchange = new McpExchange(request, { caller, environment, repeated: [] }, this.#services)
    if (message.method === 'GET' && (await this.#applyRules(request, exchange, 'get'))) return
    if (message.method !== 'DELETE' || !hasSessions(environment)) throw notPost(message.method, environment)
    caller.authenticate(entry)
    environment.mcpSessions.delete(String(message.headers[MCP_SESSION_HEADER]))
    await this.#endRequest(request, { status: 200, headers: {}, body: '' })
  }

  /** Applies the rules about a request of the protocol that calls no tool. @returns whether it is answered */
  async #applyRules(
    request: McpRequest,
    exchange: McpExchange,
    mcp: (typeof MCP_REQUESTS)[number],
    read?: McpMessage,
  ): Promise<boolean> {
    const { scenarios: registry, pauses } = this.#services
    const { message, response, entry, address } = request
    const { environment, caller } = exchange
    const { trace, requestId } = entry
    const scenarios = registry.of(environment)
    if (!scenarios.active) return false
    const connector = address.kind === 'connections' ? address.key : undefined
    const locator = callerLocator(caller, connector)
    const fired = scenarios.match({
      ...{ at: 'service', mcp, clientId: entry.client?.id, connector, body: read?.parsed, trace, locator },
      query: fieldValues(new URLSearchParams(targetOf(message).replace(/^[^?]*/, ''))),
      headers: message.headers as JsonObject,
      account: accountOfCaller(environment, locator),
    })
    if (!fired) return false
    if (ENDING_CALLERS.some((kind) => fired.applied.has(kind))) caller.authenticate()
    const connection = { response, pauses, random: () => scenarios.random(), trace }
    if (await actBefore(fired.faults, connection)) {
      await this.#endRequest(request, { read, status: 0, headers: {}, body: '' }, () => undefined)
      return true
    }
    const deliver = deliveryOf(fired.faults)
    exchange.deliver = deliver && ((to, response) => deliver({ ...connection, response: to }, response))
    const ids = { executionId: () => '', accountId: () => '' }
    const injected = injectedResponse(fired.faults, { at: 'service', ...ids })
    if (!injected) return false
    const body = injected.error ? errorBody(injected.error, requestId) : injected.body
    const wireResponse = this.#withMetadata(request, encodeInjected({ ...injected, body }))
    await this.#endRequest(request, { read, ...wireResponse }, () => exchange.send(wireResponse))
    return true
  }

  async #serveByLibrary(
    request: McpRequest,
    read: McpMessage,
    exchange: McpExchange,
    tools: readonly ServerTool[],
  ): Promise<void> {
    const asked = webRequest(exchange, read)
    const isListening = read.method === 'subscriptions/listen'
    const listening = isListening ? this.#streams.open({ address: request.address, tools, exchange }) : undefined
    const handler = createMcpHandler((context) => toolServer(tools, exchange, context, this.#services), listening)
    try {
      const response =
        originValidationResponse(asked, allowedOrigins(this.#services.baseUrl)) ??
        (await handler.fetch(asked, read.parsed === undefined ? {} : { parsedBody: read.parsed }))
      const isEndless = isListening && response.headers.get('content-type') === 'text/event-stream'
      if (isEndless) {
        const head = { status: response.status, headers: Object.fromEntries(response.headers), body: '' }
        const isHeld = await this.#endRequest(request, { read, ...head }, () => undefined)
        if (!isHeld) return
      }
      // A list of tools can say what is not durable yet, whatever a call beside it has waited for.
      const isList = listsTools(read.parsed)
      const streamed = await exchange.stream(response, () => isEndless || (exchange.pending > 0 && !isList))
      if (exchange.isUnwanted) return
      const send = (): Promise<void> => exchange.send(streamed)
      if (isEndless || (exchange.calls > 0 && !isList)) await send()
      else {
        exchange.caller.authenticate()
        const begins =
          read.method === 'initialize' && hasSessions(exchange.environment) && /"result":/.test(String(streamed.body))
        if (begins)
          Object.assign(streamed.headers, { 'Mcp-Session-Id': beginSession(exchange.environment, request.address) })
        await this.#endRequest(request, exchange.calls === 0 ? { read, ...streamed } : undefined, send)
      }
    } finally {
      if (isListening) this.#streams.close(exchange)
    }
  }

  /**
   * Ends a request. Its entry is no operation; where it called tools, `answer` is undefined: the calls have entries.
   * @returns whether the disk has not refused what it says
   */
  async #endRequest(
    request: McpRequest,
    mcpResponse: McpResponse | undefined,
    send?: () => Promise<void> | undefined,
  ): Promise<boolean> {
    const { message, response, entry } = request
    let isDurable = true
    await this.#services.entries.end(entry, (refused) => {
      isDurable = refused === undefined
      const refusal = refused && { ...this.#errorResponse(request, refused), error: refused }
      const ended = refusal ?? mcpResponse
      return {
        send: refusal || !send ? () => ended && sendResponse(response, ended) : send,
        facts: mcpResponse && ended && mcpFacts(message, { read: mcpResponse.read, ...ended }),
      }
    })
    return isDurable
  }

  #sendError(request: McpRequest, error: unknown): void {
    sendResponse(request.response, this.#errorResponse(request, error))
  }

  #errorResponse(request: McpRequest, error: unknown): EncodedResponse {
    const { requestId } = request.entry
    return this.#withMetadata(request, wireResponse(errorReply(error, requestId), requestId))
  }

  /** A 401 names the metadata by which a client finds out where to get a token (RFC 9728). */
  #withMetadata({ message, address }: McpRequest, rendered: EncodedResponse): EncodedResponse {
    if (rendered.status !== 401) return rendered
    const baseUrl = baseUrlOf(message, this.#services.baseUrl)
    const metadata = `resource_metadata="${baseUrl}${PROTECTED_RESOURCE_PATH}${address.path}"`
    const challenge = String(rendered.headers['WWW-Authenticate'] ?? 'Bearer')
    const separator = challenge.includes(' ') ? ', ' : ' '
    return { ...rendered, headers: { ...rendered.headers, 'WWW-Authenticate': challenge + separator + metadata } }
  }
}

/** What the journal says of a request that called no tool. */
function mcpFacts(message: IncomingMessage, { read, status, headers, body, error }: McpResponse): EntryFacts {
  return {
    protocol: 'mcp',
    error,
    method: read?.method ?? message.method,
    url: targetOf(message),
    requestHeaders: message.rawHeaders,
    requestBody: read?.text,
    status,
    errorCode: error === undefined ? null : errorCodeOf(error),
    responseHeaders: headers,
    responseBody: body,
    mcpClient: clientText(read?.parsed),
    failure: unexpectedFailure(error),
  }
}

/** A page of another site must not call a server, with whatever token it has found (MCP, "Security Warning"). */
function allowedOrigins(baseUrl: string | undefined): string[] {
  // The Host says nothing: a page whose name was rebound to this address sends that name.
  const host = parseUrl(baseUrl ?? '')?.hostname
  return [...localhostAllowedOrigins(), ...(host === undefined ? [] : [host])]
}

/** The fields by which a request of the server of a connection names its account. */
function callerLocator(caller: Caller, connector = ''): Record<string, string> {
  try {
    const { connected_account_id: id, ...fields } = caller.account(connector) as Record<string, string>
    return { ...fields, ...(id !== undefined && { id }) }
  } catch {
    return {}
  }
}

function accountOfCaller({ model }: Environment, locator: Locator): Account | undefined {
  try {
    return locator.id || locator.connector ? accountByLocator(model.accountIndex, locator, false) : undefined
  } catch {
    return undefined
  }
}

/** 404 that names the servers that there are; the URL of an instance is for its user alone. */
function noServer({ model }: Environment, { kind, key, path }: ServerAddress): ServiceError {
  if (kind === 'instances') return noInstance(path)
  const { connections, mcp_configs } = model.tables
  const keys =
    kind === 'servers'
      ? [...mcp_configs.values()].map(({ uuid }) => uuid)
      : [...connections.values()].filter(isOfAccounts).map(({ key_id }) => key_id)
  const what = kind === 'servers' ? 'configs' : 'connections'
  const servers = keys.length === 0 ? `there are no ${what}` : `the ${what} are ${keys.slice(0, MAX_NAMED).join(', ')}`
  const more = keys.length > MAX_NAMED ? ', …' : ''
  const message = `there is no MCP server ${quote(path)}${didYouMean(key, keys)}; ${servers}${more}`
  const meant = nearest(key, keys)
  const context = meant === undefined ? {} : { didYouMean: `POST ${path.slice(0, path.lastIndexOf('/') + 1)}${meant}` }
  return new ServiceError('PATH_NOT_FOUND', message, context)
}

const MAX_NAMED = 30

function notPost(method = '', environment: Environment): ServiceError {
  const [why, allowed] = hasSessions(environment) ? ['has no streams', 'POST, DELETE'] : ['has no sessions', 'POST']
  const message = `${method} is not served on this path: the server ${why}; allowed is ${allowed}`
  return new ServiceError('METHOD_NOT_ALLOWED', message, { headers: { Allow: allowed } })
}

/** @throws ServiceError MALFORMED_BODY */
function readMessage(octets: Buffer): McpMessage {
  const text = decodeText(octets)
  if (nestsDeeper(text, MAX_DEPTH)) {
    const description = ruleAndFound(`must nest at most ${MAX_DEPTH} levels deep`, 'more levels')
    const violations = [{ field: 'body', description, constraint: 'max_depth' }]
    throw new ServiceError('MALFORMED_BODY', `the body ${description}`, { violations })
  }
  // The library says what is wrong with a text that is no JSON.
  const parsed = parsedJson(text)
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed
  const method = isJsonObject(first) && typeof first['method'] === 'string' ? first['method'] : 'POST'
  return { text, parsed, method: method.slice(0, MAX_METHOD) }
}

const MAX_METHOD = 100

/** Whether a list of tools is among the messages of a batch. */
function listsTools(parsed: unknown): boolean {
  return Array.isArray(parsed) && parsed.some((each) => isJsonObject(each) && each['method'] === 'tools/list')
}

/** The headers that the library reads. */
const READ_HEADER = /^(?:accept|content-type|origin|mcp-.*)$/

/** A whole `Request` takes much of the CPU of a call, and the library reads its body only where it is no JSON. */
function webRequest({ message, baseUrl, gone }: McpExchange, { text, parsed }: McpMessage): Request {
  const pairs = Object.entries(message.headers).filter(([name]) => READ_HEADER.test(name))
  const headers = new Headers(pairs.map(([name, value]): [string, string] => [name, String(value)]))
  const request = { method: 'POST', url: baseUrl + targetOf(message), headers, signal: gone }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- it has what the library reads
  return parsed === undefined ? new Request(request.url, { ...request, body: text }) : (request as Request)
}
