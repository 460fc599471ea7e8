import { mcpMessage, ServiceResponse } from '../conform/service-response.ts'
import {
  isJsonObject,
  type JsonObject,
  jsonText,
  listAt,
  objectAt,
  parsedJson,
  textAt,
  textOf,
} from '../../model/domain/json.ts'
import { MCP_SESSION_HEADER } from '../../model/domain/request-headers.ts'
import { valueAt } from '../../model/domain/value-match.ts'
import type { HttpRequest } from '../../platform/http-client.ts'
import { bodyValue } from './value-map.ts'

/** The basis of everything that a virtual MCP server answers. */
export const MCP_BASIS = 'convention:G61'

/** Whether a path is one of a virtual MCP server. */
export function isMcpPath(path: string): boolean {
  return /^\/mcp\/v\d\//.test(path)
}

/** A request to a virtual MCP server as findings name it, such as `mcp_tools_list`; undefined for every other one. */
export function mcpOperation({ method, path, body = '' }: HttpRequest): string | undefined {
  if (!isMcpPath(path)) return undefined
  const called = method === 'POST' ? textOf(valueAt(bodyValue(body), 'method')) : method.toLowerCase()
  return `mcp_${called.replaceAll(/\W+/g, '_') || 'request'}`
}

export function isMcpOperation(operation: string | undefined): boolean {
  return operation?.startsWith('mcp_') === true
}

/** An answer as it is compared: as JSON, with the error of a refused call, and without `_meta`, which is open. */
export function mcpResponse(response: ServiceResponse): ServiceResponse {
  const message = mcpMessage(response.text)
  if (!message) return response
  const { _meta, ...result } = objectAt(message, 'result')
  const refusal = result['isError'] === true ? parsedJson(textOf(valueAt(result, 'content.0.text'))) : undefined
  const compared = { ...result, ...(isJsonObject(refusal) && { refusal }) }
  const body = { ...message, ...(message['result'] !== undefined && { result: compared }) }
  const headers = { ...response.headers, 'content-type': 'application/json' }
  return new ServiceResponse(response.asked, response.status, headers, jsonText(body))
}

/** The settings by which a mock answers in the pages and sessions of a service. */
export function mcpSettingsOf(
  exchanges: readonly { readonly request: HttpRequest; readonly serviceResponse: ServiceResponse }[],
): JsonObject {
  const answers = exchanges.filter(({ request }) => isMcpPath(request.path))
  const settings = answers.map(({ serviceResponse: { text, headers } }) => {
    const result = objectAt(mcpMessage(text) ?? {}, 'result')
    const tools = listAt(result, 'tools')
    const isPage = tools.length > 0 && textAt(result, 'nextCursor') !== ''
    const hasSession = headers[MCP_SESSION_HEADER] !== undefined
    return { ...(isPage && { page_size: tools.length }), ...(hasSession && { sessions: true }) }
  })
  return Object.assign({}, ...settings) as JsonObject
}

const ANY = { $ref: '#/mcp/any' }
/** A value that is compared as a whole. */
const WHOLE = { 'x-whole': true }
/** A text that is compared. */
const WORD = { 'x-extensible-enum': [] }
/** What belongs to a third party, or is for people. */
const OPEN = { additionalProperties: true }

/** What virtual MCP servers answer, beside `spec/openapi.yaml`. */
export const MCP_SCHEMAS: JsonObject = {
  any: { additionalProperties: ANY, items: ANY },
  message: {
    additionalProperties: ANY,
    properties: {
      error: { additionalProperties: ANY, properties: { data: OPEN } },
      result: {
        required: ['nextCursor'],
        additionalProperties: ANY,
        properties: {
          protocolVersion: WORD,
          serverInfo: OPEN,
          structuredContent: OPEN,
          tools: {
            items: { additionalProperties: ANY, properties: { inputSchema: WHOLE, outputSchema: WHOLE } },
          },
        },
      },
    },
  },
}

export const MCP_HEADERS = [MCP_SESSION_HEADER, 'www-authenticate']
