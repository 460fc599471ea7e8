import type { Bench } from '../bench.ts'
import type { Figure, Results } from '../figure.ts'
import { measureRounds, type Sample } from '../rounds.ts'
import { medianOf, quotients, spreadOf } from '../statistics.ts'
import { bearer, type Served, startToolmock } from '../toolmock.ts'
import { type HttpRequest, requestText, send } from '../wire.ts'
import { createAccountRequest } from './create.ts'

const MCP_PATH = '/mcp/v3/connections/mail'
const REST_PATH = '/api/v1/execute_tool'
const TOOL = { name: 'mail_send_message', arguments: { to: 'grace@example.com', subject: 'Lunch', body: 'On Friday?' } }
const IDENTIFIER = 'ada@load.example'

/** What a client of 2026 sends in each request; an older one says it once, when it initializes. */
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Calls of a tool by MCP against the same calls by REST, on one server; and the first call of a server. */
export async function mcpRow({ cli, generator, scale }: Bench): Promise<Results> {
  const start = (): Promise<Served> => startToolmock({ cli, flags: ['--mcp', '--quiet'] })
  await using server = await start()
  const { rest, modern, legacy } = await callsOf(server)
  const target = async (path: string, call: HttpRequest) => {
    const { status, body } = await send(server.url + path, call)
    if (status !== 200 || !body.includes('message_id')) throw new Error(`${path} answers ${status}: ${body}`)
    return { ...server, requests: [requestText(server.url + path, call)], statuses: [200] }
  }
  const targets = {
    rest: await target(REST_PATH, rest),
    modern: await target(MCP_PATH, modern),
    legacy: await target(MCP_PATH, legacy),
  }
  const samples = await measureRounds(generator, targets, { ...scale, connections: 16 })
  const first: number[] = []
  for (let at = 0; at < scale.starts; at++) {
    await using fresh = await start()
    first.push(await firstCall(fresh))
  }
  return {
    figures: [
      { ...costFigure('tools/call of 2026-07-28', samples.modern, samples.rest), bar: 'mcp-2026' },
      { ...costFigure('tools/call of 2025-11-25', samples.legacy, samples.rest), bar: 'mcp-2025' },
      {
        what: 'first tools/call of a server, beyond a warm execute_tool',
        bar: 'mcp-first-call',
        value: spreadOf(first),
        unit: 'ms',
        detail: 'loads what serves MCP',
      },
    ],
    peers: [],
  }
}

/** The same call of a tool by REST, by MCP of 2026, and by MCP of 2025. */
async function callsOf({ url }: Served): Promise<Record<'rest' | 'modern' | 'legacy', HttpRequest>> {
  const created = await send(`${url}/api/v1/connected_accounts`, await createAccountRequest(url, 'ada'))
  if (created.status !== 201) throw new Error(`the account was not created: ${created.body}`)
  const headers = { ...(await bearer(url)), 'Content-Type': 'application/json' }
  const byRest = { connector: 'mail', identifier: IDENTIFIER, tool_name: TOOL.name, tool_input: TOOL.arguments }
  const byMcp = (version: string, more: object, named: Record<string, string>): HttpRequest => ({
    method: 'POST',
    headers: {
      ...headers,
      Accept: 'application/json, text/event-stream',
      identifier: IDENTIFIER,
      'MCP-Protocol-Version': version,
      ...named,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...TOOL, ...more } }),
  })
  return {
    rest: { method: 'POST', headers, body: JSON.stringify(byRest) },
    modern: byMcp('2026-07-28', { _meta: ENVELOPE }, { 'Mcp-Method': 'tools/call', 'Mcp-Name': TOOL.name }),
    legacy: byMcp('2025-11-25', {}, {}),
  }
}

/** Milliseconds that the first call takes by MCP, less those of a warm call by REST. */
async function firstCall(server: Served): Promise<number> {
  const { rest, modern } = await callsOf(server)
  const timed = async (path: string, call: HttpRequest): Promise<number> => {
    const from = performance.now()
    const { status } = await send(server.url + path, call)
    if (status !== 200) throw new Error(`${path} answers ${status}`)
    return performance.now() - from
  }
  const warm: number[] = []
  for (let at = 0; at < 20; at++) warm.push(await timed(REST_PATH, rest))
  return (await timed(MCP_PATH, modern)) - medianOf(warm)
}

function costFigure(what: string, mcp: readonly Sample[], rest: readonly Sample[]): Figure {
  const costs = (samples: readonly Sample[]): number[] => samples.map(({ cpu }) => cpu)
  const text = (samples: readonly Sample[]): string => `${(medianOf(costs(samples)) * 1000).toFixed(0)} µs`
  return {
    what,
    value: spreadOf(quotients(costs(mcp), costs(rest))),
    unit: '× REST',
    detail: `${text(mcp)} of CPU; execute_tool ${text(rest)}`,
  }
}
