import type { ControlCall } from '../../model/contract/control-call.ts'
import { callerBaseUrl } from '../../model/domain/request-headers.ts'
import { lazyImport } from '../../model/domain/once.ts'
import { environmentNamed, type ControlReply, type ServerCall } from './call.ts'

const loadServer = lazyImport(() => import('../mcp/control-server.ts'))

/** A message of an MCP client, whose tools are calls of this API: `call` makes them in this process. */
export async function callMcp(
  { services, query, request, body }: ServerCall<'call_mcp'>,
  call: ControlCall,
): Promise<ControlReply> {
  const { name: environment } = environmentNamed(services, query.environment)
  const { respondToMcp } = await loadServer()
  const url = callerBaseUrl(request, services.baseUrl)
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
  const message = new Request(`${url}/_mock/mcp`, { method: 'POST', headers, body: body.text })
  // The whole answer is sent as it is, so that clients which name no media type can read it too.
  message.headers.set('Accept', 'application/json, text/event-stream')
  const response = await respondToMcp(message, { call, url, environment, version: services.version })
  const type = response.headers.get('content-type') ?? 'application/json'
  return { status: response.status, text: await response.text(), type }
}
