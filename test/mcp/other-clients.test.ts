import { readFileSync } from 'node:fs'
import { createMCPClient } from '@ai-sdk/mcp'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { describe, expect, it } from 'vitest'
import { type McpMock, withMcp } from './fixture.ts'

/** What a client can do, in the form that every one of them has; a result is its JSON. */
interface OtherClient {
  readonly list: () => Promise<string[]>
  readonly call: (name: string, input: Record<string, unknown>) => Promise<string>
  readonly close: () => Promise<unknown>
}

type Connect = (server: { url: string; headers: Record<string, string> }) => Promise<OtherClient>

async function sdk1(transport: unknown): Promise<OtherClient> {
  const client = new Client({ name: 'sdk-1', version: '1.32.0' })
  await client.connect(transport as Transport)
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, input) => JSON.stringify(await client.callTool({ name, arguments: input }, undefined, LIMIT)),
    close: () => client.close(),
  }
}

const LIMIT = { timeout: 5000 }

const REMOTE = new URL('../node_modules/mcp-remote/', import.meta.url)
const { bin } = JSON.parse(readFileSync(new URL('package.json', REMOTE), 'utf8')) as { bin: { 'mcp-remote': string } }

const CLIENTS: readonly (readonly [name: string, connect: Connect])[] = [
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

describe('an unmodified client', () => {
  it.each(CLIENTS)(
    '%s lists, calls, meets a refusal, a fault and an inactive account',
    async (_, connect) => {
      await withMcp({}, async (mock) => {
        const headers = { Authorization: `Bearer ${mock.token}`, identifier: 'ada@example.com' }
        const client = await connect({ url: `${mock.url}/mcp/v3/connections/mail`, headers })
        expect(await client.list()).toContain('mail_send_message')
        const message = { to: 'bob@example.com', subject: 'Hello' }
        expect(await client.call('mail_send_message', message)).toContain('message_id')
        expect(await refusal(client.call('mail_get_message', { message_id: 'none' }))).toContain('TOOL_ERROR')

        const fault = {
          at: 'service',
          on: { operation: 'execute_tool' },
          when: { nth: 1 },
          do: [{ respond: { status: 503 } }],
        }
        await mock.call('PUT', '/_mock/scenarios/faults', { name: 'faults', rules: [{ name: 'only', ...fault }] })
        await mock.call('POST', '/_mock/scenarios/faults/start')
        expect(await refusal(client.call('mail_send_message', message))).toContain('STORAGE_UNAVAILABLE')

        await expire(mock)
        const inactive = await refusal(client.call('mail_send_message', message))
        expect(inactive).toContain('ACCOUNT_NOT_ACTIVE')
        expect(inactive).toContain('/magic/')
        await client.close()
      })
    },
    60_000,
  )
})
