import type { IncomingMessage, ServerResponse } from 'node:http'
import { createMcpHandler, localhostAllowedOrigins, originValidationResponse } from '@modelcontextprotocol/server'
import type { EncodedAnswer } from '../../model/domain/encoded-answer.ts'
import { errorCodeOf, ruleAndFound, ServiceError } from '../../model/domain/errors.ts'
import { isJsonObject, type JsonValue, nestsDeeper, parsedJson } from '../../model/domain/json.ts'
import { repeatedIn } from '../../model/domain/repeated-members.ts'
import { parseUrl } from '../../model/domain/parse-url.ts'
import { baseUrlOf, targetOf } from '../../model/domain/request-headers.ts'
import { quote } from '../../model/domain/text.ts'
import { errorReply, unexpectedFailure, sendAnswer, stackOf, wireAnswer } from '../http/answer.ts'
import { decodeText, readWholeBody } from '../http/body.ts'
import { PROTECTED_RESOURCE_PATH } from '../http/routes.ts'
import type { EntryFacts } from '../../journal/request-journal/request-entries.ts'
import { type Environment, ReadGuard } from '../../state/environment.ts'
import { isOfAccounts } from '../../service/operations/connections.ts'
import { didYouMean, nearest } from '../../model/domain/suggestion.ts'
import { type Caller, callerOf } from './caller.ts'
import { ListenStreams } from './listen-streams.ts'
import { McpExchange, type McpRequest } from './mcp-exchange.ts'
import { answerPlainCall, plainCall } from './plain-call.ts'
import { type ServerAddress, type ServerTool, serverTools } from './server-tools.ts'
import { clientText, type McpServices, toolServer } from './tool-server.ts'

/** What the body of a request says, for the request journal. */
interface McpMessage {
  readonly text: string
  /** Undefined where the body is no JSON. */
  readonly parsed: JsonValue | undefined
  readonly method: string
}

interface McpAnswer extends EncodedAnswer {
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
      await this.#end(request, { ...this.#errorAnswer(request, error), error })
    }
  }

  /** @throws ServiceError for everything that keeps a request from the library */
  async #serveCaller(request: McpRequest, caller: Caller, environment: Environment): Promise<void> {
    const { message, address } = request
    const services = this.#services
    const tools = serverTools(environment, { caller, address }, services)
    if (!tools) throw noServer(environment, address)
    if (message.method !== 'POST') throw notPost(message.method)
    const read = readMessage(await readWholeBody(message, services.bodyLimit))
    const repeated = repeatedIn(read.text, read.parsed)
    const exchange = new McpExchange(request, { caller, environment, repeated }, services)
    const plain = plainCall(exchange, read.parsed)
    if (plain) {
      const reply = await answerPlainCall(plain, tools, exchange, services)
      if (reply) await exchange.send(reply)
    } else await this.#serveByLibrary(request, read, exchange, tools)
    if (exchange.unauthenticated) this.#sendError(request, exchange.unauthenticated)
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
      const answer =
        originValidationResponse(asked, allowedOrigins(this.#services.baseUrl)) ??
        (await handler.fetch(asked, read.parsed === undefined ? {} : { parsedBody: read.parsed }))
      const isEndless = isListening && answer.headers.get('content-type') === 'text/event-stream'
      if (isEndless) {
        const head = { status: answer.status, headers: Object.fromEntries(answer.headers), body: '' }
        const isHeld = await this.#end(request, { read, ...head }, () => undefined)
        if (!isHeld) return
      }
      // A list of tools can say what is not durable yet, whatever a call beside it has waited for.
      const isList = listsTools(read.parsed)
      const streamed = await exchange.stream(answer, () => isEndless || (exchange.pending > 0 && !isList))
      if (exchange.isUnwanted) return
      const send = (): Promise<void> => exchange.send(streamed)
      if (isEndless || (exchange.calls > 0 && !isList)) await send()
      else {
        exchange.caller.authenticate()
        await this.#end(request, exchange.calls === 0 ? { read, ...streamed } : undefined, send)
      }
    } finally {
      if (isListening) this.#streams.close(exchange)
    }
  }

  /**
   * Ends a request. Its entry is no operation; where it called tools, `answer` is undefined: the calls have entries.
   * @returns whether the disk has not refused what it says
   */
  async #end(
    request: McpRequest,
    answer: McpAnswer | undefined,
    send?: () => Promise<void> | undefined,
  ): Promise<boolean> {
    const { message, response, entry } = request
    let isDurable = true
    await this.#services.entries.end(entry, (refused) => {
      isDurable = refused === undefined
      const refusal = refused && { ...this.#errorAnswer(request, refused), error: refused }
      const ended = refusal ?? answer
      return {
        send: refusal || !send ? () => ended && sendAnswer(response, ended) : send,
        facts: answer && ended && factsOf(message, { read: answer.read, ...ended }),
      }
    })
    return isDurable
  }

  #sendError(request: McpRequest, error: unknown): void {
    sendAnswer(request.response, this.#errorAnswer(request, error))
  }

  /** A 401 names the metadata by which a client finds out where to get a token (RFC 9728). */
  #errorAnswer({ message, address, entry: { requestId } }: McpRequest, error: unknown): EncodedAnswer {
    const rendered = wireAnswer(errorReply(error, requestId), requestId)
    if (rendered.status !== 401) return rendered
    const baseUrl = baseUrlOf(message, this.#services.baseUrl)
    const metadata = `resource_metadata="${baseUrl}${PROTECTED_RESOURCE_PATH}${address.path}"`
    const challenge = String(rendered.headers['WWW-Authenticate'] ?? 'Bearer')
    const separator = challenge.includes(' ') ? ', ' : ' '
    return { ...rendered, headers: { ...rendered.headers, 'WWW-Authenticate': challenge + separator + metadata } }
  }
}

/** What the journal says of a request that called no tool. */
function factsOf(message: IncomingMessage, { read, status, headers, body, error }: McpAnswer): EntryFacts {
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

/** 404 that names the servers that there are. */
function noServer({ model }: Environment, { kind, key, path }: ServerAddress): ServiceError {
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

function notPost(method = ''): ServiceError {
  const message = `${method} is not served on this path: the server has no sessions; allowed is POST`
  return new ServiceError('METHOD_NOT_ALLOWED', message, { headers: { Allow: 'POST' } })
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
