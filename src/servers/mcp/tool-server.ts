import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  type InputRequiredResult,
  type CallToolResult,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { routeOf } from '../../model/contract/route.ts'
import type { Tool } from '../../model/domain/connector.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import { isJsonObject, type JsonObject, jsonText, ownMember, parseJson } from '../../model/domain/json.ts'
import { maskText } from '../../model/domain/masking.ts'
import { targetOf } from '../../model/domain/request-headers.ts'
import { quote } from '../../model/domain/text.ts'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import type { RepeatedMember } from '../../model/domain/repeated-members.ts'
import { runRoute, warnOfRepeated } from '../http/pipeline.ts'
import { RemoteRequest } from '../http/remote-request.ts'
import { createContext } from '../http/routes.ts'
import type { ServiceParts } from '../http/services.ts'
import { createMagicLink } from '../../service/operations/magic-links.ts'
import type { Reply } from '../../service/operations/operation.ts'
import { pageOfList } from '../../service/operations/paging.ts'
import type { OperationTable } from '../../service/operations/table.ts'
import { toolError } from '../../service/operations/third-party-calls.ts'
import { CheckedServer } from './checked-server.ts'
import type { McpExchange } from './mcp-exchange.ts'
import type { ServerTool } from './server-tools.ts'

/** What virtual servers need of the server. */
export interface McpServices extends ServiceParts {
  readonly version: string
}

/** How often a caller that asked for it hears that a call goes on, in milliseconds. */
const PROGRESS_MS = 1000

const CALL_TOOL = routeOf('execute_tool')

/** The server of one request: it lists tools, and calls them by the request pipeline, as execute_tool does. */
export function toolServer(
  tools: readonly ServerTool[],
  exchange: McpExchange,
  { era }: McpRequestContext,
  services: McpServices,
): CheckedServer {
  const isModern = era === 'modern'
  const server = new CheckedServer(serverInfo(services), { capabilities: { tools: { listChanged: isModern } } })
  server.isPaged = true
  server.setRequestHandler('tools/list', ({ params }) => ({ ...toolPage(tools, exchange, params?.cursor), ttlMs: 0 }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { envelope, inputResponses } = context.mcpReq
    const progress = progressOf(context, exchange)
    exchange.pending += 1
    try {
      const call = { ...params, envelope: isModern ? envelope : undefined, isRetry: inputResponses !== undefined }
      const result = await callTool(call, { tools, exchange }, services)
      if (!result) throw new Error('a scenario ended the call')
      return result
    } finally {
      exchange.pending -= 1
      clearInterval(progress)
    }
  })
  return server
}

/** A page of the tools. A cursor is good for the list of its server and caller alone. */
function toolPage(tools: readonly ServerTool[], exchange: McpExchange, cursor = '') {
  const { environment, address, caller } = exchange
  const page_size = environment.settings.mcp?.page_size ?? (tools.length || 1)
  const list = tools.map(({ tool }, at) => ({ position: at + 1, item: tool }))
  const listing = `tools of ${address.path}${caller.isReadOnly ? ', read-only' : ''}`
  try {
    const { items, next_page_token } = pageOfList(environment, listing, list, { page_size, page_token: cursor })
    return { tools: items.map(mcpToolView), ...(next_page_token !== '' && { nextCursor: next_page_token }) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const message = `params.cursor: ${quote(cursor)} is no nextCursor of this list`
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
  }
}

export function serverInfo({ version }: McpServices): { name: string; version: string } {
  return { name: 'toolmock', version }
}

function mcpToolView({ name, display_name, description, input_schema, output_schema, annotations }: Tool) {
  const inputSchema = { ...input_schema, type: 'object' as const }
  const output = output_schema && { outputSchema: { ...output_schema, type: 'object' as const } }
  const hints = annotations?.read_only_hint === undefined ? {} : { readOnlyHint: annotations.read_only_hint }
  return {
    name,
    title: display_name,
    description,
    inputSchema,
    ...output,
    annotations: { title: display_name, ...hints },
  }
}

/** Says each second that a call goes on, to a caller that gave a token for it. */
function progressOf({ mcpReq }: ServerContext, exchange: McpExchange): NodeJS.Timeout | undefined {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  let seconds = 0
  return setInterval(() => {
    if (exchange.isSilent) return
    seconds += 1
    const params = { progressToken, progress: seconds, message: `waiting for ${seconds} s` }
    // A client that has gone is told nothing.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }, PROGRESS_MS)
}

interface ToolRequest {
  readonly name: string
  readonly input: unknown
  readonly connector: string
  readonly offered: ServerTool | undefined
  /** Why its server has no such tool. */
  readonly refused: ServiceError | undefined
}

/** The `params` of tools/call. */
export interface ToolParams {
  readonly name: string
  readonly arguments?: unknown
  /** What a client of 2026 says about itself in each request. */
  readonly envelope: unknown
  /** Whether the client has opened the link that it was asked to open. */
  readonly isRetry: boolean
}

/** Undefined when a fault has ended the connection. */
export async function callTool(
  { name, arguments: input = {}, envelope, isRetry }: ToolParams,
  { tools, exchange }: { tools: readonly ServerTool[]; exchange: McpExchange },
  services: ServiceParts,
): Promise<CallToolResult | InputRequiredResult | undefined> {
  const offered = tools.find(({ tool }) => tool.name === name)
  const connector = (offered ?? tools[0])?.connection.key_id ?? ''
  const request = {
    name,
    input,
    connector,
    offered,
    refused: offered ? undefined : unknownTool(name, tools, exchange.caller),
  }
  const words = wordOnWire(exchange)
  const { body, refused } = executeToolBody(request, exchange, words)
  const call = callOf(exchange, { body, refused, mcpClient: clientName(envelope) })
  const link: { url?: string } = {}
  const pipelineContext = createContext(CALL_TOOL, call, services, exchange.entryOfCall())
  // The library does not say which call of a batch a message is.
  if (exchange.calls === 1) warnOfRepeated(pipelineContext.trace, exchange.repeated.map(inToolInput))
  await runRoute(pipelineContext, { ...services, operations: executeToolHandler(services, exchange, request, link) })
  const { wireResponse: response } = call
  if (!response) return undefined
  if (pipelineContext.fault?.ofMcp) {
    exchange.injected = response
    return undefined
  }
  if (response.status === 401 || response.status === 404) exchange.unauthenticated = endedToken(exchange)
  const { requestId, trace } = pipelineContext
  const _meta: Record<string, string> = { [`${META}/request_id`]: requestId }
  if (trace.execution_id) _meta[`${META}/execution_id`] = trace.execution_id
  if (response.status < 400) return { ...toolResult(response, words('data')), _meta }
  const { url } = link
  if (url !== undefined && !isRetry && opensLinks(envelope)) {
    const message = `Connect your account of ${connector} to go on.`
    return inputRequired({ inputRequests: { authorize: inputRequired.elicitUrl({ message, url }) } })
  }
  const texts = [
    response.body.toString(),
    ...(url === undefined ? [] : [`Open this link to connect the account: ${url}`]),
  ]
  return { content: texts.map((text) => ({ type: 'text', text })), isError: true, _meta }
}

/** A member of a message as the request of execute_tool has it. */
function inToolInput(member: RepeatedMember): RepeatedMember {
  const at = member.path.indexOf('arguments')
  return member.path[at - 1] === 'params' ? { ...member, path: ['tool_input', ...member.path.slice(at + 1)] } : member
}

const META = 'dev.toolmock'

/** A call of a tool as the request of execute_tool that it stands for. */
function callOf(
  exchange: McpExchange,
  { body, ...context }: { body: JsonObject; refused: Error | undefined; mcpClient: string | undefined },
): RemoteRequest {
  const { message, baseUrl } = exchange
  const { method, path } = CALL_TOOL
  const silence = (): void => {
    exchange.isSilent = true
  }
  // A further call of a batch has an id of its own.
  const { 'x-request-id': _, ...callHeaders } = message.headers
  const headers = { ...callHeaders, 'content-type': 'application/json' }
  return new RemoteRequest(exchange, {
    ...{ method, path, query: '', pathParameters: {}, headers, rawHeaders: message.rawHeaders, body },
    baseUrl: () => baseUrl,
    call: {
      ...{ protocol: 'mcp', method: 'tools/call', url: targetOf(message), silence, ...context },
      authenticate: (entry) => exchange.caller.authenticate(entry),
      get cancelled() {
        return exchange.isOver ? 'its client has gone' : undefined
      },
    },
  })
}

/** The words of the wire, in which the pipeline takes requests and gives answers (G48). */
function wordOnWire({ environment: { vocabulary } }: McpExchange): (word: string) => string {
  return (word) => vocabulary?.wire(word) ?? word
}

/** The body of execute_tool. One that cannot be made is refused in the pipeline, so that the journal has it. */
function executeToolBody(
  { name, input, connector }: ToolRequest,
  { caller }: McpExchange,
  words: (word: string) => string,
): { body: JsonObject; refused: Error | undefined } {
  const tool = { [words('tool_name')]: name, [words('tool_input')]: input as JsonObject }
  try {
    const account = Object.entries(caller.account(connector)).map(([field, value]) => [words(field), value] as const)
    return { body: { ...tool, ...Object.fromEntries(account) }, refused: undefined }
  } catch (error) {
    if (error instanceof ServiceError) return { body: tool, refused: error }
    throw error
  }
}

/**
 * execute_tool, which refuses what the server does not list, and a result that is not what the tool says of it; it makes a magic
 * link when the account is not `ACTIVE` (G61): in the same commit, and with the same trace.
 */
function executeToolHandler(
  { operations, toolSchemas }: ServiceParts,
  { caller, environment }: McpExchange,
  { refused, offered }: ToolRequest,
  link: { url?: string },
): OperationTable {
  return {
    ...operations,
    execute_tool: async (call) => {
      if (refused) throw refused
      const { replacements } = environment
      try {
        const reply = await operations.execute_tool(call)
        await checkOutput(toolSchemas, offered?.tool, reply, call.trace.execution_id)
        return reply
      } catch (error) {
        const { account } = call.trace
        if (!account || !(error instanceof ServiceError) || error.errorCode !== 'ACCOUNT_NOT_ACTIVE') throw error
        const { body } = await createMagicLink({ ...call, query: {}, body: { id: account.id } })
        if (isJsonObject(body)) link.url = body['link'] as string
        throw error
      } finally {
        // Rows that have replaced those of its begin have not been used.
        if (call.trace.execution_id && environment.replacements === replacements) caller.noteUse?.()
      }
    },
  }
}

/** A client refuses a result that breaks the output schema of its tool, and so does a server. @throws ServiceError TOOL_ERROR */
async function checkOutput(
  schemas: ServiceParts['toolSchemas'],
  tool: Tool | undefined,
  { body }: Reply,
  execution_id = '',
): Promise<void> {
  if (!tool?.output_schema || !isJsonObject(body)) return
  const schema = { name: tool.name, input_schema: tool.output_schema }
  await schemas.prepare(schema)
  const [violation] = schemas.check(schema, body['data'] ?? null, 'data')
  if (!violation) return
  const message = `the result is not what the output_schema of ${tool.name} says: ${violation.field} ${violation.description}`
  throw toolError({ kind: 'failed', status: null, message, arrived: true }, execution_id)
}

function unknownTool(name: string, tools: readonly ServerTool[], { isReadOnly }: McpExchange['caller']): ServiceError {
  const toolNames = tools.map(({ tool }) => tool.name).join(', ') || 'none'
  const forToken = isReadOnly ? ' for a READ_ONLY session token' : ''
  return new ServiceError(
    'TOOL_NOT_FOUND',
    `tool not found: this server has no ${quote(maskText(name))}${forToken}; it has ${toolNames}`,
  )
}

/** Why the token or session of a caller is none any more; undefined where it is valid. */
function endedToken({ caller }: McpExchange): Error | undefined {
  try {
    caller.authenticate()
    return undefined
  } catch (error) {
    return error as Error
  }
}

/** A result has the data of a tool as it is, and as text. A scenario can answer anything else. */
function toolResult(response: EncodedResponse, data: string): CallToolResult {
  const text = response.body.toString()
  const body: unknown = response.headers['Content-Type'] === 'application/json' ? parseJson(text) : undefined
  const structuredContent = isJsonObject(body) ? ownMember(body, data) : undefined
  if (!isJsonObject(structuredContent)) return { content: [{ type: 'text', text }] }
  return { content: [{ type: 'text', text: jsonText(structuredContent) }], structuredContent }
}

/** Whether a client has declared in this request that it can open a link for its user. */
function opensLinks(envelope: unknown): boolean {
  const capabilities: unknown = isJsonObject(envelope) ? envelope[CLIENT_CAPABILITIES_META_KEY] : undefined
  const elicitation = isJsonObject(capabilities) ? capabilities['elicitation'] : undefined
  return isJsonObject(elicitation) && elicitation['url'] !== undefined
}

/** Name and version of a client: one of 2026 sends them in the `_meta` of each request, an older one when it initializes. */
export function clientText(message: unknown): string | undefined {
  const params = isJsonObject(message) ? message['params'] : undefined
  if (!isJsonObject(params)) return undefined
  return mcpClientName(params['clientInfo']) ?? clientName(params['_meta'])
}

function clientName(envelope: unknown): string | undefined {
  return isJsonObject(envelope) ? mcpClientName(envelope[CLIENT_INFO_META_KEY]) : undefined
}

function mcpClientName(info: unknown): string | undefined {
  if (!isJsonObject(info)) return undefined
  return [info['name'], info['version']]
    .filter((part) => typeof part === 'string')
    .join(' ')
    .slice(0, MAX_CLIENT)
}

const MAX_CLIENT = 200
