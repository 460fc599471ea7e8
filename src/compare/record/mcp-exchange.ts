import { isJsonObject, type JsonObject, type JsonValue, objectAt, textAt } from '../../model/domain/json.ts'
import { mcpMessage } from '../conform/service-response.ts'
import { bodyText, headerIn, type Recorded } from './recorded.ts'

/** A request to the virtual MCP server of a connection, and its result. */
interface McpExchange {
  readonly connection: string
  /** Whom the request is for: as a header or the query says, or whoever made its session token. */
  readonly identifier: string | undefined
  readonly method: string
  readonly params: JsonObject
  readonly result: JsonObject
}

/** Undefined for every other exchange, and for one without a result. */
export function mcpExchange(
  exchange: Recorded,
  sent: JsonValue | undefined,
  users: ReadonlyMap<string, string>,
): McpExchange | undefined {
  const { request, response, target } = exchange
  const { pathname, searchParams } = new URL(target, 'http://recorded')
  const [, connection] = /^\/mcp\/v3\/connections\/([\w:-]+)$/.exec(pathname) ?? []
  if (connection === undefined || !isJsonObject(sent)) return undefined
  const answer = mcpMessage(bodyText(response) ?? '')
  if (answer?.['result'] === undefined) return undefined
  const [, token = ''] = /^Bearer (.+)$/i.exec(headerIn(request, 'authorization') ?? '') ?? []
  return {
    connection,
    identifier: headerIn(request, 'identifier') ?? searchParams.get('identifier') ?? users.get(token),
    method: textAt(sent, 'method'),
    params: objectAt(sent, 'params'),
    result: objectAt(answer, 'result'),
  }
}

/** A tool of `tools/list` as the lists of the service have it. */
export function recordedTool(provider: string, tool: JsonObject): JsonObject {
  const { name, title, description, inputSchema, outputSchema } = tool
  const read_only_hint = objectAt(tool, 'annotations')['readOnlyHint']
  const fields = { name, display_name: title, description, input_schema: inputSchema, output_schema: outputSchema }
  const toolFields = Object.entries({ ...fields, annotations: { read_only_hint } }).filter(
    ([, value]) => value !== undefined,
  )
  return { provider, definition: Object.fromEntries(toolFields) as JsonObject }
}
