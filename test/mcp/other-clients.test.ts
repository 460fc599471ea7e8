import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, it } from 'vitest'
import { textsOf, withMcp } from './fixture.ts'

it('SDK 1.32 lists, calls, meets a refusal, a fault and an inactive account', async () => {
  await withMcp({}, async ({ url, token, call }) => {
    const client = new Client({ name: 'sdk-1', version: '1.32.0' })
    const headers = { Authorization: `Bearer ${token}`, identifier: 'ada@example.com' }
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp/v3/connections/mail`), {
      requestInit: { headers },
    })
    await client.connect(transport as Parameters<typeof client.connect>[0])
    expect((await client.listTools()).tools.length).toBeGreaterThan(5)
    const message = { name: 'mail_send_message', arguments: { to: 'bob@example.com', subject: 'Hello' } }
    expect((await client.callTool(message)).structuredContent).toHaveProperty('message_id')
    expect((await client.callTool({ ...message, arguments: {} })).isError).toBe(true)

    const rules = [{ name: 'only', at: 'service', on: { operation: 'execute_tool' }, do: [{ malformed_json: {} }] }]
    await call('PUT', '/_mock/scenarios/faults', { name: 'faults', rules })
    await call('POST', '/_mock/scenarios/faults/start')
    await expect(client.callTool(message, undefined, { timeout: 1500 })).rejects.toThrow()
    await call('POST', '/_mock/scenarios/faults/stop')

    const { connected_accounts } = await call<{ connected_accounts: { id: string }[] }>('GET', '/connected_accounts')
    await call('POST', `/_mock/accounts/${connected_accounts[0]?.id ?? ''}/disconnect`)
    expect(textsOf(await client.callTool(message))[1]).toContain('/magic/')
    await client.close()
  })
})
