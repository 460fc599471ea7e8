import { createMcpHandler, type Implementation, McpServer, type ServerOptions } from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { ControlCall } from '../../model/contract/control-call.ts'
import { shorten } from '../../model/domain/text.ts'
import { CheckedServer } from './checked-server.ts'
import { CONTROL_TOOLS } from './control-tools.ts'

/** A server that the tools of the control server are about. */
export interface ControlledServer {
  readonly call: ControlCall
  /** Where programs reach it. */
  readonly url: string
  readonly environment: string
  readonly version: string
}

/** Answers one HTTP request of an MCP client. Streams that stay open are refused: the tools never change. */
export function respondToMcp(request: Request, controlled: ControlledServer): Promise<Response> {
  // The control API has limited the size of its body.
  const limits = { maxSubscriptions: 0, maxRequestBodySize: Number.MAX_SAFE_INTEGER }
  return createMcpHandler(() => controlServer(controlled), limits).fetch(request)
}

/** Serves an MCP client on stdin and stdout until it goes away. */
export function serveMcp(controlled: ControlledServer, onerror: (error: Error) => void): Promise<void> {
  return new Promise((resolve) => {
    const transport = new StdioServerTransport()
    serveStdio(() => controlServer(controlled), { transport, onerror, maxSubscriptions: 0 })
    const { onclose } = transport
    transport.onclose = () => {
      onclose?.()
      resolve()
    }
  })
}

class ControlServer extends McpServer {
  override readonly server: CheckedServer

  constructor(info: Implementation, options: ServerOptions) {
    // It would register the handlers of its capabilities with a server of its own.
    super(info)
    this.server = new CheckedServer(info, options)
  }
}

function controlServer({ call, url, environment, version }: ControlledServer): McpServer {
  const server = new ControlServer(
    { name: 'toolmock', version },
    { instructions: serverInstructions(environment), capabilities: { tools: { listChanged: false } } },
  )
  for (const { name, description, reads, input, run } of CONTROL_TOOLS) {
    const config = { description, inputSchema: input, annotations: { readOnlyHint: reads } }
    server.registerTool(name, config, async (parameters) => {
      try {
        return toolText(await run(parameters as never, call, url))
      } catch (error) {
        return { ...toolText((error instanceof Error ? error.message : String(error)).split('\n')), isError: true }
      }
    })
  }
  return server
}

/** A client may ask one process for them and use another, so that they name no address. */
function serverInstructions(environment: string): string {
  return [
    `Controls environment ${environment} of toolmock, a local mock of a service for agent tools and connected accounts.`,
    'list_requests names its address, which the program under test calls; GET /_mock/env there has its variables.',
    'When a call of the program fails: list_requests, then explain_request. When it waits for a user: list_links, then complete_link.',
    'To test failures: list_scenarios, account_event, set_clock. At the end: contract_verdict.',
  ].join('\n')
}

/** The longest answer as JSON in bytes, and the longest line in characters. */
const MAX_BYTES = 19_000
const MAX_LINE = 2000

/** As many lines as fit. */
function toolText(all: readonly string[]) {
  let bytes = 0
  const lines = all.map((line) => shorten(line, MAX_LINE))
  const tooMany = lines.findIndex((line) => (bytes += Buffer.byteLength(JSON.stringify(line))) > MAX_BYTES)
  const outputLines =
    tooMany === -1
      ? lines
      : [...lines.slice(0, tooMany), `${lines.length - tooMany} more lines left out; ask for less.`]
  return { content: [{ type: 'text' as const, text: outputLines.join('\n') }] }
}
