import { type ClientOptions } from '@modelcontextprotocol/client'
import { describe, expect } from 'vitest'
import { ERAS, it, LEGACY, type McpMock, MODERN, textsOf } from './fixture.ts'

const MESSAGE = { name: 'mail_send_message', arguments: { to: 'bob@example.com', subject: 'Hello' } }

/** A client that opens links for its user, and what it was asked. */
const OPENS_LINKS: ClientOptions = { ...MODERN, capabilities: { elicitation: { url: {} } } }

async function expire({ call }: McpMock): Promise<void> {
  const { connected_accounts } = await call<{ connected_accounts: { id: string }[] }>('GET', '/connected_accounts')
  await call('POST', `/_mock/accounts/${connected_accounts[0]?.id ?? ''}/expire`)
}

async function start({ call }: McpMock, rule: object): Promise<void> {
  const rules = [{ name: 'only', at: 'service', on: { operation: 'execute_tool' }, ...rule }]
  await call('PUT', '/_mock/scenarios/faults', { name: 'faults', rules })
  await call('POST', '/_mock/scenarios/faults/start')
}

describe('a call for an account that is not ACTIVE', () => {
  it.for(ERAS)(
    'has the error and a fresh magic link for a client of %s, which then connects',
    async ([_, options], { mock }) => {
      await expire(mock)
      const client = await mock.connect({ options })
      const [error, link] = textsOf(await client.callTool(MESSAGE))
      expect(JSON.parse(error ?? '')).toMatchObject({ code: 9, details: [{ error_code: 'ACCOUNT_NOT_ACTIVE' }] })
      const [url = ''] = /http\S+/.exec(link ?? '') ?? []
      expect(url).toContain(`${mock.url}/magic/`)
      expect((await fetch(`${url}?decision=approve`)).status).toBe(200)
      expect((await client.callTool(MESSAGE)).isError).toBeUndefined()
      const entries = await mock.journal('operation=execute_tool')
      expect(entries.map(({ status, error_code }) => [status, error_code])).toEqual([
        [400, 'ACCOUNT_NOT_ACTIVE'],
        [200, null],
      ])
    },
  )

  it('asks a client of 2026 that opens links to open one, and answers the result after its retry', async ({ mock }) => {
    await expire(mock)
    const client = await mock.connect({ options: OPENS_LINKS })
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      if (!('url' in params)) throw new Error('no link')
      await fetch(`${params.url}?decision=approve`)
      return { action: 'accept' }
    })
    const result = await client.callTool(MESSAGE)
    expect(result.isError).toBeUndefined()
    expect(result.structuredContent).toHaveProperty('message_id')
  })

  it('answers the error result when the user of such a client declines', async ({ mock }) => {
    await expire(mock)
    const client = await mock.connect({ options: OPENS_LINKS })
    client.setRequestHandler('elicitation/create', () => ({ action: 'decline' }))
    const result = await client.callTool(MESSAGE)
    expect(result.isError).toBe(true)
    expect(textsOf(result)).toHaveLength(2)
  })
})

describe('faults of scenarios at a call', () => {
  it.for(ERAS)('respond becomes an error result for a client of %s', async ([_, options], { mock }) => {
    await start(mock, { do: [{ respond: { status: 429 } }] })
    const result = await (await mock.connect({ options })).callTool(MESSAGE)
    expect(result.isError).toBe(true)
    expect(JSON.parse(textsOf(result)[0] ?? '')).toMatchObject({ details: [{ error_code: 'TOOL_ERROR' }] })
    expect((await mock.journal('operation=execute_tool'))[0]).toMatchObject({ status: 429, injected: true })
  })

  it.for(ERAS)('an injected 401 is an error result for a client of %s, not a 401', async ([_, options], { mock }) => {
    await start(mock, { do: [{ respond: { status: 401 } }] })
    expect((await (await mock.connect({ options })).callTool(MESSAGE)).isError).toBe(true)
  })

  it.for(ERAS)('a token that a fault revokes is a 401 for a client of %s', async ([_, options], { mock }) => {
    await start(mock, { do: [{ revoke_bearer_tokens: {} }] })
    const client = await mock.connect({ options })
    await expect(client.callTool(MESSAGE)).rejects.toThrow('UNAUTHENTICATED')
  })

  it.for(
    ERAS.flatMap(([era, options]) =>
      ['reset_connection', 'empty_response', 'malformed_json', 'truncate_body'].map(
        (fault) => [fault, era, options] as const,
      ),
    ),
  )('%s acts on the HTTP response for a client of %s', async ([fault, _, options], { mock }) => {
    await start(mock, { do: [{ [fault]: {} }] })
    const client = await mock.connect({ options })
    await expect(client.callTool(MESSAGE, { timeout: 1500 })).rejects.toThrow()
    await mock.call('POST', '/_mock/requests/wait', { match: { operation: 'execute_tool' }, timeout_ms: 30_000 })
    const [entry] = await mock.journal('operation=execute_tool')
    expect(entry?.rules).toMatchObject([{ rule: 'only' }])
    if (fault === 'reset_connection' || fault === 'empty_response') expect(entry?.status).toBe(0)
    await mock.call('POST', '/_mock/scenarios/faults/stop')
    expect((await client.callTool(MESSAGE)).isError).toBeUndefined()
  })

  it.for(ERAS)('latency tells a client of %s each second that the call goes on', async ([_, options], { mock }) => {
    await start(mock, { do: [{ latency: '2500ms' }] })
    const heard: number[] = []
    const client = await mock.connect({ options })
    const result = await client.callTool(MESSAGE, { onprogress: ({ progress }) => heard.push(progress) })
    expect(result.isError).toBeUndefined()
    expect(heard).toEqual([1, 2])
  })

  it.for(ERAS)(
    'a client of %s that goes away while it waits has status 0 in the journal',
    async ([_, options], { mock }) => {
      await start(mock, { do: [{ latency: '30s' }] })
      const client = await mock.connect({ options })
      // It waits once it hears of progress.
      const call = client.callTool(MESSAGE, { timeout: 60_000, onprogress: () => void client.close() })
      await expect(call).rejects.toThrow()
      const waited = { match: { operation: 'execute_tool' }, timeout_ms: 30_000 }
      await mock.call('POST', '/_mock/requests/wait', waited)
      expect((await mock.journal('operation=execute_tool'))[0]).toMatchObject({ status: 0 })
    },
  )
})

describe('changes of what a server offers', () => {
  it('are told to a client of 2026 that listens', async ({ mock }) => {
    let tell: (count: number) => void = () => undefined
    const changed = new Promise<number>((resolve) => (tell = resolve))
    const options: ClientOptions = {
      ...MODERN,
      listChanged: { tools: { onChanged: (_, tools) => tell(tools?.length ?? 0) } },
    }
    const client = await mock.connect({ options })
    const before = (await client.listTools()).tools.length
    const { connections } = await mock.call<{ connections: { id: string; key_id: string }[] }>('GET', '/connections')
    const mail = connections.find(({ key_id }) => key_id === 'mail')
    await mock.call('POST', `/_mock/connections/${mail?.id ?? ''}/disable`)
    expect(await changed).toBe(before)
  })

  it('end the stream of a client whose connection is deleted', async ({ mock: { call, connect, url } }) => {
    const { provider } = await call<{ provider: { identifier: string } }>('POST', '/custom-providers', {
      display_name: 'Notes',
    })
    const path = `/mcp/v3/connections/${encodeURIComponent(provider.identifier)}`
    const client = await connect({ path, options: MODERN })
    expect((await client.listTools()).tools).toEqual([])
    const { connections } = await call<{ connections: { mcp_server_url: string }[] }>('GET', '/connections')
    expect(connections.map(({ mcp_server_url }) => mcp_server_url)).toContain(url + path)
    const listening = await client.listen({ toolsListChanged: true })
    await call('DELETE', `/custom-providers/${provider.identifier}`)
    await listening.closed
    await expect(client.listTools()).rejects.toThrow(/PATH_NOT_FOUND/)
  })

  it('of a client of 2025 are not told: it lists again', async ({ mock: { connect } }) => {
    expect((await connect({ options: LEGACY })).getServerCapabilities()?.tools?.listChanged).toBeFalsy()
  })
})
