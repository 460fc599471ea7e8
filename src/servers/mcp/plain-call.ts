import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isJsonContentType,
  isSpecType,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import { isJsonObject, type JsonObject, jsonText } from '../../model/domain/json.ts'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import type { McpExchange } from './mcp-exchange.ts'
import type { ServerTool } from './server-tools.ts'
import { callTool, type McpServices, serverInfo, type ToolParams } from './tool-server.ts'

/** One tools/call whose result is all that its response has: what most requests are. */
export interface PlainCall {
  readonly id: unknown
  readonly isModern: boolean
  readonly params: ToolParams
}

const METHOD = 'tools/call'
const MODERN = '2026-07-28'

/**
 * Undefined for every request that the library might refuse or answer with more than a result: with progress, for
 * instance. The library makes a server, a response and streams for a request, which takes more CPU than the call itself.
 */
export function plainCall({ message: { headers } }: McpExchange, body: unknown): PlainCall | undefined {
  if (!isJsonObject(body) || body['method'] !== METHOD || headers.origin !== undefined) return undefined
  const { id, params } = body
  if (body['jsonrpc'] !== '2.0' || !(typeof id === 'string' || Number.isSafeInteger(id))) return undefined
  if (!isJsonObject(params) || !isJsonContentType(headers['content-type'] ?? null)) return undefined
  const { name, arguments: input, _meta: envelope, ...others } = params
  if (typeof name !== 'string' || !(input === undefined || isJsonObject(input)) || !isEmptyObject(others))
    return undefined
  const [version, method, toolName] = ['mcp-protocol-version', 'mcp-method', 'mcp-name'].map((each) => headers[each])
  const isModern = envelope !== undefined
  const isServed = isModern
    ? version === MODERN && method === METHOD && toolName === name && isWhole(envelope)
    : takesEvents(headers.accept) &&
      (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.some((each) => each === version))
  return isServed ? { id, isModern, params: { name, arguments: input, envelope, isRetry: false } } : undefined
}

/** The answer that the library would give; undefined when a fault has ended the connection. */
export async function respondToPlainCall(
  { id, isModern, params }: PlainCall,
  tools: readonly ServerTool[],
  exchange: McpExchange,
  services: McpServices,
): Promise<EncodedResponse | undefined> {
  const called = await callTool(params, { tools, exchange }, services)
  if (!called) return undefined
  const _meta = { ...called._meta, [SERVER_INFO_META_KEY]: serverInfo(services) }
  const result = isModern ? { resultType: 'complete', ...called, _meta } : called
  const body = jsonText({ result, jsonrpc: '2.0', id })
  return isModern
    ? { status: 200, headers: { 'content-type': 'application/json' }, body }
    : { status: 200, headers: EVENTS, body: `event: message\ndata: ${body}\n\n` }
}

const EVENTS = {
  'cache-control': 'no-cache, no-transform',
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
}

function isEmptyObject(object: JsonObject): boolean {
  return Object.keys(object).length === 0
}

/** Whether it has what the library wants of a client of 2026, and no token for progress. */
function isWhole(envelope: unknown): boolean {
  if (!isJsonObject(envelope) || !Object.keys(envelope).every((key) => ENVELOPE.has(key))) return false
  return (
    envelope[PROTOCOL_VERSION_META_KEY] === MODERN &&
    isSpecType.Implementation(envelope[CLIENT_INFO_META_KEY]) &&
    isSpecType.ClientCapabilities(envelope[CLIENT_CAPABILITIES_META_KEY])
  )
}

const ENVELOPE = new Set<string>([PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY])

function takesEvents(accept = ''): boolean {
  return accept.includes('application/json') && accept.includes('text/event-stream')
}
