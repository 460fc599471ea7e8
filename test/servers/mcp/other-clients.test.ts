import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createMCPClient } from '@ai-sdk/mcp'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client'
import { expect } from 'vitest'
import { ERAS, it, type McpMock } from './fixture.ts'
import { startScenario } from '../../support/scenario.ts'

/** What a client can do, in the form that every one of them has; a result is its JSON. */
interface OtherClient {
  readonly list: () => Promise<string[]>
  readonly call: (name: string, input: Record<string, unknown>) => Promise<string>
  readonly close: () => Promise<unknown>
}

interface ServerOfClient {
  readonly url: string
  readonly headers: Record<string, string>
}

type Connect = (server: ServerOfClient) => Promise<OtherClient>

async function sdk1(transport: unknown): Promise<OtherClient> {
  const client = new Client({ name: 'sdk-1', version: '1.32.0' })
  await client.connect(transport as Transport)
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, input) => JSON.stringify(await client.callTool({ name, arguments: input }, undefined, LIMIT)),
    close: () => client.close(),
  }
}

const LIMIT = { timeout: 30_000 }

const REMOTE = new URL('../../node_modules/mcp-remote/', import.meta.url)
const { bin } = JSON.parse(readFileSync(new URL('package.json', REMOTE), 'utf8')) as { bin: { 'mcp-remote': string } }

/** Each of its runs is a client of its own. */
function inspector({ url, headers }: ServerOfClient): OtherClient {
  // It looks for its package.json beside the current folder.
  const cwd = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/inspector-cli/build', import.meta.url))
  const given = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`])
  const run = async (...args: string[]): Promise<string> => {
    const words = ['cli.js', '--cli', url, '--transport', 'http', ...given, ...args]
    return (await promisify(execFile)(process.execPath, words, { cwd })).stdout
  }
  return {
    list: async () =>
      (JSON.parse(await run('--method', 'tools/list')) as { tools: { name: string }[] }).tools.map(({ name }) => name),
    call: (name, input) =>
      run(
        '--method',
        'tools/call',
        '--tool-name',
        name,
        '--tool-arg',
        ...Object.entries(input).map((arg) => arg.join('=')),
      ),
    close: () => Promise.resolve(),
  }
}

/** The messages of a revision that no installed client speaks any more. */
async function ofRevision(protocolVersion: string, { url, headers }: ServerOfClient): Promise<OtherClient> {
  const accept = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
  // Revisions before 2025-06-18 have no such header.
  const version = protocolVersion < '2025-06' ? {} : { 'MCP-Protocol-Version': protocolVersion }
  const send = async (message: object, named = {}): Promise<string> => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    return (await fetch(url, { method: 'POST', headers: { ...headers, ...accept, ...named }, body })).text()
  }
  const ask = async (method: string, params: object, named = {}): Promise<Record<string, unknown>> => {
    const [, data = ''] = /^data: (.*)$/m.exec(await send({ id: 1, method, params }, named)) ?? []
    return (JSON.parse(data) as { result: Record<string, unknown> }).result
  }
  const clientInfo = { name: 'by hand', version: '1' }
  const initialized = await ask('initialize', { protocolVersion, capabilities: {}, clientInfo })
  expect(initialized).toMatchObject({ protocolVersion, capabilities: { tools: {} } })
  await send({ method: 'notifications/initialized' }, version)
  return {
    list: async () => ((await ask('tools/list', {}, version))['tools'] as { name: string }[]).map(({ name }) => name),
    call: async (name, input) => JSON.stringify(await ask('tools/call', { name, arguments: input }, version)),
    close: () => Promise.resolve(),
  }
}

const CLIENTS: readonly (readonly [name: string, connect: Connect])[] = [
  ...ERAS.map(([era, options]): [string, Connect] => [
    `SDK 2.4 in ${era}`,
    async ({ url, headers }) => {
      const client = new Client2({ name: 'sdk-2', version: '2.4.0' }, options)
      await client.connect(new Http2(new URL(url), { requestInit: { headers } }))
      return {
        list: async () => (await client.listTools()).tools.map(({ name }) => name),
        call: async (name, input) => JSON.stringify(await client.callTool({ name, arguments: input }, LIMIT)),
        close: () => client.close(),
      }
    },
  ]),
  ["the Inspector's command line", (server) => Promise.resolve(inspector(server))],
  ...['2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'].map((version): [string, Connect] => [
    `a client of ${version}`,
    (server) => ofRevision(version, server),
  ]),
  [
    'SDK 1.32',
    ({ url, headers }) => sdk1(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })),
  ],
  [
    'the adapter of LangChain',
    async ({ url, headers }) => {
      const client = new MultiServerMCPClient({ mcpServers: { mail: { transport: 'http', url, headers } } })
      const tools = await client.getTools()
      return {
        list: () => Promise.resolve(tools.map(({ name }) => name)),
        call: async (name, input) => {
          const tool = tools.find((each) => each.name === name)
          return JSON.stringify(await tool?.invoke(input, LIMIT))
        },
        close: () => client.close(),
      }
    },
  ],
  [
    'the client of the AI SDK',
    async ({ url, headers }) => {
      const client = await createMCPClient({ transport: { type: 'http', url, headers } })
      const tools = await client.tools()
      return {
        list: () => Promise.resolve(Object.keys(tools)),
        call: async (name, input) => {
          const options = { toolCallId: '1', messages: [], abortSignal: AbortSignal.timeout(LIMIT.timeout) }
          return JSON.stringify(await tools[name]?.execute(input, options))
        },
        close: () => client.close(),
      }
    },
  ],
  [
    'mcp-remote',
    ({ url, headers }) => {
      const given = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}:${value}`])
      const args = [
        new URL(bin['mcp-remote'], REMOTE).pathname,
        url,
        '--allow-http',
        '--transport',
        'http-only',
        ...given,
      ]
      return sdk1(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
    },
  ],
]

/** The text of a refusal, whether the client answers it or throws it. */
async function refusal(call: Promise<string>): Promise<string> {
  return call.catch((error: unknown) => String(error))
}

async function expire({ call }: McpMock): Promise<void> {
  const { connected_accounts } = await call<{ connected_accounts: { id: string }[] }>('GET', '/connected_accounts')
  await call('POST', `/_mock/accounts/${connected_accounts[0]?.id ?? ''}/expire`)
}

it.for(CLIENTS)(
  '%s lists, calls, meets a refusal, a fault and an inactive account',
  async ([_, connect], { mock }) => {
    const headers = { Authorization: `Bearer ${mock.token}`, identifier: 'ada@example.com' }
    const client = await connect({ url: `${mock.url}/mcp/v3/connections/mail`, headers })
    expect(await client.list()).toContain('mail_send_message')
    const message = { to: 'bob@example.com', subject: 'Hello' }
    expect(await client.call('mail_send_message', message)).toContain('message_id')
    expect(await refusal(client.call('mail_get_message', { message_id: 'none' }))).toContain('TOOL_ERROR')

    const on = { operation: 'execute_tool' }
    await startScenario(
      mock,
      { on, when: { nth: 1 }, do: [{ respond: { status: 503 } }] },
      { on, when: { nth: 2 }, do: [{ reset_connection: {} }] },
    )
    expect(await refusal(client.call('mail_send_message', message))).toContain('STORAGE_UNAVAILABLE')
    await expect(client.call('mail_send_message', message)).rejects.toThrow()
    expect(await client.call('mail_send_message', message)).toContain('message_id')

    await expire(mock)
    const inactive = await refusal(client.call('mail_send_message', message))
    expect(inactive).toContain('ACCOUNT_NOT_ACTIVE')
    expect(inactive).toContain('/magic/')
    await client.close()
  },
  60_000,
)
