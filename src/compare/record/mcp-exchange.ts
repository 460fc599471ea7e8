import { isJsonObject, type JsonObject, type JsonValue, objectAt, parsedJson, textAt } from '../../model/domain/json.ts'
import { bodyText, headerIn, type Recorded } from './recorded.ts'

/** A request to the virtual MCP server of a connection, and its result. */
interface McpExchange {
  readonly connection: string
  /** Whom the request is for, where a header or the query says it. A session token names a user that cannot be read. */
  readonly identifier: string | undefined
  readonly method: string
  readonly params: JsonObject
  readonly result: JsonObject
  /** Whether the answer begins a session. */
  readonly hasSession: boolean
}

/** Undefined for every other exchange, and for one without a result. */
export function mcpExchange(exchange: Recorded, sent: JsonValue | undefined): McpExchange | undefined {
  const { request, response, target } = exchange
  const { pathname, searchParams } = new URL(target, 'http://recorded')
  const [, connection] = /^\/mcp\/v3\/connections\/([\w:-]+)$/.exec(pathname) ?? []
  if (connection === undefined || !isJsonObject(sent)) return undefined
  const text = bodyText(response) ?? ''
  // JSON, or an event of a stream that has it.
  const messages = [text, ...[...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data)].map(parsedJson)
  const answer = messages.find((each) => isJsonObject(each) && isJsonObject(each['result']))
  if (!isJsonObject(answer)) return undefined
  return {
    connection,
    identifier: headerIn(request, 'identifier') ?? searchParams.get('identifier') ?? undefined,
    method: textAt(sent, 'method'),
    params: objectAt(sent, 'params'),
    result: objectAt(answer, 'result'),
    hasSession: headerIn(response, 'mcp-session-id') !== undefined,
  }
}

/** A tool of `tools/list` as the lists of the service have it. */
export function listedTool(provider: string, tool: JsonObject): JsonObject {
  const { name, title, description, inputSchema, outputSchema } = tool
  const read_only_hint = objectAt(tool, 'annotations')['readOnlyHint']
  const fields = { name, display_name: title, description, input_schema: inputSchema, output_schema: outputSchema }
  const toolFields = Object.entries({ ...fields, annotations: { read_only_hint } }).filter(
    ([, value]) => value !== undefined,
  )
  return { provider, definition: Object.fromEntries(toolFields) as JsonObject }
}
